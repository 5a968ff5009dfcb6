"""One match in the engine, driven from Python an action at a time, with cards dealt by the engine or given."""

from __future__ import annotations

from typing import Any

import numpy as np

from smear_env._jit import announce_compilation
from smear_env._typing import Int8Array, RecordArray
from smear_env.batch import REWARD_NONE
from smear_env.engine.deal import DRAWN
from smear_env.engine.state import OVER, SEATS
from smear_env.layout import observation_layout, vector_size
from smear_env.match import act, begin, deal_given, new_match, show, states
from smear_env.rules import Rules
from smear_env.table_view import deal_result

MOST_DEALS = 2**31 - 1
"""Largest limit on deals that a state can hold; a match with this limit is never cut off."""


class EngineMatch:
    """A match of `rules`: game `game` of `seed`, from level scores; `dealer` is drawn unless given."""

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int = 0,
        game: int = 0,
        dealer: int | None = None,
        max_deals: int = MOST_DEALS,
    ) -> None:
        announce_compilation()
        self.rules = rules
        self.names = rules.action_names
        """Transcript name of each action id."""
        self.mask: Int8Array = np.zeros(len(self.names), np.int8)
        """[n] int8, legal actions of the seat to act; all 0 after the end."""
        self.observation: Int8Array = np.zeros(vector_size(observation_layout(rules)), np.int8)
        """[d] int8, what the seat to act sees. Both arrays are written anew by each action."""
        self._match = new_match(rules)
        self.fields: Any = states(self._match)
        """The match, [1] array of `smear_env.engine.state.STATE_DTYPE`: `fields["turn"][0]`."""
        self.fields["max_deals"] = max_deals
        first = DRAWN if dealer is None else dealer
        begin(self._match, np.uint64(seed), game, first, np.zeros(SEATS, np.int64), np.zeros(0, np.int8))
        self._show()

    @property
    def turn(self) -> int:
        """Seat to act, -1 after the end."""
        return int(self.fields["turn"][0])

    @property
    def dealer(self) -> int:
        """Seat that dealt, or deals next between deals."""
        return int(self.fields["dealer"][0])

    @property
    def deals(self) -> int:
        """Finished deals, those passed out included."""
        return int(self.fields["deals"][0])

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return int(self.fields["phase"][0]) == OVER

    @property
    def winner(self) -> int | None:
        """Team that has won the match."""
        winner = int(self.fields["winner"][0])
        return None if winner < 0 else winner

    def set_cards(self, order: list[int]) -> None:
        """Begin the deal anew with given card ids: each seat's hand in turn, then the stock from its top."""
        deal_given(self._match, np.array(order, np.int8))
        self._show()

    def act(self, action: int) -> None:
        """Apply a legal action id."""
        act(self._match, action, REWARD_NONE)
        self._show()

    def legal_names(self) -> list[str]:
        """Names of the legal actions, sorted by code point."""
        return sorted(self.names[action] for action in np.flatnonzero(self.mask))

    def copy_states(self) -> RecordArray:
        """The match as it stands, [1] record array of its own memory."""
        return self.fields.copy().view(np.recarray)

    def cards(self) -> dict[str, Any]:
        """`dealer`, `hands` and `stock` of a transcript, just after the deal."""
        names = self.rules.card_names
        hands = [
            " ".join(name for card, name in enumerate(names) if int(hand) >> card & 1)
            for hand in self.fields["hand"][0, : self.rules.players]
        ]
        stock = self.fields["stock"][0, : self.rules.stock_size]
        return {"dealer": self.dealer, "hands": hands, "stock": " ".join(names[card] for card in stock)}

    def result(self) -> dict[str, Any]:
        """What a transcript states of the deal just finished: `redeal`, or `bid` to `scores`."""
        stated = deal_result(self.rules, self.fields.view(np.recarray)[0]) or {}
        return {name: value for name, value in stated.items() if name != "dealer"}

    def _show(self) -> None:
        if self.over:
            self.mask[:] = 0
            return
        show(self._match, self.turn, self.observation, self.mask)
