"""Types shared by every module: array aliases and the values of enumerated options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

Int8Array = npt.NDArray[np.int8]
Int16Array = npt.NDArray[np.int16]
Int64Array = npt.NDArray[np.int64]
UInt64Array = npt.NDArray[np.uint64]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
RecordArray = Any
"""A NumPy record array, or one of its rows inside a kernel."""

if TYPE_CHECKING:

    def as_int(value: Any) -> int:
        """A number as Numba's 64-bit integer; `np.int64`, which type checkers hold to be no `int`."""

else:
    as_int = np.int64

FailedBid = Literal["bid", "points"]
HighLow = Literal["void", "in_play"]
LowTo = Literal["holder", "winner"]
GameTie = Literal["nobody", "bidder", "non_bidder"]
Ending = Literal["any", "made_deal", "made_bid", "cap"]
BothOut = Literal["highest", "bidder"]
AllPass = Literal["same_dealer", "next_dealer", "dealer_bids"]
JokerOrder = Literal["first", "second", "big"]
