"""The web table over its wire: what is told to whom, what is refused, and what survives a restart."""

from __future__ import annotations

import importlib.util
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
if importlib.util.find_spec("httpx2") is None:  # which Starlette's client takes first
    pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from smear_env import make_rules, pieces, state_layout
from smear_env.transcript import record_match
from smear_table.pace import SPEEDS
from smear_table.session import Event, Session
from smear_table.store import Store
from smear_table.web.app import make_app
from smear_table.web.guard import LARGEST_BODY
from tests.web_clients import CARD, client, lay, seated, setup

JSON = {"content-type": "application/json"}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with client(make_app(Store(tmp_path / "tables.sqlite"))) as found:
        yield found


def known_to(session: Session, seat: int) -> set[str]:
    """Cards that a seat has held, and those played."""
    rules = session.rules
    full = pieces(session.env.state(), state_layout(rules))
    own = {
        rules.card_names[card]
        for card in range(len(rules.card_names))
        if full["hand"][seat, card] or full["discarded"][seat, card] or full["taken"][seat, card]
    }
    return own | {action for _, phase, action in session.said if phase == "play"}


@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_wire__of_a_whole_match_holds_no_card_that_the_seat_may_not_know(
    web: TestClient, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With any pause at all, each action of an agent is told.
    monkeypatch.setitem(SPEEDS, "fast", 1e-4)
    deck = set(make_rules(game).card_names)
    # The greedy agents end a match in some ten deals.
    table, (token,) = lay(web, game, agent="expert", options={"target": 11}, speed="fast")
    chance = random.Random(5)
    with seated(web, table, token) as talk:
        while not talk.my_turn()["over"]:
            if talk.view["legal"] and not talk.view["fresh"] and chance.random() < 0.05:
                talk.say(type="undo", number=-1)
            talk.answer(chance)
        heard = list(talk.heard)
        for deal in (0, len(talk.view["sheet"]) - 1):
            talk.say(type="review", deal=deal)
            review = talk.until(lambda message: message["type"] in ("review", "error"))
            assert review["deal"] == deal
            for row in review["decisions"]:
                assert row["adviser_cost"] >= 0
                assert row["solver_cost"] is None or row["solver_cost"] >= 0
                assert row["action"] != row["adviser"] or row["adviser_cost"] == 0
    live = web.app.state.tables.get(table)  # type: ignore[attr-defined]
    assert live.session.over
    assert len(heard) > 100
    # Replay the match beside what was heard: at each number, what the seat knew.
    again = Session(live.session.setup)
    known: dict[int, set[str]] = {0: known_to(again, 0)}
    public: dict[int, set[str]] = {0: set()}
    for number, (seat, action) in enumerate(live.session.actions, start=1):
        again.apply(Event("act", seat, action))
        known[number] = known_to(again, 0)
        last = again.finished[-1] if again.finished else {"actions": []}
        public[number] = {name for _, name in last["actions"][-again.rules.players * again.rules.hand_size :]}
    views = 0
    for text in heard:
        message = json.loads(text)
        if message["type"] == "view":
            views += 1
            result = message.pop("result")
            number = message["number"]
            allowed = known[number] if not message["over"] else set(deck)
            assert set(CARD.findall(json.dumps(message))) & deck <= allowed, number
            assert set(CARD.findall(json.dumps(result))) & deck <= public[number] | set(known[number])
            if result and "redeal" not in result:
                assert set(CARD.findall(json.dumps(result["tricks"]))) & deck <= public[number]
        else:
            assert not set(CARD.findall(text)) & deck
    assert views > 80


def test_view__after_another_deal_of_the_hidden_cards_is_the_same(web: TestClient) -> None:
    """Two seats of one table are told different cards; the tokens and the seed are told to nobody else."""
    table, tokens = lay(web, humans=2)
    seed = str(web.app.state.tables.get(table).session.setup.seed)  # type: ignore[attr-defined]
    with seated(web, table, tokens[0]) as one, seated(web, table, tokens[1]) as two:
        first = one.until(lambda message: message["type"] == "view")
        second = two.until(lambda message: message["type"] == "view")
        assert not set(first["hand"]) & set(second["hand"])
        heard = "".join(one.heard + two.heard)
        assert seed not in heard
        assert not any(token in heard for token in tokens)


def test_two_people__play_at_one_table_from_two_browsers(web: TestClient) -> None:
    table, tokens = lay(web, humans=2)
    chance = random.Random(1)
    with seated(web, table, tokens[0]) as one, seated(web, table, tokens[1]) as two:
        talks = [one, two]
        for talk in talks:
            talk.until(lambda message: message["type"] == "view")
        moves = 0
        while moves < 12:
            session = web.app.state.tables.get(table).session  # type: ignore[attr-defined]
            number = session.number
            for talk in talks:
                while talk.view["number"] < number:
                    talk.hear()
            mover = next((talk for talk in talks if talk.view["legal"] or talk.view["fresh"]), None)
            if mover is None:
                time.sleep(0.005)  # agents are thinking
                continue
            if mover.view["fresh"]:
                break
            action = chance.choice(mover.view["legal"])
            mover.say(type="act", number=mover.view["number"], action=action)
            mover.until(lambda message, n=number: message["type"] == "view" and message["number"] > n)  # type: ignore[misc]
            moves += 1
        assert moves > 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "malformed"),
        ("{", "malformed"),
        ("[]", "malformed"),
        ('{"type": "fly"}', "malformed"),
        ('{"type": "act"}', "malformed"),
        ('{"type": "act", "number": "0", "action": "pass"}', "malformed"),
        ('{"type": "act", "number": true, "action": "pass"}', "malformed"),
        ('{"type": "act", "number": 0, "action": "pass", "seat": 1}', "malformed"),
        ('{"type": "act", "number": 99999, "action": "pass"}', "stale"),
        ('{"type": "act", "number": -1, "action": "pass"}', "stale"),
        ('{"type": "speed", "value": "light"}', "malformed"),
        ('{"type": "review", "deal": 0}', "malformed"),
        ('{"type": "summary", "deal": -1}', "malformed"),
        ('{"type": "join", "token": "x"}', "malformed"),
        ("[" * 4000, "malformed"),
        (json.dumps({"type": "act", "number": 0, "action": "x" * 5000}), "malformed"),
    ],
)
def test_message__that_makes_no_sense_is_refused_and_changes_nothing(
    web: TestClient, text: str, code: str
) -> None:
    table, (token,) = lay(web)
    with seated(web, table, token) as talk:
        before = dict(talk.my_turn())
        talk.socket.send_text(text)
        refused = talk.until(lambda message: message["type"] == "error")
        assert refused["code"] == code
        talk.say(type="speed", value="instant")
        assert talk.until(lambda message: message["type"] == "view") == before


