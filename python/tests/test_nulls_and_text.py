# SPDX-License-Identifier: MIT
"""Elements that may be null, text, rows of numbers, structures, and the numbers that Arrow and C++ know less of."""
import pickle

import numpy
import pytest

import headroom_arrays
from conftest import address

pyarrow = pytest.importorskip("pyarrow")
nanoarrow = pytest.importorskip("nanoarrow")
Array = headroom_arrays.Array

NUMBERS = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64"]
WORDS = ["", "a", "čeština", "🙂", "x" * 5000, "zero\0byte"]


def number(dtype, i):
    return i % 3 == 0 if dtype == "bool" else float(i % 100) if dtype.startswith("f") else i % 100


def patterns(count):
    """Which elements are null: none, all, every third, all but the last ones."""
    return [[False] * count, [True] * count, [i % 3 == 1 for i in range(count)], [i < count - 2 for i in range(count)]]


@pytest.mark.parametrize("dtype", [*NUMBERS, "str"])
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1000])
def test_nulls_come_back_as_they_went_in(dtype, count):
    for nulls in patterns(count):
        values = [None if null else WORDS[i % len(WORDS)] if dtype == "str" else number(dtype, i) for i, null in enumerate(nulls)]
        one_by_one, at_once, again, back = (Array(dtype, nullable=True) for _ in range(4))
        for each in values:
            one_by_one.append(each)
        at_once.extend(values)
        again.extend(at_once)
        arrow = pyarrow.array(at_once)
        arrow.validate(full=True)
        back.extend(arrow)
        for made in (one_by_one, at_once, again, back, pickle.loads(pickle.dumps(at_once))):
            assert made.tolist() == values and list(made) == values and made[:] == values
            assert made.null_count == sum(nulls) and len(made) == count and made.nullable
        assert arrow.to_pylist() == values and arrow.null_count == sum(nulls)
        nanoarrow.c_array(at_once).view()


def test_nulls_are_where_the_bits_say_it_in_parts_of_arrow_arrays():
    values = [None if i % 5 == 2 else i for i in range(100)]
    made = Array("int64", nullable=True)
    made.append(None)
    made.extend(pyarrow.array(values)[3:50])
    made.extend(pyarrow.array(values)[50:])
    assert made.tolist() == [None, *values[3:]]


def test_an_array_without_nullable_takes_no_nulls():
    for dtype, value in (("int64", 1), ("bool", True), ("float64", 1.5), ("str", "x")):
        made = Array(dtype)
        made.append(value)
        for wrong in (lambda: made.append(None), lambda: made.extend([None])):
            with pytest.raises(TypeError, match="nullable=True"):
                wrong()
        with pytest.raises((ValueError, TypeError), match="nullable=True"):
            made.extend(pyarrow.array([value, None]))
        assert made.tolist() == [value] and made.null_count == 0
    for wrong in ({"dtype": "complex64"}, {"dtype": [("a", "i4")]}, {"dtype": "float32", "shape": (2,)}):
        with pytest.raises(TypeError, match="never null"):
            Array(nullable=True, **wrong)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_not_a_time_is_null(kind, unit):
    made = Array(f"{kind}[{unit}]")
    made.extend(numpy.array([1, 2, 3], dtype=f"{kind}[{unit}]"))
    assert pyarrow.array(made).null_count == 0 and pyarrow.array(made).buffers()[0] is None
    made.append(None)
    made.extend([numpy.timedelta64("NaT") if kind == "timedelta64" else numpy.datetime64("NaT")])
    numpy.asarray(made)[0] = "NaT"    # nobody told us
    arrow = pyarrow.array(made)
    arrow.validate(full=True)
    assert arrow.is_null().to_pylist() == [True, False, False, True, True] and made.null_count == 3
    assert arrow.buffers()[1].address == address(made)
    back = Array(f"{kind}[{unit}]")
    back.extend(arrow)
    assert numpy.isnat(numpy.asarray(back)).tolist() == [True, False, False, True, True]


