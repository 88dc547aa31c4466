# SPDX-License-Identifier: MIT
"""Computes on the columns that make_columns wrote, by their names: in one process, on workers, and in other engines.

    python3 compute.py FOLDER ENGINE...     one, ray, dask, duckdb, polars

What goes to a worker is a path. It opens the files and computes on mapped memory, which all workers of a machine share; what
comes back is small. ENGINE prints the turnover of each symbol: the same line from every engine.
"""
import importlib
import pathlib
import sys
from typing import Any

import numpy

import headroom_arrays

SYMBOLS = 16
Sums = numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.float64]]


def parts(folder: str) -> list[str]:
    """The paths of the parts, without the ending that names the column."""
    return sorted(str(each.with_suffix("")) for each in pathlib.Path(folder).absolute().glob("part-*.symbol"))


def column(part: str, name: str, dtype: str) -> headroom_arrays.Array:
    return headroom_arrays.Array(dtype, path=f"{part}.{name}", mode="r")


def table(part: str) -> headroom_arrays.Table:
    return headroom_arrays.Table({"symbol": column(part, "symbol", "int32"), "cents": column(part, "cents", "int64"),
                           "pieces": column(part, "pieces", "int64")})


def turnover(part: str) -> Sums:
    """Of one part, in whatever process this runs. The sums are whole numbers below 2^53: exact in any order."""
    columns = table(part)
    symbol, cents, pieces = (numpy.asarray(columns[name]) for name in columns.column_names)
    return numpy.bincount(symbol, weights=cents * pieces, minlength=SYMBOLS).astype("float64")


def added(sums: Any) -> Sums:
    total: Sums = numpy.sum(list(sums), axis=0, dtype="float64")
    return total


def one(folder: str) -> Sums:
    return added(turnover(each) for each in parts(folder))


def ray(folder: str) -> Sums:
    engine: Any = importlib.import_module("ray")
    engine.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        return added(engine.get([engine.remote(turnover).remote(each) for each in parts(folder)]))
    finally:
        engine.shutdown()


def dask(folder: str) -> Sums:
    engine: Any = importlib.import_module("dask.distributed")
    with engine.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, \
            engine.Client(cluster) as client:
        return added(client.gather(client.map(turnover, parts(folder))))


def duckdb(folder: str) -> Sums:
    engine: Any = importlib.import_module("duckdb")
    pyarrow: Any = importlib.import_module("pyarrow")
    trades = pyarrow.concat_tables([pyarrow.table(table(each)) for each in parts(folder)])    # chunks side by side: no copy
    rows = engine.from_arrow(trades).aggregate("symbol, sum(cents * pieces)").fetchall()
    sums = numpy.zeros(SYMBOLS)
    for symbol, total in rows:
        sums[symbol] = float(total)
    return sums


def polars(folder: str) -> Sums:
    engine: Any = importlib.import_module("polars")
    trades = engine.concat([engine.DataFrame(table(each)) for each in parts(folder)], rechunk=False)
    grouped = trades.group_by("symbol").agg((engine.col("cents") * engine.col("pieces")).sum().alias("total"))
    sums = numpy.zeros(SYMBOLS)
    sums[grouped["symbol"].to_numpy()] = grouped["total"].to_numpy()
    return sums


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    else:
        for name in sys.argv[2:]:
            sums = {each.__name__: each for each in (one, ray, dask, duckdb, polars)}[name](sys.argv[1])
            print(*(int(each) for each in sums))
