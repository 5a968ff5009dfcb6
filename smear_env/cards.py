"""Card names, card ids and 64-bit card sets; every shift and cast of a bitset lives here.

A card is written rank then suit (`AS`, `TD`), the joker `JK`, of two jokers the little one `LJ` and the big
one `BJ`. A card id counts by suit in the order of `Rules.suits` (C D H S), within a suit by rank rising,
and jokers come last. A card set is a
`uint64` in which bit `c` stands for card `c`, so a deck holds at most 64 cards.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel
from smear_env._typing import as_int

JOKER_NAMES = ((), ("JK",), ("LJ", "BJ"))
"""Names of the jokers of a deck that has none, one or two, in the order of their ids."""
MAX_CARDS = 64

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_PAIRS = np.uint64(0x5555555555555555)
_NIBBLE_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


def deck_names(suits: str, ranks: str, jokers: int) -> tuple[str, ...]:
    """Names of a deck's cards, indexed by card id: suits in order, ranks rising, then the jokers."""
    names = tuple(rank + suit for suit in suits for rank in ranks)
    return (*names, *JOKER_NAMES[jokers])


@inline_kernel
def bit(card: int) -> np.uint64:
    """The set that holds only `card`."""
    return _ONE << np.uint64(card)


@inline_kernel
def has(cards: np.uint64, card: int) -> bool:
    """Whether `card` is in the set."""
    return (cards >> np.uint64(card)) & _ONE != _ZERO


@inline_kernel
def count(cards: np.uint64) -> int:
    """How many cards the set holds (a parallel bit count, compiled to one instruction)."""
    x = cards - ((cards >> np.uint64(1)) & _PAIRS)
    x = (x & _NIBBLE_PAIRS) + ((x >> np.uint64(2)) & _NIBBLE_PAIRS)
    x = (x + (x >> np.uint64(4))) & _NIBBLES
    return as_int((x * _BYTES) >> np.uint64(56))


@inline_kernel
def lowest(cards: np.uint64) -> int:
    """The smallest card id of a set that is not empty."""
    return count((cards & (~cards + _ONE)) - _ONE)


@inline_kernel
def drop_lowest(cards: np.uint64) -> np.uint64:
    """The set without its smallest card id."""
    return cards & (cards - _ONE)
