# SPDX-License-Identifier: MIT
"""A table that is being written while others compute on it: readers see each row at once, and a kill loses no committed one.

    python3 live.py FOLDER [SECONDS] [ENGINE...]      numpy, duckdb, ray, dask

One process appends rows and publishes each; ten times a second it commits. In the middle it is killed (SIGKILL), and another
one goes on where the last commit was. Meanwhile each engine looks at the newest row again and again, and notes how old it is:
the time from just before its append until the answer is there, in milliseconds. At the end every row must be there once.
"""
import importlib
import multiprocessing
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy

from headroom_arrays import Array, Table

COLUMNS = {"number": "int64", "nanoseconds": "int64", "cents": "int64", "symbol": "str"}
SYMBOLS = ["ABC", "DEF", "GHI"]


def opened(folder: str, mode: Any) -> Table:
    return Table({name: Array(dtype, path=pathlib.Path(folder, name), mode=mode) for name, dtype in COLUMNS.items()})


def sum_of_cents(rows: int) -> int:
    whole, rest = divmod(rows, 1000)
    return whole * sum(range(1000)) + sum(number * 7 % 1000 for number in range(rest))


def write(folder: str) -> None:
    with opened(folder, "a") as table:
        number, last = len(table), time.monotonic()
        while True:
            table.append((number, time.monotonic_ns(), number * 7 % 1000, SYMBOLS[number % 3]))
            table.publish()
            number += 1
            if time.monotonic() - last > 0.1:
                table.commit()
                last = time.monotonic()
            time.sleep(0.0002)


def newest_by_numpy(table: Table) -> int:
    rows = len(table)
    return int(table["nanoseconds"][rows - 1]) if rows else 0


class NewestByDuckDB:
    """Sums that follow the table: each query looks at the rows that came since the one before, so that it takes as long for the
    millionth row as for the first. (Over all rows it takes 20 ns for each, as the text is compared.) One connection for all
    queries, and execute(): a relation, as duckdb.sql() makes, takes two milliseconds more."""

    def __init__(self) -> None:
        self.connection: Any = importlib.import_module("duckdb").connect()
        self.rows = self.cents = self.newest = 0

    def __call__(self, table: Table) -> int:
        trades = importlib.import_module("pyarrow").table(table).slice(self.rows)    # DuckDB finds it by its name
        query = "select count(*), coalesce(sum(cents), 0), max(nanoseconds) from trades where symbol <> 'X'"
        ((rows, cents, newest),) = self.connection.execute(query).fetchall()
        self.rows, self.cents, self.newest = self.rows + rows, self.cents + int(cents), newest or self.newest
        assert rows == trades.num_rows and self.cents == sum_of_cents(self.rows)
        return self.newest


def ages(folder: str, seconds: float, newest: Callable[[Table], int] = newest_by_numpy) -> list[float]:
    """How old the newest row is when it is seen, again and again; the first two looks make the engine ready."""
    table, found, until = opened(folder, "r"), [], time.monotonic() + seconds
    seen = 0
    while time.monotonic() < until:
        table.refresh()
        written = newest(table)
        if written > seen:    # a row that was not there before
            found.append((time.monotonic_ns() - written) / 1e6)
            seen = written
    return found[2:]


def by_ray(folder: str, seconds: float) -> list[float]:
    ray: Any = importlib.import_module("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        found: list[float] = ray.get(ray.remote(ages).remote(folder, seconds))
        return found
    finally:
        ray.shutdown()


def by_dask(folder: str, seconds: float) -> list[float]:
    distributed: Any = importlib.import_module("dask.distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        found: list[float] = client.submit(ages, folder, seconds, pure=False).result()
        return found


ENGINES: dict[str, Callable[[str, float], list[float]]] = {
    "numpy": ages, "duckdb": lambda folder, seconds: ages(folder, seconds, NewestByDuckDB()), "ray": by_ray, "dask": by_dask}


def started(folder: str) -> multiprocessing.process.BaseProcess:
    writer = multiprocessing.get_context("spawn").Process(target=write, args=(folder,), daemon=True)
    writer.start()
    return writer


def main(folder: str, seconds: float, engines: list[str]) -> None:
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    with opened(folder, "a") as table:    # the files are there before anybody looks
        begun = len(table)
    writer = started(folder)
    for name in engines:
        writer.kill()
        writer.join()
        with opened(folder, "r") as left:
            committed = min(len(left), left["number"][-1] + 1 if len(left) else 0)
        writer = started(folder)
        found = ENGINES[name](folder, seconds)
        with opened(folder, "r") as now:
            assert len(now) >= committed, "a committed row is gone"
        print(f"{name:<8} {len(found):6} rows seen, age of the newest: median {statistics.median(found):.3f} ms, "
              f"95 of 100 below {sorted(found)[len(found) * 95 // 100]:.3f} ms")
    writer.kill()
    writer.join()
    with opened(folder, "r") as table:
        numbers = numpy.asarray(table["number"])[:len(table)]
        assert (numbers == numpy.arange(len(table))).all() and len(table) > begun, "rows are missing"
        assert table["symbol"][:len(table)] == [SYMBOLS[each % 3] for each in range(len(table))]
        print(f"{len(table)} rows, each once, after {len(engines) + 1} kills")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 3, sys.argv[3:] or ["numpy"])
