# SPDX-License-Identifier: MIT
"""Masked elements, pandas' NA and Arrow's nulls become nulls or raise, by every way into an array."""
import warnings

import numpy
import pytest

from headroom_arrays import Array, Table

pyarrow = pytest.importorskip("pyarrow")
MASKED = numpy.ma.masked
ERRORS = (TypeError, ValueError)
DTYPES = ["bool", "int8", "uint64", "float16", "float64", "complex128"]


class NAType:
    """Stands for pandas' NA, which is no number and has no truth."""

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")


NA = NAType()


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def masked(dtype, mask=(False, True, False)):
    return numpy.ma.array(numpy.array([1, 0, 1]).astype(dtype), mask=mask)


def assign(array, key, value):
    array[key] = value


SEVERAL = {    # ways for three values
    "extend": lambda array, values: array.extend(values),
    "extend by every one of an array": lambda array, values: array.extend(values[::-1]),
    "extend by a list": lambda array, values: array.extend(list(values)),
    "extend by a tuple": lambda array, values: array.extend(tuple(values)),
    "extend by an iterator": lambda array, values: array.extend(iter(values)),
    "a slice": lambda array, values: assign(array, slice(0, 3), values),
    "columns of a table": lambda array, values: Table({"x": array}).extend({"x": values}),
}
ONE = {
    "append": lambda array, one: array.append(one),
    "extend": lambda array, one: array.extend([one]),
    "an item": lambda array, one: assign(array, 0, one),
    "a slice": lambda array, one: assign(array, slice(0, 2), one),
    "a row of a table": lambda array, one: Table({"x": array}).append((one,)),
}


@pytest.mark.parametrize("way", SEVERAL)
@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_elements_raise_where_there_are_no_nulls(dtype, way):
    array = Array(dtype)
    array.extend(masked(dtype).data)
    before = array.tolist()
    with pytest.raises(ERRORS, match="nullable=True"):
        SEVERAL[way](array, masked(dtype))
    assert array.tolist()[:3] == before and MASKED not in array.tolist()


@pytest.mark.parametrize("way", SEVERAL)
@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_masked_elements_are_nulls_where_there_are_nulls(dtype, way):
    array = Array(dtype, nullable=True)
    if way == "a slice":
        array.extend(masked(dtype).data)
    SEVERAL[way](array, masked(dtype))
    assert array.tolist() == [1, None, 1]


@pytest.mark.parametrize("way", SEVERAL)
@pytest.mark.parametrize("dtype", [*DTYPES, "datetime64[s]"])
def test_a_mask_that_hides_nothing_is_ignored(dtype, way):
    array = Array(dtype)
    if way == "a slice":
        array.extend(masked(dtype).data)
    for mask in (numpy.ma.nomask, (False,) * 3):
        SEVERAL[way](array, masked(dtype, mask))
    wanted = masked(dtype).data.tolist()
    assert array.tolist() == (wanted if way == "a slice" else wanted * 2)


@pytest.mark.parametrize("missing", [MASKED, NA, numpy.ma.array(5, mask=True)], ids=["masked", "NA", "masked array"])
@pytest.mark.parametrize("way", ONE)
@pytest.mark.parametrize("dtype", [*DTYPES, "str"])
def test_one_missing_value_raises_where_there_are_no_nulls(dtype, way, missing):
    if dtype == "str" and "a " in way and "table" not in way or dtype == "str" and way == "an item":
        pytest.skip("text is not changed")
    array = Array(dtype)
    array.extend(["a", "b"] if dtype == "str" else masked(dtype).data)
    before = array.tolist()
    with pytest.raises(TypeError, match="nullable=True"):
        ONE[way](array, missing)
    assert array.tolist() == before


@pytest.mark.parametrize("missing", [MASKED, NA], ids=["masked", "NA"])
@pytest.mark.parametrize("way", ONE)
@pytest.mark.parametrize("dtype", [*DTYPES[:-1], "str"])
def test_one_missing_value_is_a_null_where_there_are_nulls(dtype, way, missing):
    if dtype == "str" and way in ("an item", "a slice"):
        pytest.skip("text is not changed")
    array = Array(dtype, nullable=True)
    array.extend(["a", "b"] if dtype == "str" else masked(dtype).data)
    ONE[way](array, missing)
    assert None in array.tolist()


@pytest.mark.parametrize("missing", [MASKED, NA, None], ids=["masked", "NA", "None"])
@pytest.mark.parametrize("way", ONE)
def test_a_missing_time_is_no_time(way, missing):
    array = Array("datetime64[s]")
    array.extend([1, 2])
    ONE[way](array, missing)
    assert array.null_count >= 1


def test_masked_times_are_no_times():
    array = Array("datetime64[s]")
    array.extend(masked("M8[s]"))
    array.extend(list(masked("M8[s]")))
    assert numpy.isnat(array[:]).tolist() == [False, True, False] * 2
    with pytest.raises(ValueError):
        array.extend(masked("int64"))
    assert Array(masked("M8[s]")).null_count == 1


