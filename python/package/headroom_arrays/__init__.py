"""Arrays that grow without moving, and that NumPy, Arrow and others read where they lie.

    from headroom_arrays import Array
    import numpy
    prices = Array("float64")
    prices.append(1.5)
    view = numpy.asarray(prices)        # no copy
    prices.extend(numpy.arange(1e6))    # and the view is still good

Array is for data whose size nobody knows; Table is for several of them side by side.
"""


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

from ._core import Array, Table, _rebuilt, reservations  # noqa: E402

__all__ = ["Array", "Table", "reservations"]
__version__ = "0.1.0"


def _opened(dtype, path):
    """What a pickled array of a file becomes in another process: the same file, for reading."""
    return Array(dtype, path=path, mode="r")


def _copied(dtype, elements):
    """What any other array becomes."""
    return _rebuilt(dtype, elements)
