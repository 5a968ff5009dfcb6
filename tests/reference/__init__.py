"""A slow, plain reference of the rules: what the engine is compared with, sharing nothing with it.

Written from the rules alone, with the standard library alone. Cards are names ("AS", "TD", "JK"),
a trump is a suit letter or None, seats and teams are numbers from 0.
"""

from tests.reference.game import Match
from tests.reference.options import Options, options
from tests.reference.play import (
    random_deal,
    random_match,
    random_options,
    random_steps,
    random_transcript,
)
from tests.reference.replay import replay

__all__ = [
    "Match",
    "Options",
    "options",
    "random_deal",
    "random_match",
    "random_options",
    "random_steps",
    "random_transcript",
    "replay",
]