def test_not_a_time_is_null_in_rows_of_times():
    made = Array("datetime64[s]", shape=(3,))
    made.extend(numpy.arange(30).astype("M8[s]").reshape(10, 3))
    numpy.asarray(made)[4, 1] = "NaT"
    arrow = pyarrow.array(made)
    arrow.validate(full=True)
    assert arrow[4].as_py()[1] is None and arrow.flatten().null_count == 1 and made.null_count == 0
    table = pyarrow.table(headroom_arrays.Table({"x": made}, chunk_rows=3))
    table.validate(full=True)
    assert table["x"].to_pylist() == arrow.to_pylist()
    back = Array("datetime64[s]", shape=(3,))
    back.extend(arrow)
    back.extend(arrow[4:6])
    back.extend(table["x"])
    assert numpy.array_equal(numpy.asarray(back), numpy.asarray(made)[[*range(10), 4, 5, *range(10)]], equal_nan=True)
    with pytest.raises(ValueError, match="null"):
        Array("int64", shape=(1,)).extend(pyarrow.array([[None]], pyarrow.list_(pyarrow.int64(), 1)))


def test_what_numpy_sees_of_nulls():
    floats, ints, truths = Array([1.5, None]), Array([1, None, 3]), Array([True, None])
    assert numpy.isnan(numpy.asarray(floats)[1]) and address(numpy.asarray(floats)) == address(floats)
    assert numpy.asarray(ints).dtype == "float64" and numpy.isnan(numpy.asarray(ints)[1]) and numpy.asarray(ints)[2] == 3
    assert numpy.asarray(truths).tolist() == [True, None]
    assert numpy.asarray(Array(["a", "b"])).tolist() == ["a", "b"]
    for refused in (lambda: memoryview(floats), lambda: floats.__dlpack__()):
        with pytest.raises(BufferError, match="null"):
            refused()
    ints[1] = 2
    assert ints.tolist() == [1, 2, 3] and numpy.asarray(ints).dtype == "int64"
    ints[0] = None
    assert ints.tolist() == [None, 2, 3]
    ints[0:2] = [7, None]
    assert ints.tolist() == [7, None, 3]


def test_text_is_shared_with_arrow():
    made = Array("str")
    made.extend(WORDS)
    arrow = pyarrow.array(made)
    arrow.validate(full=True)
    assert arrow.type == pyarrow.large_string() and arrow.to_pylist() == WORDS
    offsets, data = arrow.buffers()[1:]
    for _ in range(50_000):
        made.append("grows")
    assert arrow.to_pylist() == WORDS
    again = pyarrow.array(made).buffers()[1:]
    assert (again[0].address, again[1].address) == (offsets.address, data.address)    # zero-copy, and it did not move
    assert made[1] == "a" and made[-1] == "grows" and made[2:4] == WORDS[2:4] and len(made) == 50_006
    made.truncate(3)
    made.append("new")
    assert made.tolist() == [*WORDS[:3], "new"]
    pyarrow.array(made).validate(full=True)


@pytest.mark.parametrize("nullable", [False, True])
def test_text_of_a_file_that_nothing_was_appended_to_is_empty_for_arrow(tmp_path, nullable):
    Array("str", nullable=nullable, path=tmp_path / "text").close()
    reader = Array("str", nullable=nullable, path=tmp_path / "text", mode="r")
    for arrow in (pyarrow.array(reader), pyarrow.table(headroom_arrays.Table({"text": reader}))["text"]):
        arrow.validate(full=True)
        assert arrow.to_pylist() == []


@pytest.mark.parametrize("values", [tuple(WORDS), iter(WORDS), numpy.array(["a", "bc"]), pyarrow.array(["a", "bc"]),
                                    pyarrow.array(["a", "bc"], pyarrow.large_string()), pyarrow.chunked_array([["a"], ["bc"]])])
def test_text_comes_from_everywhere(values):
    wanted = WORDS if not hasattr(values, "__len__") or isinstance(values, tuple) else ["a", "bc"]
    made = Array("str")
    made.extend(values)
    assert made.tolist() == wanted


def test_what_is_no_text():
    made = Array("str")
    for wrong in (1, b"x", 1.5, ["x"]):
        with pytest.raises(TypeError, match="str is wanted"):
            made.append(wrong)
    with pytest.raises(UnicodeEncodeError):
        made.append("\ud800")
    with pytest.raises(TypeError, match="cannot be changed"):
        made[0:0] = ["x"]
    for refused in (lambda: memoryview(made), lambda: made.__dlpack__()):
        with pytest.raises(BufferError):
            refused()
    assert made.tolist() == [] and pyarrow.array(made).to_pylist() == []


