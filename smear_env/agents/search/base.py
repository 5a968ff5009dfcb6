"""What searching players share: one decision at a time, chance from the seed and the position alone."""

from __future__ import annotations

import hashlib
import threading
from typing import Any, ClassVar

import numpy as np

from smear_env._jit import announce_part
from smear_env._typing import Int8Array, Int64Array, RecordArray
from smear_env.agents.base import BaseAgent, refuse_empty
from smear_env.agents.expert import PLAIN, expert_action, load_book
from smear_env.agents.search.worlds import ANNOUNCED
from smear_env.agents.seen import kernel_tables
from smear_env.engine.state import new_states
from smear_env.layout import observation_layout, vector_size
from smear_env.rules import Rules
from smear_env.solver import new_work

_LOCAL = threading.local()


def workspace() -> RecordArray:
    """The solver's workspace of this thread."""
    if not hasattr(_LOCAL, "work"):
        # A plain array of records: kernels take it faster.
        _LOCAL.work = new_work().view(np.ndarray)
    return _LOCAL.work


class SearchAgent(BaseAgent):
    """Decides row by row. Its chance at a decision depends on the seed and the observation alone.

    So the same position is decided alike wherever it stands among an agent's calls, and `probabilities` are
    those of `act`.
    """

    kernels: ClassVar[tuple[Any, ...]] = ()
    """Those that it calls and that take long to compile."""

    def __init__(self) -> None:
        super().__init__()
        self._key = b""

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game; see `Agent`."""
        super().reset(rules, seat, seed)
        self._key = hashlib.blake2b(repr((seed, seat)).encode(), digest_size=16).digest()

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; see `Agent`."""
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        announce_part(*ANNOUNCED, *self.kernels)
        pairs = zip(seen, legal, strict=True)
        return np.array([self._act_once(row, mask) for row, mask in pairs], np.int64)

    def _act_once(self, row: Int8Array, mask: Int8Array) -> int:
        choices = np.flatnonzero(mask)
        return int(choices[0]) if len(choices) == 1 else self.decide(row, mask)

    def decide(self, row: Int8Array, mask: Int8Array) -> int:
        """The action for one observation [d] with several legal actions [n]."""
        raise NotImplementedError

    def seed_of(self, row: Int8Array) -> int:
        """The seed of chance at this position, 0..2**64-1."""
        digest = hashlib.blake2b(row.tobytes(), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "little")

    def expert_choice(self, row: Int8Array, mask: Int8Array) -> int:
        """What `expert` would do."""
        tables, starts = kernel_tables(self.rules)
        return int(expert_action(tables[0], starts[0], row, mask, load_book(self.rules)[0], PLAIN))

    def tools(self) -> tuple[Any, Any, RecordArray, RecordArray, Int8Array]:
        """Tables, offsets, the expert's book, a state and a row to write over."""
        tables, starts = kernel_tables(self.rules)
        size = vector_size(observation_layout(self.rules))
        return tables, starts, load_book(self.rules), new_states(1), np.empty(size, np.int8)
