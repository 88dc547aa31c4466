"""Polars and DuckDB read the memory itself. They are large: in ./dev test --everywhere."""
import gc

import numpy
import pytest

import headroom_arrays
from conftest import address

polars = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
pyarrow = pytest.importorskip("pyarrow")


def columns(count=100_000):
    x, y = headroom_arrays.Array("int64"), headroom_arrays.Array("float64")
    x.extend(numpy.arange(count))
    y.extend(numpy.arange(count) / 2)
    return headroom_arrays.Table({"x": x, "y": y}), x


def test_polars_reads_the_memory_itself(nothing_left):
    table, x = columns()
    series = polars.Series("x", x)
    assert address(series.to_numpy(allow_copy=False)) == address(x)
    frame = polars.DataFrame(table)
    assert address(frame["x"].to_numpy(allow_copy=False)) == address(x)
    assert frame.filter(polars.col("x") > 99_997)["y"].to_list() == [49_999.0, 49_999.5]
    x.append(1)
    assert series.len() == 100_000
    del series, frame


def test_duckdb_reads_tables(nothing_left):
    mine, x = columns()
    arrow = pyarrow.table(mine)
    for source in ("mine", "arrow"):
        assert duckdb.sql(f"select sum(x), sum(y), count(*) from {source}").fetchall() == [(4_999_950_000, 2_499_975_000.0, 100_000)]
    assert arrow.column("x").chunk(0).buffers()[1].address == address(x)
    del arrow, mine
    gc.collect()


@pytest.mark.parametrize("held", ["polars.DataFrame(table)", "duckdb.from_arrow(pyarrow.table(table))",
                                  "duckdb.connect().from_arrow(pyarrow.table(table)).filter('x > 5')"])
def test_what_engines_hold_when_the_interpreter_ends(held, run):
    run(f"""
import duckdb, headroom_arrays, numpy, polars, pyarrow, sys
array = headroom_arrays.Array("int64")
array.extend(numpy.arange(1000))
table = headroom_arrays.Table({{"x": array}})
sys.kept = {held}
del array, table
""")