@pytest.mark.parametrize("shape", [(3,), (2, 3), (768,)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "float16", "datetime64[s]"])
def test_rows_of_numbers(shape, dtype):
    made = Array(dtype, shape=shape)
    wanted = (numpy.arange(20 * int(numpy.prod(shape))) % 2).reshape(20, *shape).astype(dtype)
    made.append(wanted[0])
    view = numpy.asarray(made)
    made.append(wanted[1].tolist())
    made.extend(wanted[2:10])
    made.extend(numpy.asfortranarray(wanted)[10:])
    assert made.shape == (20, *shape) and len(made) == 20
    assert (numpy.asarray(made) == wanted).all() and numpy.asarray(made).dtype == dtype
    assert view.shape == (1, *shape) and address(view) == address(made) and (view[0] == wanted[0]).all()
    assert (made[3] == wanted[3]).all() and (made[-1] == wanted[-1]).all() and (numpy.asarray(made[2:4]) == wanted[2:4]).all()
    made[3] = wanted[2]
    assert (made[3] == wanted[2]).all()
    assert made.tolist() == numpy.asarray(made).tolist()
    if dtype != "datetime64[s]":
        tensor = numpy.from_dlpack(made)
        assert tensor.shape == (20, *shape) and address(tensor) == address(made)
    arrow = pyarrow.array(made)
    arrow.validate(full=True)
    assert numpy.asarray(arrow.to_pylist()).shape == (20, *shape)
    nanoarrow.c_array(made).view()
    if dtype != "bool" and len(shape) == 1:
        assert arrow.flatten().buffers()[1].address == address(made)
    if len(shape) == 1:
        back = Array(dtype, shape=shape)
        back.extend(arrow)
        back.extend(arrow[5:7])
        assert (numpy.asarray(back)[20:] == numpy.asarray(made)[5:7]).all()
    for wrong in (wanted[0].ravel()[:2], 1, wanted):
        with pytest.raises((ValueError, TypeError)):
            made.append(wrong)
    with pytest.raises((ValueError, TypeError)):
        made.extend(wanted.ravel()[:5])
    assert len(made) == 20
    assert (numpy.asarray(pickle.loads(pickle.dumps(made, 5))) == numpy.asarray(made)).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "int64"])
def test_integers_of_rows_come_back_or_are_refused(dtype):
    limits = numpy.iinfo(dtype)
    made = Array(dtype, shape=(2,))
    table = headroom_arrays.Table({"x": made})
    for fits in ([0, 1], [limits.max, 1], [limits.min, 0], [True, False], numpy.array([7, 9], "uint64"), numpy.array([7, 9], "int64")):
        made.append(fits)
        made.extend([fits])
        made.extend(numpy.array([[7, 9]]))
        table.append((fits,))
        made[0] = fits
        assert (made.tolist()[-4:] == [list(fits), list(fits), [7, 9], list(fits)]) and made.tolist()[0] == list(fits)
    kept = made.tolist()
    for wrong in ([int(limits.max) + 1, 1], [int(limits.min) - 1, 1], [2**70, 1]):
        for use in (lambda: made.append(wrong), lambda: made.extend([wrong]), lambda: made.extend(numpy.array([wrong], object)),
                    lambda: table.append((wrong,)), lambda: made.__setitem__(0, wrong), lambda: made.__setitem__(slice(0, 1), [wrong])):
            with pytest.raises(OverflowError):
                use()
    if limits.max < 2**63 - 1:
        with pytest.raises(OverflowError, match=dtype):
            made.extend(numpy.array([[limits.max, 1]], "int64") + 1)
    for wrong in ([1.5, 1], [None, 1], ["1", 1]):
        with pytest.raises(TypeError):
            made.append(wrong)
    assert made.tolist() == kept


def test_numbers_of_16_bits_round_as_numpy_rounds():
    values = [float(each) for each in numpy.arange(0, 65536, dtype="uint16").view("float16")[::7] if numpy.isfinite(each)]
    values += [each * (1 + 2**-11) for each in values] + [1e-8, 2.98e-8, 5.9e-8, 65519.9, 65520.0, 1e300, -1e300, float("inf"), -0.0, 2**-14]
    made = Array("float16")
    made.extend(values)
    made.append(float("nan"))
    with numpy.errstate(over="ignore"):
        wanted = numpy.array([*values, float("nan")]).astype("float16")
    assert (numpy.asarray(made).view("uint16")[:-1] == wanted.view("uint16")[:-1]).all() and numpy.isnan(made[-1])
    assert made.tolist()[:-1] == wanted.tolist()[:-1]
    assert pyarrow.array(made).type == pyarrow.float16()


