"""Colours of the full screen, dark and light. Nothing is told by colour alone."""

from __future__ import annotations

from textual.theme import Theme

_TEAMS_DARK = ("#7cc4ff", "#ffc46b", "#d7a6ff", "#8fe3a8", "#ff9bb0", "#d6d98a")
_TEAMS_LIGHT = ("#0b5aa5", "#8a4b00", "#6b2fa0", "#17693a", "#a51e45", "#5f6200")

DARK = Theme(
    name="smear-dark",
    primary="#4c9f70",
    accent="#ffd166",
    foreground="#e8efe9",
    background="#10231a",
    surface="#173325",
    panel="#1d3f2e",
    dark=True,
    variables={
        "suit-red": "#ff7b7b",
        "suit-black": "#f4f7f4",
        "suit-joker": "#d7a6ff",
        "turn": "#ffd166",
        "quiet": "#a9bdb0",
        "heading": "#9fd8b4",
        "backs": "#86a896",
        "advised": "#ffd166",
        "good": "#8fe3a8",
        "bad": "#ff9a8a",
        **{f"team-{index}": colour for index, colour in enumerate(_TEAMS_DARK)},
    },
)
LIGHT = Theme(
    name="smear-light",
    primary="#1f6b45",
    accent="#8a5a00",
    foreground="#14241b",
    background="#f2f6f0",
    surface="#e3ece2",
    panel="#d3e1d4",
    dark=False,
    variables={
        "suit-red": "#b3141f",
        "suit-black": "#111814",
        "suit-joker": "#6b2fa0",
        "turn": "#8a3b00",
        "quiet": "#4d6155",
        "heading": "#1f6b45",
        "backs": "#6d8577",
        "advised": "#8a3b00",
        "good": "#17693a",
        "bad": "#a5221a",
        **{f"team-{index}": colour for index, colour in enumerate(_TEAMS_LIGHT)},
    },
)
