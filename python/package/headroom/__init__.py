"""Arrays that grow without moving, and that NumPy, Arrow and others read where they lie.

    import headroom, numpy
    prices = headroom.Array("float64")
    prices.append(1.5)
    view = numpy.asarray(prices)        # no copy
    prices.extend(numpy.arange(1e6))    # and the view is still good

headroom.Array is for data whose size nobody knows; headroom.Table hands several arrays to Arrow's readers as one table.
"""
from ._core import Array, Table, _rebuilt, reservations

__all__ = ["Array", "Table", "reservations"]
__version__ = "0.1.0"


def _opened(dtype, path):
    """What a pickled array of a file becomes in another process: the same file, for reading."""
    return Array(dtype, path=path, mode="r")


def _copied(dtype, elements):
    """What any other array becomes."""
    return _rebuilt(dtype, elements)
