"""The web table's core: a match as events, what a seat may see of it, and why a card is not allowed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from smear_env import PRESETS, make_rules, pieces, state_layout
from smear_env.history import strengths
from smear_env.transcript import check_match
from smear_table.order import held, scoring, suit_of, trumps
from smear_table.players import untrained
from smear_table.session import Event, RefusedError, Seat, Session, Setup, clean_name
from smear_table.view import deal_summary, seat_view, table_facts

GAMES = [name for name in PRESETS if name != "mini"]


def new_session(
    game: str, *, seed: int = 1, practice: bool = True, humans: int = 1, **options: Any
) -> Session:
    players = make_rules(game, **options).players
    seats = tuple(Seat("human" if i < humans else "greedy", f"P{i}") for i in range(players))
    return Session(Setup(game, options, seats, seed, practice))


def advance(session: Session, chance: random.Random) -> Event:
    assert session.turn is not None
    legal = session.legal()
    # Uniform bids fail so often that matches never end: pass most of the time.
    action = "pass" if "pass" in legal and chance.random() < 0.7 else chance.choice(legal)
    return session.act(session.turn, action, session.number)


def played(game: str, deals: int, **options: Any) -> Iterator[Session]:
    session, chance = new_session(game, **options), random.Random(7)
    while len(session.finished) < deals and not session.over:
        yield session
        advance(session, chance)
    yield session


def cards_in(message: Any, deck: set[str]) -> set[str]:
    return set(re.findall(r"\b[0-9TJQKABL][CDHSKJ]\b", json.dumps(message))) & deck


@pytest.mark.parametrize("game", GAMES)
def test_view__names_no_card_that_the_seat_may_not_know(game: str) -> None:
    rules = make_rules(game)
    deck = set(rules.card_names)
    for session in played(game, 6):
        full = pieces(session.env.state(), state_layout(rules))
        public = {action for _, phase, action in session.said if phase == "play"}
        if session.said and session.said[-1][1] == "play":
            assert public
        for seat in range(rules.players):
            view = seat_view(session, seat)
            known = public | {
                rules.card_names[card]
                for card in range(len(deck))
                if full["hand"][seat, card] or full["discarded"][seat, card] or full["taken"][seat, card]
            }
            result = view.pop("result")
            assert cards_in(view, deck) <= known or session.over
            if result and "redeal" not in result:
                before = {action for _, action in session.finished[-1]["actions"]}
                assert cards_in(result, deck) <= before
        assert "seed" not in json.dumps([view, table_facts(session)])


@pytest.mark.parametrize("game", GAMES)
def test_view__does_not_depend_on_cards_that_the_seat_cannot_see(game: str) -> None:
    rules = make_rules(game)
    chance = random.Random(9)
    for dealer in range(rules.players):
        views = []
        for _ in range(2):
            session = new_session(game)
            own = rules.card_names[: rules.hand_size]
            rest = [card for card in rules.card_names if card not in own]
            chance.shuffle(rest)
            size = rules.hand_size
            hands = [own, *(rest[size * seat : size * (seat + 1)] for seat in range(rules.players - 1))]
            stock = rest[size * (rules.players - 1) :]
            deal = {"dealer": dealer, "hands": [" ".join(hand) for hand in hands], "stock": " ".join(stock)}
            session.env.reset(seed=1, options={"deal": deal})
            seen = [seat_view(session, 0)]
            while session.turn is not None and "pass" in session.legal() and not session.fresh:
                session.act(session.turn, "pass", session.number)
                # A deal thrown in is open, and the next one is dealt anew.
                if not session.fresh:
                    seen.append(seat_view(session, 0))
            views.append(seen)
        assert views[0] == views[1]


@pytest.mark.parametrize("game", GAMES)
def test_view__says_what_the_engine_says(game: str) -> None:
    for session in played(game, 4):
        if session.over:
            break
        for seat in range(session.rules.players):
            view, table = seat_view(session, seat), session.env.table_view(seat)
            assert view["counts"] == [hand if isinstance(hand, int) else len(hand) for hand in table.hands]
            assert sorted(view["hand"]) == sorted(table.hands[seat])  # type: ignore[arg-type]
            assert (view["dealer"], view["turn"], view["phase"]) == (table.dealer, table.turn, table.phase)
            assert [tuple(bid) for bid in view["bids"]] == list(table.bids)
            assert (view["bidder"], view["bid"], view["trump"]) == (table.bidder, table.bid, table.trump)
            assert [tuple(play) for play in view["trick"]] == list(table.trick)
            if view["last"] is not None:
                assert [tuple(play) for play in view["last"]["cards"]] == list(table.last_trick)
                assert view["last"]["winner"] == table.last_winner
            assert view["tricks"] == list(table.tricks_won)
            assert view["card_points"] == list(table.card_points)
            assert view["scores"] == list(table.scores)
            assert view["deal"] == table.deal
            if view["phase"] in ("bid", "play"):
                assert view["stock"] == table.stock


@pytest.mark.parametrize("game", GAMES)
def test_view__legal_cards_and_reasons_cover_the_hand_of_the_seat_to_act(game: str) -> None:
    for session in played(game, 6):
        for seat in range(session.rules.players):
            view = seat_view(session, seat)
            if seat != session.turn:
                assert view["legal"] == []
                assert view["refusals"] == {}
                continue
            assert view["legal"] == session.legal()
            if view["phase"] in ("play", "discard", "exchange"):
                illegal = set(view["hand"]) - set(view["legal"])
                assert set(view["refusals"]) == illegal
                assert all(text.endswith(".") for text in view["refusals"].values())


@pytest.mark.parametrize(("options"), [{}, {"high_low": "in_play"}, {"low_to": "winner"}])
def test_tally__ends_as_the_deal_scores(options: dict[str, Any]) -> None:
    compared = 0
    for game in ("four_point", "schmier", "six_point"):
        tally: dict[str, Any] = {}
        before: Session | None = None
        for session in played(game, 12, **options):
            if session.fresh and tally:
                points = session.finished[-1].get("points")
                if points is not None:
                    # The last trick is not finished in the view before; what is taken already stays taken.
                    for name, team in tally.items():
                        if name not in ("game", "high", "low") and team is not None:
                            assert points[name] == team
                            compared += 1
            tally = {} if session.over else seat_view(session, 0)["tally"]
            before = session
        assert before is not None
    assert compared > 30


def test_summary__of_a_deal_has_every_trick_and_its_winner() -> None:
    for session in played("schmier", 5):
        if session.fresh and "redeal" not in session.finished[-1]:
            summary = deal_summary(session, -1)
            assert len(summary["tricks"]) == 6
            assert sorted(card for trick in summary["tricks"] for _, card in trick["cards"]) == sorted(
                action for _, action in session.finished[-1]["actions"][-36:]
            )
            assert summary["tricks"][0]["cards"][0][0] == summary["bidder"]
            for trick, following in zip(summary["tricks"], summary["tricks"][1:], strict=False):
                assert following["cards"][0][0] == trick["winner"]


@pytest.mark.parametrize("game", GAMES)
def test_session__comes_back_from_its_setup_and_events(game: str) -> None:
    session, chance, events = new_session(game), random.Random(3), []
    for step in range(150):
        if session.over:
            break
        if step % 40 == 39 and session.undo_to(0) is not None:
            events.append(session.undo(0, session.number))
        else:
            events.append(advance(session, chance))
    again = Session(Setup.from_json(json.loads(json.dumps(session.setup.as_json()))), events)
    assert again.number == session.number == len(events)
    for seat in range(session.rules.players):
        assert seat_view(again, seat) == seat_view(session, seat)


def test_transcript__of_a_played_match_is_sound() -> None:
    for game in ("four_point", "schmier"):
        *_, session = played(game, 5)
        match = session.transcript()
        assert match is not None
        assert len(match["deals"]) == 5
        check_match(json.loads(json.dumps(match)))


def test_action__of_another_number_seat_or_kind_is_refused_and_changes_nothing() -> None:
    session = new_session("four_point")
    turn, number = session.turn, session.number
    assert turn is not None
    before = [seat_view(session, seat) for seat in range(4)]
    for seat, action, told, code in (
        (turn, "pass", number + 1, "stale"),
        (turn, "pass", number - 1, "stale"),
        ((turn + 1) % 4, "pass", number, "turn"),
        (turn, "AS", number, "illegal"),
        (turn, "<b>", number, "illegal"),
    ):
        with pytest.raises(RefusedError) as refused:
            session.act(seat, action, told)
        assert refused.value.code == code
    assert [seat_view(session, seat) for seat in range(4)] == before
    session.act(turn, "pass", number)
    with pytest.raises(RefusedError, match="moved on"):
        session.act(turn, "pass", number)


def test_undo__goes_back_to_the_own_last_decision() -> None:
    session, chance = new_session("four_point"), random.Random(2)
    while not (session.turn == 0 and len(session.finished) == 1 and session.said):
        advance(session, chance)
    before = seat_view(session, 0)
    advance(session, chance)
    while session.turn != 0:
        advance(session, chance)
    session.undo(0, session.number)
    after = seat_view(session, 0)
    assert {**after, "number": 0} == {**before, "number": 0}


def test_undo__is_for_practice_and_one_person() -> None:
    for session in (new_session("four_point", practice=False), new_session("four_point", humans=2)):
        while session.turn != 0:
            advance(session, random.Random(1))
        advance(session, random.Random(1))
        with pytest.raises(RefusedError, match="nothing to take back"):
            session.undo(0, session.number)


@pytest.mark.parametrize("game", GAMES)
def test_order__of_trumps_and_suits_is_the_engines(game: str) -> None:
    rules = make_rules(game)
    for index, trump in enumerate(rules.suits):
        by_engine = strengths(rules, index)
        of_trump = [c for c, (suit, _) in enumerate(by_engine) if suit == index]
        ranked = sorted(of_trump, key=lambda c: -by_engine[c][1])
        ours = [rules.card_names.index(card) for card in trumps(rules, trump)]
        assert set(ours) == set(ranked)
        plain = [c for c in ours if rules.card_names[c] not in rules.joker_names]
        assert plain == [c for c in ranked if c in plain]
        for card, name in enumerate(rules.card_names):
            assert suit_of(rules, name, trump) == rules.suits[by_engine[card][0]]
        assert set(scoring(rules, trump)) <= set(trumps(rules, trump))


def test_hand__is_held_with_trumps_first_and_bowers_among_them() -> None:
    hand = ("2C", "JC", "AD", "JS", "9S", "JK")
    assert held(make_rules("schmier"), hand, "S") == ["JS", "JC", "9S", "JK", "2C", "AD"]
    assert held(make_rules("schmier"), hand, None) == ["JS", "9S", "JC", "2C", "AD", "JK"]


def test_untrained__names_options_that_a_policy_has_not_seen() -> None:
    assert untrained("four_point", make_rules("four_point", target=21)) == ["target=21"]
    assert untrained("four_point", make_rules("four_point")) == []
    assert untrained("expert", make_rules("setback")) == []


def test_name__is_cleaned_of_what_cannot_be_read() -> None:
    assert clean_name(" A\n\u202eda ", "Seat 1") == "Ada"
    assert clean_name("\t", "Seat 1") == "Seat 1"
    assert clean_name("<script>", "x") == "<script>"
    with pytest.raises(RefusedError):
        clean_name(3, "x")
