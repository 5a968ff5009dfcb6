"""Flags gathered as bits and written eight at a time; the one place that stores whole words into `int8` vectors.

A vector begins with all its flags, so that flag `i` of the vector is bit `i` of a short scratch array: pieces are
placed with shifts, and each byte of the scratch becomes eight `int8` entries through a table of 256 words.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from smear_env._jit import kernel
from smear_env._typing import Int8Array

_BYTE = np.uint64(0xFF)
_ZERO = np.uint64(0)
_SIX = np.uint64(6)
_IN_WORD = np.uint64(63)
_WORD_BITS = np.uint64(64)

_EXPANDED = (
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    .view(np.uint64)
    .reshape(256)
)
"""[256] uint64: eight bytes, each one bit of the index."""


@intrinsic  # type: ignore[untyped-decorator]
def _store_word(typing_context: Any, array: Any, position: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.gep(data, [arguments[1]])
        pointer = builder.bitcast(address, cgutils.ir.IntType(64).as_pointer())
        builder.store(arguments[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _load_word(typing_context: Any, array: Any, position: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.gep(data, [arguments[1]])
        pointer = builder.bitcast(address, cgutils.ir.IntType(64).as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(array, types.int64), generate


if numba.config.DISABLE_JIT:

    def _store_word(array: Int8Array, position: int, word: np.uint64) -> None:
        array[position : position + 8] = np.array([word], np.uint64).view(np.int8)

    def _load_word(array: Int8Array, position: int) -> np.uint64:
        return np.uint64(np.ascontiguousarray(array[position : position + 8]).view(np.uint64)[0])


@kernel
def clear_flags(words: Any) -> None:
    """Forget all flags of the scratch, [words] uint64."""
    for i in range(len(words)):
        words[i] = _ZERO


@kernel
def place(words: Any, start: int, bits: np.uint64) -> None:
    """Set the flags of `bits` from bit `start` of the scratch on."""
    first = np.uint64(start) >> _SIX
    shift = np.uint64(start) & _IN_WORD
    words[first] |= bits << shift
    if shift != _ZERO:
        spilled = bits >> (_WORD_BITS - shift)
        if spilled != _ZERO:
            words[first + np.uint64(1)] |= spilled


@kernel
def expand(words: Any, size: int, out: Int8Array) -> None:
    """Write the first `size` flags of the scratch to the first `size` entries of `out`, nothing beyond."""
    whole = size >> 3
    for byte in range(whole):
        at = np.uint64(byte)
        bits = (words[at >> np.uint64(3)] >> ((at & np.uint64(7)) << np.uint64(3))) & _BYTE
        _store_word(out, byte << 3, _EXPANDED[bits])
    for position in range(whole << 3, size):
        at = np.uint64(position)
        out[position] = (words[at >> _SIX] >> (at & _IN_WORD)) & np.uint64(1)


@kernel
def expand_one(bits: np.uint64, size: int, out: Int8Array, start: int) -> None:
    """Write the lowest `size` bits of one word as flags from entry `start` on."""
    whole = size >> 3
    for byte in range(whole):
        _store_word(out, start + (byte << 3), _EXPANDED[(bits >> np.uint64(byte << 3)) & _BYTE])
    for position in range(whole << 3, size):
        out[start + position] = (bits >> np.uint64(position)) & np.uint64(1)


@kernel
def copy_bytes(source: Int8Array, size: int, out: Int8Array, start: int) -> None:
    """Copy the first `size` entries of `source` to `out` from `start` on."""
    whole = size & ~7
    for position in range(0, whole, 8):
        _store_word(out, start + position, _load_word(source, position))
    for position in range(whole, size):
        out[start + position] = source[position]


@kernel
def move_block(source: Int8Array, start: int, size: int, out: Int8Array, to: int) -> None:
    """Copy `size` entries from `source[start]` on to `out[to]` on; both one-dimensional."""
    if size < 8:
        for position in range(size):
            out[to + position] = source[start + position]
        return
    for position in range(0, size - 8, 8):
        _store_word(out, to + position, _load_word(source, start + position))
    # The last word may overlap the one before.
    _store_word(out, to + size - 8, _load_word(source, start + size - 8))