def test_message__sent_twice_acts_once(web: TestClient) -> None:
    table, (token,) = lay(web)
    with seated(web, table, token) as talk:
        view = talk.my_turn()
        action = view["legal"][0]
        for _ in range(2):
            talk.say(type="act", number=view["number"], action=action)
        assert talk.until(lambda message: message["type"] == "error")["code"] in ("stale", "turn")
        session = web.app.state.tables.get(table).session  # type: ignore[attr-defined]
        assert [done for done in session.actions if done[0] == 0] == [(0, action)]


def test_token__of_another_table_or_of_nobody_opens_nothing(web: TestClient) -> None:
    (one, _), (_, (other,)) = lay(web), lay(web)
    for table, token in ((one, other), (one, ""), (one, "x" * 64), (one, "\ud800"), ("nowhere", other)):
        with seated(web, table, token) as talk:
            assert talk.hear()["code"] == "forbidden"
            with pytest.raises(WebSocketDisconnect):
                talk.hear()
        # In ASCII: the last one has half of a surrogate pair.
        body = json.dumps({"table": table, "token": token})
        answer = web.post("/api/transcript", content=body, headers=JSON)
        assert answer.status_code == 403
        assert "seed" not in answer.text


def test_join__must_come_first(web: TestClient) -> None:
    table, _ = lay(web)
    with web.websocket_connect(f"ws://127.0.0.1/api/tables/{table}") as socket:
        socket.send_text('{"type": "act", "number": 0, "action": "pass"}')
        assert json.loads(socket.receive_text())["code"] == "malformed"
        with pytest.raises(WebSocketDisconnect):
            socket.receive_text()


def test_another_seats_turn__cannot_be_taken(web: TestClient) -> None:
    table, tokens = lay(web, humans=4)
    with seated(web, table, tokens[0]) as talk:
        view = talk.until(lambda message: message["type"] == "view")
        wrong = (view["turn"] + 1) % 4
    with seated(web, table, tokens[wrong]) as talk:
        talk.until(lambda message: message["type"] == "view")
        talk.say(type="act", number=0, action="pass")
        assert talk.until(lambda message: message["type"] == "error")["code"] == "turn"
    assert web.app.state.tables.get(table).session.number == 0  # type: ignore[attr-defined]