@pytest.mark.parametrize("dtype", [*DTYPES, "datetime64[s]"])
def test_rows_with_masked_elements_raise(dtype):
    array = Array(dtype, shape=(3,))
    array.append(masked(dtype).data)
    whole = numpy.ma.array([masked(dtype).data], mask=[[False, True, False]])
    uses = [lambda: array.append(masked(dtype)), lambda: array.extend(whole), lambda: array.extend([masked(dtype)]),
            lambda: array.append(list(masked(dtype))), lambda: assign(array, 0, masked(dtype)),
            lambda: assign(array, slice(0, 1), whole), lambda: Table({"x": array}).append((masked(dtype),))]
    for use in uses:
        if dtype == "datetime64[s]":
            use()
            assert numpy.isnat(array[-1]).tolist() == [False, True, False]
        else:
            with pytest.raises(ValueError, match="masked"):
                use()
            assert len(array) == 1
    array.append(masked(dtype, numpy.ma.nomask))
    assert array.tolist()[-1] == masked(dtype).data.tolist()


def test_a_row_of_times_is_not_none():
    array = Array("datetime64[s]", shape=(3,))
    for missing in (None, MASKED, NA):
        with pytest.raises(ERRORS):
            array.append(missing)
    assert len(array) == 0


def test_structures_with_masked_fields_raise():
    dtype = [("a", "i4"), ("b", "f8")]
    array = Array(dtype)
    given = numpy.ma.array([(1, 2.5), (3, 4.5)], dtype=dtype, mask=[(False, False), (True, False)])
    for use in (lambda: array.extend(given), lambda: array.append(given[1]), lambda: array.extend(list(given)),
                lambda: array.append((MASKED, 1.5)), lambda: array.extend([(1, MASKED)]), lambda: array.append(MASKED)):
        with pytest.raises(ERRORS):
            use()
    assert len(array) == 0
    array.extend(given[:1])
    assert array.tolist() == [(1, 2.5)]


@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_an_array_of_masked_values_has_nulls(dtype):
    made = Array(masked(dtype))
    assert made.nullable and made.dtype == dtype and made.tolist() == [1, None, 1]
    assert not Array(masked(dtype, numpy.ma.nomask)).nullable


def test_an_array_of_a_list_with_missing_values_has_nulls():
    for missing in (MASKED, NA):
        assert Array([1, missing, 3]).tolist() == [1, None, 3]
        assert Array(["a", missing]).tolist() == ["a", None]
    assert Array(numpy.ma.array(["a", "b"], mask=[False, True])).tolist() == ["a", None]
    assert Array(numpy.ma.array(["a", "b"], dtype=object, mask=[False, True])).tolist() == ["a", None]


def test_masked_text():
    given = numpy.ma.array(["a", "b"], mask=[False, True])
    array = Array("str", nullable=True)
    array.extend(given)
    assert array.tolist() == ["a", None]
    with pytest.raises(ERRORS, match="nullable=True"):
        Array("str").extend(given)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool", "datetime64[s]"])
@pytest.mark.parametrize("chunked", [False, True])
def test_nulls_of_arrow_raise_or_stay_nulls(dtype, chunked):
    for type_ in (pyarrow.float64(), pyarrow.int32(), pyarrow.int64(), pyarrow.bool_(), pyarrow.timestamp("s"), pyarrow.timestamp("ms")):
        given = pyarrow.array([None, None], type_)
        given = pyarrow.chunked_array([given]) if chunked else given
        for nullable in (False, True):
            array = Array(dtype, nullable=nullable)
            try:
                array.extend(given)
            except ERRORS:
                assert len(array) == 0
            else:
                assert array.null_count == 2


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_one_null_of_arrow_raises_or_stays_null(dtype):
    for type_ in (pyarrow.float64(), pyarrow.int32(), pyarrow.bool_()):
        null, chunks = pyarrow.scalar(None, type_), pyarrow.chunked_array([pyarrow.array([None], type_)])
        array = Array(dtype, nullable=True)
        array.append(null)
        array.extend(chunks)
        assert array.tolist() == [None, None]
        for use in (lambda: Array(dtype).append(null), lambda: Array(dtype).extend(chunks)):
            with pytest.raises(ERRORS, match="nullable=True"):
                use()


def test_pandas_own_missing_values():
    pandas = pytest.importorskip("pandas")
    for dtype in (*DTYPES, "str"):
        with pytest.raises(TypeError, match="nullable=True"):
            Array(dtype).append(pandas.NA)
    for values in (pandas.array([1, None]), pandas.Series([1, None], dtype="Int64")):
        array = Array("int64", nullable=True)
        array.extend(values)
        assert array.tolist() == [1, None]
        for refused in (Array("int64"), Array("float64")):
            with pytest.raises(ERRORS):
                refused.extend(values)
    times = Array("datetime64[us]")
    for lost in (pandas.Timestamp(1, unit="ns"), pandas.Series([pandas.Timestamp(1, unit="ns")])):
        with pytest.raises(OverflowError):
            times.extend(lost if hasattr(lost, "array") else [lost])
    times.extend([pandas.NaT, pandas.NA, pandas.Timestamp(1000, unit="ns")])
    assert numpy.isnat(times[:]).tolist() == [True, True, False]
