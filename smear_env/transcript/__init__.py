"""Record, check, replay and show matches as JSON lines, `smear-transcript/1`.

`python -m smear_env.transcript record|check|show` is the command line. In code: `record_match` plays a game of a seed,
`check_match` compares everything a transcript states with the rules, `positions` gives the engine's state
before each action, `read_transcripts` and `write_transcripts` are files.
"""

from smear_env.transcript.format import FORMAT, TranscriptError, read_transcripts, write_transcripts
from smear_env.transcript.record import record_match
from smear_env.transcript.replay import Position, check_match, positions
from smear_env.transcript.show import show_match

__all__ = [
    "FORMAT",
    "Position",
    "TranscriptError",
    "check_match",
    "positions",
    "read_transcripts",
    "record_match",
    "show_match",
    "write_transcripts",
]
