# SPDX-License-Identifier: MIT
"""What type checkers are shown: every method, as users write it. (test_types.py runs mypy and pyright over it.)"""
import pathlib

import numpy
import pyarrow

from headroom_arrays import Array, Table, reservations


def counted(folder: pathlib.Path) -> int:
    prices = Array("float64", max_elements=10**6)
    prices.append(1.5)
    prices.extend([1.0, 2.0])
    prices.extend(numpy.arange(3.0))
    prices[0] = 2.5
    prices[1:3] = [1, 2]
    view = memoryview(prices)
    seen: numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.float64]] = numpy.asarray(prices)
    tensor = numpy.from_dlpack(prices)
    arrow = pyarrow.array(prices)
    rows = Array(numpy.float32, shape=(768,), path=folder / "rows")
    rows.append(numpy.zeros(768))
    names = Array("str", nullable=True)
    names.append(None)
    values = Array([1, 2, 3])
    with Table({"row": rows, "name": names}, chunk_rows=5) as table:
        table.append({"row": numpy.ones(768), "name": "x"})
        table.append((numpy.ones(768), "x"))
        table.extend({"row": numpy.ones((2, 768)), "name": ["a", None]})
        table.commit()
        whole = pyarrow.table(table)
        length: int = whole.num_rows + len(table) + len(table["name"])
    with Array("int64") as entered:
        entered.append(1)
        entered.truncate(0)
    extents: tuple[int, ...] = values.shape
    path: str | None = rows.path
    base, reserved, committed = reservations()[0]
    return length + len(view) + seen.size + tensor.size + len(arrow) + len(extents) + (path is None) + base + reserved + committed
