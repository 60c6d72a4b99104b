"""Tells the processor which memory a compiled loop will need, so that it is fetched while other work goes on. Imports
numba, see :mod:`trivium.common.compiled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from numpy.typing import NDArray

from trivium.common.compiled import compiled

CACHE_LINE = 64
"""Bytes that are fetched at once."""
_READ, _KEEP, _DATA = 0, 3, 1
"""What LLVM's prefetch is told: to read, to keep in all caches, data rather than instructions."""


def _code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    """Emit the instruction: ``start of the array + place * bytes of a row``."""
    array = cast(Any, make_array)(signature.args[0])(context, builder, given[0])
    stride = cast(Any, cgutils).unpack_tuple(builder, array.strides)[0]
    start = builder.ptrtoint(array.data, ir.IntType(64))
    address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    function = builder.module.declare_intrinsic(
        "llvm.prefetch", [address], ir.FunctionType(ir.VoidType(), [address, number, number, number])
    )
    row = builder.inttoptr(builder.add(start, builder.mul(given[1], stride)), address)
    builder.call(function, [row, number(_READ), number(_KEEP), number(_DATA)])
    return context.get_dummy_value()


def _typed(_: Any, array: Any, _place: Any) -> tuple[Any, Callable[..., Any]]:
    return types.void(array, types.int64), _code


_prefetch: Callable[[NDArray[Any], int], None] = cast(Any, intrinsic)(_typed)


@compiled
def prefetch(array: NDArray[Any], place: int) -> None:
    """Fetch the start of ``array[place]`` (a cache line) into the caches. To be called in compiled code. This is a hint:
    it changes no result and never fails, also for a place outside of the array.
    """
    _prefetch(array, place)
