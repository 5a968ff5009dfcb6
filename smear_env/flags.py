"""Rows of `int8` entries written by address: bits as flags, blocks copied or cleared, single entries.

The one place that stores to memory directly. A kernel that hands views of arrays on counts references to them with
locked instructions, which costs more than writing a row; an address is a number. A word of 32 bits becomes 32
entries in two instructions where the processor has mask registers and in five where it has not. Blocks of any other
size are two of a power of two that overlap, so that nothing beyond a block is ever touched and threads may own
neighbouring rows.

Whoever takes an address keeps the array alive.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from smear_env._jit import inline_kernel
from smear_env._typing import as_int

_BYTE = cgutils.ir.IntType(8)
_NOTHING = np.uint64(0)


def _pointer(builder: Any, address: Any, pointee: Any) -> Any:
    return builder.inttoptr(address, pointee.as_pointer())


def _flags_writer(width: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def write(typing_context: Any, bits: Any, to: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            low = builder.trunc(arguments[0], cgutils.ir.IntType(width))
            lanes = builder.bitcast(low, cgutils.ir.VectorType(cgutils.ir.IntType(1), width))
            entries = builder.zext(lanes, cgutils.ir.VectorType(_BYTE, width))
            builder.store(entries, _pointer(builder, arguments[1], entries.type), align=1)
            return context.get_dummy_value()

        return types.void(types.uint64, types.int64), generate

    return write


def _block_copier(width: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def copy(typing_context: Any, source: Any, to: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            block = cgutils.ir.VectorType(_BYTE, width)
            loaded = builder.load(_pointer(builder, arguments[0], block), align=1)
            builder.store(loaded, _pointer(builder, arguments[1], block), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return copy


def _picker(width: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def pick(typing_context: Any, bits: Any, source: Any, to: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            block = cgutils.ir.VectorType(_BYTE, width)
            low = builder.trunc(arguments[0], cgutils.ir.IntType(width))
            lanes = builder.bitcast(low, cgutils.ir.VectorType(cgutils.ir.IntType(1), width))
            loaded = builder.load(_pointer(builder, arguments[1], block), align=1)
            picked = builder.select(lanes, loaded, cgutils.ir.Constant(block, None))
            builder.store(picked, _pointer(builder, arguments[2], block), align=1)
            return context.get_dummy_value()

        return types.void(types.uint64, types.int64, types.int64), generate

    return pick


@intrinsic  # type: ignore[untyped-decorator]
def _put(typing_context: Any, value: Any, to: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = builder.trunc(arguments[0], _BYTE)
        builder.store(entry, _pointer(builder, arguments[1], _BYTE))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _read_word(typing_context: Any, source: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(builder, arguments[0], cgutils.ir.IntType(64)), align=1)

    return types.uint64(types.int64), generate


if numba.config.DISABLE_JIT:

    def _flags_writer(width: int) -> Any:
        def write(bits: np.uint64, to: int) -> None:
            ctypes.memmove(int(to), bytes(int(bits) >> i & 1 for i in range(width)), width)

        return write

    def _block_copier(width: int) -> Any:
        def copy(source: int, to: int) -> None:
            ctypes.memmove(int(to), int(source), width)

        return copy

    def _picker(width: int) -> Any:
        def pick(bits: np.uint64, source: int, to: int) -> None:
            entries = ctypes.string_at(int(source), width)
            ctypes.memmove(int(to), bytes(e * (int(bits) >> i & 1) for i, e in enumerate(entries)), width)

        return pick

    def _read_word(source: int) -> np.uint64:
        return np.uint64(int.from_bytes(ctypes.string_at(int(source), 8), "little"))

    def _put(value: int, to: int) -> None:
        ctypes.memmove(int(to), np.int8(value).tobytes(), 1)


_write_32, _write_16, _write_8 = map(_flags_writer, (32, 16, 8))
_pick_32, _pick_16, _pick_8 = map(_picker, (32, 16, 8))
_copy_32, _copy_16, _copy_8, _copy_1 = map(_block_copier, (32, 16, 8, 1))


@inline_kernel
def address(array: Any) -> int:
    """Where a contiguous array, or a field of a record, begins in memory."""
    return as_int(array.ctypes.data)


@inline_kernel
def put(value: int, to: int) -> None:
    """Write one entry."""
    _put(as_int(value), to)


@inline_kernel
def read_word(source: int) -> np.uint64:
    """Eight entries as one word, the first its lowest byte."""
    return _read_word(source)


@inline_kernel
def write_bytes(word: np.uint64, size: int, to: int) -> None:
    """Write the lowest `size` bytes of a word, at most 8, as entries."""
    for i in range(8):
        if i == size:
            break
        put(as_int(word >> np.uint64(8 * i)), to + i)


@inline_kernel
def write_flags(bits: np.uint64, size: int, to: int) -> None:
    """Write the lowest `size` bits, at most 64, as `size` entries from address `to` on."""
    if size >= 32:
        _write_32(bits, to)
        if size > 32:
            _write_32(bits >> np.uint64(size - 32), to + size - 32)
    elif size >= 16:
        _write_16(bits, to)
        _write_16(bits >> np.uint64(size - 16), to + size - 16)
    elif size >= 8:
        _write_8(bits, to)
        _write_8(bits >> np.uint64(size - 8), to + size - 8)
    else:
        for i in range(size):
            put(as_int((bits >> np.uint64(i)) & np.uint64(1)), to + i)


@inline_kernel
def copy_block(source: int, size: int, to: int) -> None:
    """Copy `size` entries from address `source` on to `to` on; the two blocks do not overlap."""
    if size >= 32:
        for i in range(0, size - 32, 32):
            _copy_32(source + i, to + i)
        _copy_32(source + size - 32, to + size - 32)
    elif size >= 16:
        _copy_16(source, to)
        _copy_16(source + size - 16, to + size - 16)
    elif size >= 8:
        _copy_8(source, to)
        _copy_8(source + size - 8, to + size - 8)
    else:
        for i in range(size):
            _copy_1(source + i, to + i)


@inline_kernel
def pick_entries(bits: np.uint64, source: int, size: int, to: int) -> None:
    """Copy those of `size` entries, at most 64, whose bit is set, and write 0 for the others."""
    if size >= 32:
        _pick_32(bits, source, to)
        if size > 32:
            _pick_32(bits >> np.uint64(size - 32), source + size - 32, to + size - 32)
    elif size >= 16:
        _pick_16(bits, source, to)
        _pick_16(bits >> np.uint64(size - 16), source + size - 16, to + size - 16)
    elif size >= 8:
        _pick_8(bits, source, to)
        _pick_8(bits >> np.uint64(size - 8), source + size - 8, to + size - 8)
    else:
        for i in range(size):
            put(0, to + i)
            if (bits >> np.uint64(i)) & np.uint64(1):
                _copy_1(source + i, to + i)


@inline_kernel
def clear_block(size: int, to: int) -> None:
    """Set `size` entries from address `to` on to 0."""
    for i in range(0, size - 64, 64):
        write_flags(_NOTHING, 64, to + i)
    if size > 64:
        write_flags(_NOTHING, 64, to + size - 64)
    else:
        write_flags(_NOTHING, size, to)