def test_complex_numbers():
    for dtype in ("complex64", "complex128", complex):
        made = Array(dtype)
        made.append(1 + 2j)
        made.extend([3, 4.5, numpy.complex64(1j)])
        made.extend(numpy.arange(3, dtype=made.dtype))
        assert made.tolist() == [1 + 2j, 3, 4.5, 1j, 0, 1, 2] == list(made)
        assert numpy.asarray(made).dtype == made.dtype and address(numpy.from_dlpack(made)) == address(made)
        assert made[1:3].tolist() == [3, 4.5]
        with pytest.raises(TypeError, match="Arrow"):
            made.__arrow_c_array__()
        with pytest.raises(TypeError):
            made.append("x")


def test_structures():
    dtype = numpy.dtype([("id", "i4"), ("price", "f8"), ("tag", "S3")])
    made = Array(dtype)
    made.append((1, 2.5, b"abc"))
    made.extend([(2, 3.5, b"x"), (3, 4.5, b"")])
    made.extend(numpy.array([(4, 5.5, b"y")], dtype=dtype))
    seen = numpy.asarray(made)
    assert seen.dtype == dtype and seen["id"].tolist() == [1, 2, 3, 4] and address(seen) == address(made)
    assert made[0]["price"] == 2.5 and made[1:3]["id"].tolist() == [2, 3]
    assert made.tolist() == seen.tolist()
    back = pickle.loads(pickle.dumps(made))
    assert (numpy.asarray(back) == seen).all()
    with pytest.raises(TypeError, match="Python objects"):
        Array([("a", "O")])
    for wrong in ((1,), "x"):
        with pytest.raises((TypeError, ValueError)):
            made.append(wrong)
    assert len(made) == 4


@pytest.mark.parametrize("align", [False, True])
def test_structures_with_times_have_the_fields_that_they_were_made_of(align, tmp_path):
    dtype = numpy.dtype([("t", "M8[s]"), ("x", "i1"), ("y", "f8")], align=align)
    made = Array(dtype, path=tmp_path / "column")
    made.append((numpy.datetime64(5, "s"), 1, 2.5))
    made.extend(numpy.zeros(3, dtype))
    seen = numpy.asarray(made)
    assert seen.dtype == dtype and seen.shape == (4,) and seen["y"].tolist() == [2.5, 0, 0, 0]
    seen["x"][1] = 7
    assert made[1]["x"] == 7 and made.tolist() == seen.tolist() and numpy.asarray(made).ctypes.data == seen.ctypes.data
    with pytest.raises(BufferError):
        memoryview(made)
    made.commit()
    reader = Array(dtype, path=tmp_path / "column", mode="r")
    assert not numpy.asarray(reader).flags.writeable and reader.tolist() == seen.tolist()
    del made
    assert seen["x"].tolist() == [1, 7, 0, 0]


@pytest.mark.parametrize("values, dtype, nullable", [
    ([1, 2, 3], "int64", False), ((1, 2.5), "float64", False), ([True, False], "bool", False), (["a", "b"], "str", False),
    ([1, None], "int64", True), ([None, "a"], "str", True), ([], "float64", False), (range(5), "int64", False), ([1j, 2], "complex128", False),
    (numpy.arange(3, dtype="int16"), "int16", False), (numpy.array(["a"]), "str", False), (bytearray(b"abc"), "uint8", False),
    (pyarrow.array([1.5, None]), "float64", True), (pyarrow.array(["x"]), "str", False), ((i for i in range(3)), "int64", False),
    (numpy.array(["2026-01-01"], dtype="M8[D]"), "datetime64[s]", False)])
def test_an_array_of_values_says_itself_what_they_are(values, dtype, nullable):
    kept = list(values) if not hasattr(values, "__len__") else values
    made = Array(kept)
    assert made.dtype == dtype and made.nullable == nullable and len(made) == len(kept)
    again = Array(made)
    assert again.tolist() == made.tolist() and again.nullable == nullable


@pytest.mark.parametrize("dtype, shape", [("int8", (2**62, 2)), ("float64", (2**60,)), ([("a", "V16777216")], (2**40,)),
                                          ([("a", "V16777216")], (2**20, 2**20))])
def test_elements_that_are_too_large_are_refused(dtype, shape):
    with pytest.raises(ValueError, match="that large"):
        Array(dtype, shape=shape)


def test_values_of_several_dimensions_and_of_none():
    made = Array(numpy.ones((3, 2), "float32"))
    assert made.shape == (3, 2) and made.dtype == "float32"
    for wrong in (5, object(), [object()], ["a", 1]):
        with pytest.raises(TypeError):
            Array(wrong)
