# SPDX-License-Identifier: MIT
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


def kinds(count=1000):
    """A table of every kind that Arrow has: nulls, text, times without a time, rows, and plain numbers."""
    number, text, time, rows = (headroom_arrays.Array("int64", nullable=True), headroom_arrays.Array("str", nullable=True),
                                headroom_arrays.Array("datetime64[us]"), headroom_arrays.Array("float32", shape=(3,)))
    made = headroom_arrays.Table({"number": number, "text": text, "time": time, "rows": rows})
    for i in range(count):
        made.append((None if i % 3 == 0 else i, None if i % 5 == 0 else f"text {i}", None if i % 7 == 0 else i, [i, i + 1, i + 2]))
    return made


def test_polars_sees_nulls_text_times_and_rows(nothing_left):
    table = kinds()
    frame = polars.DataFrame(table)
    assert frame["number"].null_count() == 334 and frame["text"].null_count() == 200 and frame["time"].null_count() == 143
    assert frame["text"][1] == "text 1" and frame["rows"][7].to_list() == [7, 8, 9] and frame["number"].sum() == sum(i for i in range(1000) if i % 3)
    table.append((5, "new", None, [0, 0, 0]))
    assert frame.height == 1000 and polars.DataFrame(table)["text"][-1] == "new"
    del frame


def test_duckdb_sees_nulls_text_times_and_rows(nothing_left):
    table = kinds()
    asked = "select count(number), count(text), count(time), sum(rows[1]), max(text), min(time), count(*) from table_"
    table_ = table
    seen = duckdb.sql(asked).fetchall()[0]
    assert seen[:4] == (666, 800, 857, 499_500.0) and seen[4] == "text 999" and seen[6] == 1000
    for _ in range(10):
        table.append((1, "zzz", None, [1, 1, 1]))
    assert duckdb.sql(asked).fetchall()[0][4:7] == ("zzz", seen[5], 1010)
    del table_, table
    gc.collect()


def test_pandas_and_nanoarrow_see_nulls_text_times_and_rows():
    pandas, nanoarrow = pytest.importorskip("pandas"), pytest.importorskip("nanoarrow")
    table = kinds()
    arrow = pyarrow.table(table)
    arrow.validate(full=True)
    frame = arrow.to_pandas()
    assert frame["number"].isna().sum() == 334 and frame["text"].isna().sum() == 200 and frame["time"].isna().sum() == 143
    assert frame["rows"][5].tolist() == [5, 6, 7] and pandas.Series(table["text"])[1] == "text 1"
    assert arrow.column("rows").chunk(0).flatten().buffers()[1].address == address(table["rows"])
    assert arrow.column("number").chunk(0).buffers()[1].address == pyarrow.array(table["number"]).buffers()[1].address
    for name in table.column_names:
        nanoarrow.c_array(table[name]).view()
    assert nanoarrow.Array(table["text"]).to_pylist()[:3] == [None, "text 1", "text 2"]


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
