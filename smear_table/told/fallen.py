"""Cards that have fallen, told in order: who played which, who took the tricks, and what everybody has seen by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smear_env import Rules
from smear_env.engine.tables import compile_tables
from smear_env.history import SeenTrick, strengths, trick_winner
from smear_table.order import SUIT_NAMES, card_text


@dataclass(frozen=True)
class Fallen:
    """The play so far; seats and teams are counted from the viewer."""

    leader: int | None
    """Who led the trick on the table, or is to lead; None before play."""
    tricks: tuple[SeenTrick, ...]
    trick: tuple[tuple[int, str], ...]
    voids: tuple[str, ...]
    """[players] suits of which a seat has shown that it holds none."""
    card_points: tuple[int, ...]
    """[teams]"""
    captured: tuple[tuple[str, ...], ...]
    """[teams] scoring trumps taken, by the name of their point."""

    @property
    def every_card(self) -> tuple[tuple[int, str], ...]:
        """(seat, card) of all that was played."""
        return (*(play for trick in self.tricks for play in trick.cards), *self.trick)


def fallen(
    rules: Rules, trump: str | None, bidder: int | None, played: Sequence[str], trick: Sequence[str]
) -> Fallen:
    """The play of finished tricks and those on the table, led by the bidder's card; no bidder: before play.

    Raises ValueError for tricks that are not whole, too many, or hold a card that its seat can no longer have had.
    """
    players, teams = rules.players, rules.teams
    if len(played) % players and trick:
        raise ValueError(
            f"played: {len(played)} cards are no whole tricks of {players}: those on the table belong in trick"
        )
    cards = (*played, *trick)
    whole = len(cards) // players
    if whole >= rules.hand_size:
        raise ValueError(f"played: {len(cards)} cards are the whole deal, there is nothing to decide")
    leader = bidder
    tricks: list[SeenTrick] = []
    for number in range(whole):
        assert leader is not None, "cards are played after the auction"
        assert trump is not None, "the first lead shows trump"
        plays = _plays(leader, cards[number * players : (number + 1) * players], players)
        ids = [(seat, rules.card_names.index(card)) for seat, card in plays]
        winner = trick_winner(rules, rules.suits.index(trump), ids)
        tricks.append(SeenTrick(leader, plays, winner))
        leader = winner
    table = () if leader is None else _plays(leader, cards[whole * players :], players)
    t = compile_tables(rules)[0]
    points, captured = [0] * teams, [[] for _ in range(teams)]  # type: tuple[list[int], list[list[str]]]
    row = -1 if trump is None else rules.suits.index(trump)
    scoring = [int(t.high_card[row]), int(t.low_card[row]), *map(int, t.capture[row])]
    names = dict(zip(scoring, rules.point_names[:-1], strict=False))
    for one in tricks:
        team = one.winner % teams
        taken = [rules.card_names.index(card) for _, card in one.cards]
        points[team] += sum(int(t.card_points[card]) for card in taken)
        captured[team] += [names[card] for card in taken if card in names]
    order = rules.point_names
    return Fallen(
        leader,
        tuple(tricks),
        table,
        _voids(rules, row, [trick.cards for trick in tricks] + [table]),
        tuple(points),
        tuple(tuple(sorted(one, key=order.index)) for one in captured),
    )


def _plays(leader: int, cards: Sequence[str], players: int) -> tuple[tuple[int, str], ...]:
    return tuple(((leader + place) % players, card) for place, card in enumerate(cards))


def _voids(rules: Rules, trump: int, tricks: Sequence[Sequence[tuple[int, str]]]) -> tuple[str, ...]:
    """[players] suits that a seat has not followed; with `may_trump` a trump on another suit shows nothing."""
    order = strengths(rules, trump)
    shown: list[set[int]] = [set() for _ in range(rules.players)]
    for cards in tricks:
        suits = [order[rules.card_names.index(card)][0] for _, card in cards]
        for (seat, card), suit in zip(cards, suits, strict=True):
            if suit in shown[seat]:
                name = SUIT_NAMES[rules.suits[suit]]
                raise ValueError(
                    f"played: {card_text(card)} comes from a seat that showed before that it held no {name}: "
                    "check the order of cards and tricks"
                )
            if suit != suits[0] and not (rules.may_trump and suit == trump):
                shown[seat].add(suits[0])
    return tuple("".join(rules.suits[suit] for suit in sorted(one)) for one in shown)
