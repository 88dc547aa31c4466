# SPDX-License-Identifier: MIT
"""A value becomes an element without loss, or raises and changes nothing: by every way into an array."""
import datetime
import warnings

import numpy
import pytest

from headroom_arrays import Array, Table

pyarrow = pytest.importorskip("pyarrow")
compute = pytest.importorskip("pyarrow.compute")
ERRORS = (TypeError, ValueError, OverflowError)


@pytest.fixture(autouse=True)
def no_warnings():
    """A warning that a part of a value is lost is not enough."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def assign(array, key, value):
    array[key] = value


def in_table(array, use):
    use(Table({"x": array}))


WAYS = {    # how a NumPy scalar of the values comes in
    "append": lambda array, one: array.append(one),
    "extend by an array": lambda array, one: array.extend(numpy.array([one])),
    "extend by every second of an array": lambda array, one: array.extend(numpy.array([one, one])[::2]),
    "extend by a list": lambda array, one: array.extend([one]),
    "extend by a tuple": lambda array, one: array.extend((one,)),
    "extend by an iterator": lambda array, one: array.extend(iter([one])),
    "an item": lambda array, one: assign(array, 0, one),
    "a slice of one": lambda array, one: assign(array, slice(0, 1), numpy.array([one])),
    "a slice of a list": lambda array, one: assign(array, slice(0, 1), [one]),
    "a slice of one value": lambda array, one: assign(array, slice(0, 1), one),
    "a row of a table": lambda array, one: in_table(array, lambda table: table.append((one,))),
    "columns of a table": lambda array, one: in_table(array, lambda table: table.extend({"x": numpy.array([one])})),
}
LOST = {    # dtype: what it cannot hold
    "datetime64[ns]": [numpy.datetime64("2500-01-01"), numpy.datetime64("1500-01-01", "us"), numpy.datetime64(10**12, "Y")],
    "datetime64[s]": [numpy.datetime64(1500, "ms"), numpy.datetime64(1, "ns"), numpy.datetime64(-1, "us"), numpy.datetime64(1, "ps")],
    "datetime64[us]": [numpy.datetime64(1, "ns"), numpy.datetime64(2**62, "s")],
    "timedelta64[ns]": [numpy.timedelta64(2**62, "ms"), numpy.timedelta64(300 * 366, "D")],
    "timedelta64[ms]": [numpy.timedelta64(1001, "us")],
    "float64": [numpy.complex128(1 + 2j), numpy.complex64(1), numpy.int64(2**53 + 1), numpy.uint64(2**64 - 1), numpy.timedelta64(5, "s"),
                numpy.datetime64(5, "s")],
    "float32": [numpy.complex64(1 + 2j), numpy.int32(2**24 + 1), numpy.int64(2**62 + 1)],
    "float16": [numpy.complex64(1j), numpy.int16(2049), numpy.int32(70000)],
    "complex128": [numpy.int64(2**53 + 1), numpy.timedelta64(5, "s"), numpy.datetime64(5, "s")],
    "complex64": [numpy.int64(2**24 + 1)],
    "int64": [numpy.float64(1.5), numpy.complex128(1), numpy.uint64(2**63), numpy.datetime64(5, "ns"), numpy.timedelta64(5, "ns")],
    "uint8": [numpy.int64(256), numpy.int8(-1), numpy.float32(1.5)],
    "bool": [numpy.int64(2), numpy.float64(0.5)],
}


def zero(dtype):
    return False if dtype == "bool" else 0


@pytest.mark.parametrize("file", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", LOST)
def test_what_would_be_lost_raises(dtype, way, file, tmp_path):
    for i, one in enumerate(LOST[dtype]):
        array = Array(dtype, path=tmp_path / str(i) if file else None)
        array.append(zero(dtype))
        before = array.tolist()
        with pytest.raises(ERRORS):
            WAYS[way](array, one)
        assert array.tolist() == before, one


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", LOST)
def test_what_would_be_lost_of_a_row_raises(dtype, way):
    for one in LOST[dtype]:
        for row in (numpy.array([one, one]), [one, one]):
            array = Array(dtype, shape=(2,))
            array.append([zero(dtype)] * 2)
            before = array.tolist()
            with pytest.raises(ERRORS):
                WAYS[way](array, row)
            assert array.tolist() == before, row


@pytest.mark.parametrize("dtype", [each for each in LOST if not each.startswith("complex")])
def test_what_would_be_lost_of_an_array_with_nulls_raises(dtype):
    for one in LOST[dtype]:
        for way in WAYS:
            array = Array(dtype, nullable=True)
            array.append(zero(dtype))
            before = array.tolist()
            with pytest.raises(ERRORS):
                WAYS[way](array, one)
            assert array.tolist() == before, (one, way)


def test_integers_of_python_that_a_float_would_round_raise():
    for dtype, last in (("float16", 2**11), ("float32", 2**24), ("float64", 2**53), ("complex64", 2**24), ("complex128", 2**53)):
        array, rows = Array(dtype), Array(dtype, shape=(2,))
        for kept in (last, -last, 2 * last):
            if abs(kept) < 65504:
                array.append(kept)
                rows.append([kept, 1.5])
                assert array[-1] == kept == rows[-1][0]
        for lost in (last + 1, -last - 1, 2 * last + 1, 10**400):
            for use in (lambda: array.append(lost), lambda: array.extend([lost]), lambda: rows.append([lost, 1.5])):
                with pytest.raises(ERRORS):
                    use()


@pytest.mark.parametrize("values", [
    [numpy.datetime64("2500-01-01", "s"), numpy.datetime64(1, "ns")],
    ["2500-01-01", "2020-01-01T00:00:00.000000001"],
    [[numpy.datetime64("2500-01-01", "s")], [numpy.datetime64(1, "ns")]],
    [numpy.array(["2500-01-01"], "M8[s]"), numpy.array([1], "M8[ns]")],
])
def test_times_of_several_units_in_a_list_do_not_wrap(values):
    array = Array("datetime64[ns]", shape=() if isinstance(values[0], (str, numpy.datetime64)) else (1,))
    with pytest.raises(OverflowError):
        array.extend(values)
    assert len(array) == 0


def test_an_array_of_times_of_several_units_does_not_wrap():
    with pytest.raises(OverflowError):
        Array([numpy.datetime64("2500-01-01", "s"), numpy.datetime64(1, "ns")])


def test_integers_of_several_kinds_in_a_list_are_not_rounded():
    for values in ([numpy.uint64(2**63 + 1), numpy.int64(-1)], [numpy.int64(2**53 + 1), numpy.float64(1)], [2**53 + 1, 1.5]):
        with pytest.raises(ERRORS):
            Array(values)
        with pytest.raises(ERRORS):
            Array("float64", shape=(2,)).append(values)


def test_an_array_of_values_of_a_finer_unit_raises():
    with pytest.raises(OverflowError):
        Array(numpy.array([1], "M8[ps]"))
    assert Array(numpy.array([1], "M8[D]")).tolist() == [datetime.datetime(1970, 1, 2)]


def test_times_that_fit_are_converted():
    array = Array("datetime64[s]")
    array.extend(numpy.array(["2026-01-01", "NaT"], "M8[ns]"))
    array.extend([datetime.datetime(2500, 1, 1), None, "2026-01-01", numpy.datetime64("NaT")])
    assert numpy.array_equal(array[:], numpy.array(["2026-01-01", "NaT", "2500-01-01", "NaT", "2026-01-01", "NaT"], "M8[s]"), equal_nan=True)


def test_microseconds_of_a_datetime_are_not_cut():
    for dtype, one in (("datetime64[s]", datetime.datetime(2026, 1, 1, 0, 0, 0, 1)), ("timedelta64[ms]", datetime.timedelta(microseconds=1)),
                       ("datetime64[s]", "2026-01-01T00:00:00.5")):
        for use in (lambda: Array(dtype).append(one), lambda: Array(dtype).extend([one])):
            with pytest.raises(OverflowError):
                use()


@pytest.mark.parametrize("field, lost", [("i1", 300), ("i4", 1.5), ("i1", numpy.int64(300)), ("S3", b"abcd"), ("U2", "abc"), ("f4", 2**24 + 1),
                                         ("M8[s]", numpy.datetime64(1, "ms")), ("M8[ns]", numpy.datetime64("2500-01-01")),
                                         ("f8", numpy.complex128(1j)), ((numpy.int8, 2), [1, numpy.int64(300)])])
def test_what_would_be_lost_of_a_structure_raises(field, lost):
    dtype = numpy.dtype([("a", "i4"), ("b", *field)] if isinstance(field, tuple) else [("a", "i4"), ("b", field)], align=True)
    array = Array(dtype)
    array.append(numpy.zeros((), dtype))
    uses = [lambda: array.append((1, lost)), lambda: array.extend([(1, lost)]), lambda: assign(array, 0, (1, lost)),
            lambda: Table({"x": array}).append(((1, lost),))]
    if not isinstance(lost, list):
        other = numpy.zeros(1, [("a", "i4"), ("b", numpy.asarray(lost).dtype)])
        other["b"] = lost
        uses += [lambda: array.extend(other), lambda: array.append(other[0]), lambda: assign(array, slice(0, 1), other)]
    for use in uses:
        with pytest.raises(ERRORS):
            use()
    assert (array[:] == numpy.zeros(1, dtype)).all()


def test_structures_that_fit_are_converted():
    array = Array([("a", "i1"), ("b", "M8[s]"), ("c", "f4", (2,)), ("d", [("e", "S2")])])
    array.append((1, "2026-01-01", [1, 2], (b"x",)))
    array.extend(numpy.array([(2, 86400, [3, 4], (b"yz",))], [("p", "i8"), ("q", "M8[s]"), ("r", "f8", (2,)), ("s", [("t", "S5")])]))
    assert array[:]["a"].tolist() == [1, 2] and array[:]["c"].tolist() == [[1, 2], [3, 4]] and array[:]["d"]["e"].tolist() == [b"x", b"yz"]


SOURCES = {
    "bool": [True, False], "int8": [-128, 127, 1], "uint8": [255, 0], "int32": [-2**31, 2**31 - 1, 2**24 + 1, 7],
    "int64": [-2**63 + 1, 2**63 - 1, 2**53 + 1, 2**53, 2049, 1], "uint64": [2**64 - 1, 2**63, 1],
    "float16": [1.5, 65504.0, numpy.nan], "float32": [0.1, 1e30, -1.0], "float64": [0.1, 1.0, numpy.inf, numpy.nan, 2.0**60],
    **{f"{kind}64[{unit}]": [0, 1, -1, 1000, 10**6, 10**9, 2**62, 2**63 - 1, 16725225600 * scale, -(2**63)]
       for kind in ("datetime", "timedelta") for unit, scale in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 0))},
}


@pytest.mark.parametrize("to", SOURCES)
@pytest.mark.parametrize("of", SOURCES)
def test_an_array_takes_what_a_safe_cast_of_pyarrow_takes(of, to):
    """Of what pyarrow takes an array may refuse some; integers that a float holds exactly it takes in addition."""
    def arrow_type(name):
        return pyarrow.from_numpy_dtype(numpy.dtype(name))
    for value in numpy.array(SOURCES[of], of):
        one = numpy.array([value], of)
        try:
            arrow = pyarrow.array(one)
            if of == "bool" and "float" in to:
                arrow = arrow.cast(pyarrow.int8())
            if to[:4] in ("date", "time") and "int" in of:
                arrow = arrow.cast(pyarrow.int64())    # the count of their units
            wanted = arrow.cast(arrow_type(to), safe=True).to_numpy(zero_copy_only=False)
        except pyarrow.ArrowInvalid:
            with numpy.errstate(all="ignore"):
                made = one.astype(to)
            exact = "int" in of and "float" in to and numpy.isfinite(made[0]) and int(made[0]) == int(value)
            wanted = made if exact else None
        except pyarrow.ArrowNotImplementedError:
            wanted = None
        for use in (lambda array: array.extend(one), lambda array: array.append(value), lambda array: array.extend([value])):
            array = Array(to)
            try:
                use(array)
            except ERRORS:
                assert len(array) == 0 and (wanted is None or of.partition("[")[0] != to.partition("[")[0]), (value, wanted)
            else:
                assert wanted is not None, value
                with numpy.errstate(all="ignore"):
                    wanted = wanted.astype(to)
                assert numpy.array_equal(numpy.asarray(array), wanted, equal_nan=to != "bool"), (value, wanted)
