# SPDX-License-Identifier: MIT
"""Arrays that grow without moving, and that NumPy, Arrow and others read where they lie.

    from headroom_arrays import Array
    import numpy
    prices = Array("float64")
    prices.append(1.5)
    view = numpy.asarray(prices)        # no copy
    prices.extend(numpy.arange(1e6))    # and the view is still good

Array is for data whose size nobody knows; Table is for several of them side by side.
"""
import os as _os


def _expect_main_interpreter():
    """The compiled part serves one interpreter of a process: imported in another, it would stop working in the first."""
    for name in ("_interpreters", "_xxsubinterpreters"):    # Python 3.13 and later; earlier ones
        try:
            module = __import__(name)
        except ImportError:
            continue
        if module.get_current() != module.get_main():
            raise ImportError("headroom_arrays works in the main interpreter only, and this is another one")
        return


_expect_main_interpreter()

from ._core import Array, Table, _begin_new_life, reservations  # noqa: E402

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_begin_new_life)

__all__ = ["Array", "Table", "reservations"]
__version__ = "0.1.0"


def _opened(what, path):
    """What a pickled array of a file becomes in another process: the same file, for reading."""
    dtype, shape, nullable, max_elements = what
    return Array(dtype, shape=shape, nullable=nullable, max_elements=max_elements, path=path, mode="r")


def _copied(what, pieces):
    """What any other array becomes."""
    dtype, shape, nullable, max_elements = what
    made = Array(dtype, shape=shape, nullable=nullable, max_elements=max_elements)
    made._fill(list(pieces))
    return made
