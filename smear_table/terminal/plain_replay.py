"""A transcript in plain mode, action by action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smear_table.order import card_text
from smear_table.replay import read_matches, replay_deal
from smear_table.session import RefusedError
from smear_table.terminal.talk import Talk
from smear_table.words import TEAMS, action_text

HELP = (
    "Enter or next: one action on. back: one back. go N: to action N. all: to the deal's end.",
    "hands: every hand. deal N, match N: another one. quit: leave the replay.",
)


def replay(talk: Talk, content: bytes) -> None:
    """Step through the matches of a file; RefusedError where it is none."""
    matches = read_matches(content)
    match, deal, step = 0, 0, 0
    data = replay_deal(matches[0], 0)
    _heading(talk, data, match, len(matches))
    while True:
        words = [word.lower() for word in talk.hear()] or ["next"]
        number = int(words[1]) if len(words) > 1 and words[1].isdecimal() else None
        last = len(data["frames"])
        if words[0] in ("next", "n"):
            step = _show(talk, data, step, step + 1)
        elif words[0] == "all":
            step = _show(talk, data, step, last)
        elif words[0] in ("back", "b"):
            step = _jump(talk, data, step - 1)
        elif words[0] == "go" and number is not None:
            step = _jump(talk, data, number)
        elif words[0] == "hands":
            talk.lines(_hands(data, step))
        elif words[0] in ("deal", "match") and number is not None:
            wanted = (match, number - 1) if words[0] == "deal" else (number - 1, 0)
            try:
                if not 0 <= wanted[0] < len(matches):
                    raise RefusedError(f"The file has matches 1 to {len(matches)}.", "malformed")
                data = replay_deal(matches[wanted[0]], wanted[1])
            except RefusedError as problem:
                talk.say(str(problem))
                continue
            (match, deal), step = wanted, 0
            _heading(talk, data, match, len(matches))
        elif words[0] in ("quit", "q"):
            talk.say(f"Left the replay at deal {deal + 1}.")
            return
        else:
            talk.lines(HELP)


def _heading(talk: Talk, data: Mapping[str, Any], match: int, matches: int) -> None:
    where = f"match {match + 1} of {matches}, " if matches > 1 else ""
    talk.say(
        f"Replay of {data['title']}: {where}deal {data['deal'] + 1} of {data['deals']}, {len(data['frames'])} actions."
    )
    talk.lines(_hands(data, 0))
    talk.say("Enter steps on; back, go N, all, hands, deal N, match N, quit.")


def _jump(talk: Talk, data: Mapping[str, Any], step: int) -> int:
    """Go to a step, saying the action before it."""
    step = max(0, min(len(data["frames"]), step))
    return _show(talk, data, step - 1, step) if step else _at_start(talk)


def _at_start(talk: Talk) -> int:
    talk.say("At the beginning of the deal.")
    return 0


def _show(talk: Talk, data: Mapping[str, Any], step: int, until: int) -> int:
    """Say the actions from one step to another; where that leads."""
    frames = data["frames"]
    for index in range(step, min(until, len(frames))):
        frame = frames[index]
        if frame["next"] is not None:
            seat, action = frame["next"]
            talk.say(f"{index + 1}. Seat {seat}: {action_text(action)}.")
        following = frames[index + 1] if index + 1 < len(frames) else None
        if following and sum(following["tricks"]) > sum(frame["tricks"]):
            talk.say(f"Seat {following['last']['winner']} takes the trick.")
    if until >= len(frames):
        talk.say(_ending(data["result"]))
    return min(until, len(frames))


def _ending(result: Mapping[str, Any]) -> str:
    if "redeal" in result:
        return "Everybody passed."
    if "scores" not in result:
        return "The transcript ends here."
    scores = ", ".join(f"{TEAMS[team]} {score}" for team, score in enumerate(result["scores"]))
    made = "made" if result["made"] else "failed"
    return f"Seat {result['bidder']} {made} {result['bid']}. Scores: {scores}."


def _hands(data: Mapping[str, Any], step: int) -> list[str]:
    if not data["frames"]:
        return ["This deal has no actions."]
    hands = data["frames"][min(step, len(data["frames"]) - 1)]["hands"]
    return [
        f"Seat {seat}, team {TEAMS[seat % data['teams']]}: {', '.join(map(card_text, hand)) or 'no cards'}."
        for seat, hand in enumerate(hands)
    ]
