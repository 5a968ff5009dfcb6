"""How long a table waits between what agents do, so that people can follow."""

from __future__ import annotations

from smear_table.session import Session

SPEEDS = {"slow": 1.6, "normal": 0.8, "fast": 0.3, "instant": 0.0}
"""Seconds between the actions of agents."""
AFTER_TRICK = 2.0
"""So much longer is a finished trick left on the table."""


def pause(session: Session, speed: str) -> float:
    """Seconds from the action before to the next one of an agent."""
    return SPEEDS[speed] * (AFTER_TRICK if _trick_just_ended(session) else 1.0)


def _trick_just_ended(session: Session) -> bool:
    plays = sum(phase == "play" for _, phase, _ in session.said)
    return plays > 0 and plays % session.rules.players == 0
