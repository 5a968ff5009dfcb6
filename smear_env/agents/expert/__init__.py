"""A strong player without search: fitted tables for bids, weighted rules for cards; see docs/expert.md.

`expert_action` decides for one observation inside a kernel, with the tables of `load_book(rules)`; `expert_step` and
`play_out` step states by it.
"""

from smear_env.agents.expert.agent import ExpertAgent, expert_action, expert_step, play_out
from smear_env.agents.expert.book import AGGRESSIVE, CAUTIOUS, PLAIN, load_book

__all__ = [
    "AGGRESSIVE",
    "CAUTIOUS",
    "PLAIN",
    "ExpertAgent",
    "expert_action",
    "expert_step",
    "load_book",
    "play_out",
]
