"""Arrays that grow without moving, and that NumPy, Arrow and others read where they lie.

    import headroom, numpy
    prices = headroom.Array("float64")
    prices.append(1.5)
    view = numpy.asarray(prices)        # no copy
    prices.extend(numpy.arange(1e6))    # and the view is still good

headroom.Array is for data whose size nobody knows; headroom.Table hands several arrays to Arrow's readers as one table.
"""
from ._core import Array, Table, reservations

__all__ = ["Array", "Table", "reservations"]
__version__ = "0.1.0"