def test_foreign_page__cannot_drive_the_server(web: TestClient) -> None:
    table, (token,) = lay(web)
    foreign = {"origin": "http://evil.example"}
    assert web.post("/api/tables", json=setup(), headers=foreign).status_code == 403
    assert web.post("/api/tables", json=setup(), headers={"origin": "null"}).status_code == 403
    assert web.post("/api/tables", json=setup(), headers={"origin": "http://127.0.0.1:99"}).status_code == 403
    assert (
        web.get(
            "/api/catalogue", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
        ).status_code
        == 403
    )
    with pytest.raises(WebSocketDisconnect), seated(web, table, token, **foreign) as talk:
        talk.hear()
    # A name of theirs that is made to resolve to this machine.
    assert web.get("/", headers={"host": "evil.example"}).status_code == 403
    # Half of a bracket is no address.
    assert web.get("/", headers={"host": "[::1"}).status_code == 403
    assert web.post("/api/tables", json=setup(), headers={"origin": "http://[::1"}).status_code == 403
    assert web.post("/api/tables", content="x=1", headers={"content-type": "text/plain"}).status_code == 400
    with seated(web, table, token, origin="http://127.0.0.1") as talk:
        assert talk.hear()["type"] == "facts"


def test_answers__allow_no_foreign_resource_and_no_framing(web: TestClient) -> None:
    for path in ("/", "/static/main.js", "/table/x", "/replay", "/static/none.js"):
        policy = web.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize(
    "change",
    [
        {"game": "mini"},
        {"game": ["four_point"]},
        {"game": "../four_point"},
        {"options": {"players": 6}},
        {"options": {"stock_to_bidder": True}},
        {"options": {"stock_to_bidder": 9}},
        {"options": []},
        {"options": {"\ud800": 1}},
        {"seats": []},
        {"seats": [{"player": "human", "name": "A"}] * 5},
        {"seats": [{"player": "greedy", "name": "A"}] * 4},
        {"seats": [{"player": "clairvoyant", "name": "A"}, *[{"player": "human", "name": "A"}] * 3]},
        {"seats": [{"player": "/etc/passwd", "name": "A"}, *[{"player": "human", "name": "A"}] * 3]},
        {"seats": [{"player": ["human"], "name": "A"}, *[{"player": "human", "name": "A"}] * 3]},
        {"seats": [{"player": "human", "name": 7}, *[{"player": "human", "name": "A"}] * 3]},
        {"speed": "light"},
        {"practice": 1},
        {"seed": 1},
    ],
)
def test_setup__that_makes_no_sense_is_refused(web: TestClient, change: dict[str, Any]) -> None:
    answer = web.post("/api/tables", content=json.dumps({**setup(), **change}), headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["code"] == "malformed"


def test_names__come_back_as_text_and_nothing_else(web: TestClient) -> None:
    name = '<img src=x onerror="alert(1)">'
    seats = setup()["seats"]
    seats[0]["name"] = name
    table, (token,) = lay(web, seats=seats)
    with seated(web, table, token) as talk:
        assert talk.hear()["seats"][0]["name"] == name
    scripts = "".join(path.read_text() for path in Path("smear_table/web/static").glob("*.js"))
    for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert danger not in scripts


def test_paths__lead_out_of_the_static_folder_nowhere(web: TestClient) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert web.get(path).status_code == 404


def test_replay__of_a_recorded_match_has_a_frame_for_each_action(web: TestClient) -> None:
    match = record_match("schmier", 3, agents="expert", max_deals=3)
    other = record_match("four_point", 3, agents="expert", max_deals=2)
    content = f"{json.dumps(match)}\n{json.dumps(other)}\n"
    for index, one in enumerate((match, other)):
        for deal, data in enumerate(one["deals"]):
            answer = web.post(f"/api/replay?match={index}&deal={deal}", content=content)
            assert answer.status_code == 200
            shown = answer.json()
            assert (shown["matches"], shown["deals"]) == (2, len(one["deals"]))
            nexts = [frame["next"] for frame in shown["frames"] if frame["next"]]
            assert nexts == data["actions"]
            hands = [sorted(hand) for hand in shown["frames"][0]["hands"]]
            assert hands == [sorted(hand.split()) for hand in data["hands"]]
            if "scores" in data:
                assert shown["frames"][-1]["scores"] == data["scores"]


def test_upload__that_is_no_sound_transcript_is_refused(web: TestClient) -> None:
    match = record_match("four_point", 3, agents="expert", max_deals=1)
    wrong = json.loads(json.dumps(match))
    wrong["deals"][0]["actions"][0][1] = "<script>"
    for content in (
        "",
        "{",
        "[]",
        "null",
        "{}",
        "[" * 100_000,
        json.dumps(wrong),
        "\x00",
        '{"format": "../../x"}',
    ):
        answer = web.post("/api/replay", content=content)
        assert answer.status_code == 400, content[:20]
        assert answer.json()["code"] == "malformed"
    for query in ("deal=1", "match=1", "deal=-1", "deal=x", "match=9999999", "deal=%2e%2e"):
        assert web.post(f"/api/replay?{query}", content=json.dumps(match)).status_code == 400
    assert web.post("/api/replay", content=b" " * (10 * 2**20)).status_code == 413
    pieces_of_it = (b" " * 2**20 for _ in range(10))
    assert web.post("/api/replay", content=pieces_of_it).status_code == 413
    assert LARGEST_BODY < 10 * 2**20


def test_transcript__of_a_table_is_one_that_can_be_replayed(web: TestClient) -> None:
    table, (token,) = lay(web)
    chance = random.Random(2)
    early = web.post("/api/transcript", json={"table": table, "token": token})
    assert early.status_code == 400
    with seated(web, table, token) as talk:
        while len(talk.my_turn()["sheet"]) < 2:
            talk.answer(chance)
    answer = web.post("/api/transcript", json={"table": table, "token": token})
    assert answer.headers["content-disposition"].startswith("attachment")
    shown = web.post("/api/replay", content=answer.text).json()
    assert shown["deals"] == 2


def test_tables__survive_a_restart_and_a_lost_connection(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    chance = random.Random(4)
    with client(make_app(Store(path))) as web:
        table, (token,) = lay(web)
        with seated(web, table, token) as talk:
            for _ in range(12):
                talk.my_turn()
                talk.answer(chance)
            before = talk.my_turn()
        with seated(web, table, token) as talk:
            # The same seat again: told where it stands.
            assert talk.my_turn() == before
    with client(make_app(Store(path))) as web, seated(web, table, token) as talk:
        after = talk.my_turn()
        if after != before:
            assert before["fresh"]  # who had looked at a result is asked again
        assert {**after, "waiting": []} == {**before, "waiting": []}


def test_write__that_fails_is_told_to_nobody(web: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    table, (token,) = lay(web)
    with seated(web, table, token) as talk:
        view = talk.my_turn()
        live = web.app.state.tables.get(table)  # type: ignore[attr-defined]

        def fail(*_: Any) -> None:
            raise OSError("disk full")

        monkeypatch.setattr(live._store, "append", fail)
        with pytest.raises(OSError, match="disk full"):
            live.act(0, view["legal"][0], view["number"])
        assert live.session.number == view["number"]


def test_hint__weighs_every_legal_action(web: TestClient) -> None:
    table, (token,) = lay(web, "setback")
    with seated(web, table, token) as talk:
        view = talk.my_turn()
        talk.say(type="hint", number=view["number"])
        hint = talk.until(lambda message: message["type"] == "hint")
        assert {row["action"] for row in hint["rows"]} == set(view["legal"])
        assert sum(row["probability"] for row in hint["rows"]) == pytest.approx(1, abs=1e-3)
        made = {row["action"]: row["make"] for row in hint["rows"]}
        assert made.get("pass") is None
        assert made["4"] is None or 0 <= made["4"] <= 1
        talk.say(type="hint", number=view["number"] + 1)
        assert talk.until(lambda message: message["type"] == "error")["code"] == "turn"


def test_hint__is_for_practice_where_several_people_play(web: TestClient) -> None:
    table, tokens = lay(web, "setback", humans=4, practice=False)
    turn = web.app.state.tables.get(table).session.turn  # type: ignore[attr-defined]
    with seated(web, table, tokens[turn]) as talk:
        view = talk.my_turn()
        assert not view["hints"]
        talk.say(type="hint", number=view["number"])
        assert talk.until(lambda message: message["type"] == "error")["code"] == "forbidden"
