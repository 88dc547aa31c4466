# SPDX-License-Identifier: MIT
"""headroom_arrays.Array as a container: kinds of element, appending, reading, what is refused."""
import datetime
import sys
import threading
import warnings

import numpy
import pytest

import headroom_arrays

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
TIMES = [f"{kind}64[{unit}]" for kind in ("datetime", "timedelta") for unit in ("s", "ms", "us", "ns")]
ALL = ["bool", *INTEGERS, *FLOATS, *TIMES]


def numbers(dtype, count):
    return (numpy.arange(count) % 100).astype(dtype) if dtype != "bool" else numpy.arange(count) % 3 == 0


@pytest.mark.parametrize("dtype", ALL)
def test_elements_come_back_as_they_went_in(dtype):
    wanted = numbers(dtype, 1000)
    one_by_one, at_once, again = (headroom_arrays.Array(dtype) for _ in range(3))
    for each in wanted:
        one_by_one.append(each if dtype in ("bool", *TIMES) else each.item())
    at_once.extend(wanted)
    again.extend(at_once)
    for made in (one_by_one, at_once, again):
        assert len(made) == 1000
        assert made.dtype == dtype
        assert numpy.asarray(made).dtype == numpy.dtype(dtype)
        assert (numpy.asarray(made) == wanted).all()
        assert made[7] == wanted[7] and made[-1] == wanted[-1]
        assert made.tolist() == wanted.tolist()
        assert list(made)[:10] == list(wanted)[:10]
        assert (numpy.asarray(made[10:20:3]) == wanted[10:20:3]).all()


@pytest.mark.parametrize("dtype, name", [(float, "float64"), (int, "int64"), (bool, "bool"), (numpy.float32, "float32"),
                                         (numpy.dtype("u2"), "uint16"), ("<i4", "int32"), ("f8", "float64")])
def test_dtypes_have_many_names(dtype, name):
    assert headroom_arrays.Array(dtype).dtype == name


@pytest.mark.parametrize("dtype", ["x8", ">i4", "longdouble", "O", "U5", "S3", "datetime64", "M8[D]", "\ud800", 5, object(),
                                   [("a", "O")]])
def test_other_dtypes_are_no_types(dtype):
    with pytest.raises(TypeError):
        headroom_arrays.Array(dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_have_their_limits(dtype):
    limits = numpy.iinfo(dtype)
    made = headroom_arrays.Array(dtype)
    made.append(int(limits.min))
    made.append(int(limits.max))
    made.append(numpy.dtype(dtype).type(1))
    made.append(True)
    for wrong in (int(limits.max) + 1, int(limits.min) - 1, 10**30, -(10**30)):
        with pytest.raises(OverflowError, match=dtype):
            made.append(wrong)
    for wrong in (1.5, "1", None, [1], 1j):
        with pytest.raises(TypeError):
            made.append(wrong)
    assert made.tolist() == [limits.min, limits.max, 1, 1]


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_take_numbers(dtype):
    made = headroom_arrays.Array(dtype)
    for each in (1, 1.5, True, numpy.float32(2.5), float("inf")):
        made.append(each)
    for wrong in ("1", None, [1.0], 1j):
        with pytest.raises(TypeError):
            made.append(wrong)
    assert made.tolist() == [1.0, 1.5, 1.0, 2.5, float("inf")]


def test_truth_is_not_guessed():
    made = headroom_arrays.Array("bool")
    made.extend([True, False, numpy.True_])
    for wrong in (1, 0, "", None):
        with pytest.raises(TypeError):
            made.append(wrong)
    assert made.tolist() == [True, False, True]


def test_times_are_read_as_numpy_reads_them():
    made = headroom_arrays.Array("datetime64[us]")
    made.append(datetime.datetime(2026, 1, 2))
    made.append(numpy.datetime64("2026-01-02", "s"))
    made.append("2026-01-02")
    made.append(1767312000 * 10**6)
    made.extend([datetime.datetime(2026, 1, 2)])
    made.extend(numpy.array(["2026-01-02"], dtype="M8[ns]"))
    assert (numpy.asarray(made) == numpy.datetime64("2026-01-02")).all() and len(made) == 6
    for wrong in (1.5, "no time", numpy.timedelta64(1, "s")):
        with pytest.raises((TypeError, ValueError)):
            made.append(wrong)
    spans = headroom_arrays.Array("timedelta64[ms]")
    spans.append(datetime.timedelta(seconds=1))
    assert spans[0] == numpy.timedelta64(1000, "ms")


def test_what_fails_leaves_the_array_as_it_was():
    made = headroom_arrays.Array("int64", max_elements=3)
    made.extend([1, 2])
    for wrong in (numpy.arange(2), memoryview(numpy.arange(4)[::2])):
        with pytest.raises(ValueError, match="max_elements"):
            made.extend(wrong)
    with pytest.raises(ValueError):
        made.extend(numpy.zeros((1, 1), dtype="int64"))
    with pytest.raises(TypeError):
        made.extend(5)
    assert made.tolist() == [1, 2]
    made.append(3)
    with pytest.raises(ValueError, match="max_elements"):
        made.append(4)
    assert made.tolist() == [1, 2, 3]


class Interface:
    """Memory that only NumPy's interface tells of."""

    def __init__(self, of):
        self.kept, self.__array_interface__ = of, of.__array_interface__


@pytest.mark.parametrize("dtype, shape", [("datetime64[s]", ()), ("float32", (3,)), ([("a", "i4"), ("b", "f8")], ())])
def test_values_that_have_no_length_are_appended_or_refused(dtype, shape):
    made = headroom_arrays.Array(dtype, shape=shape)
    rows = numpy.zeros((2, *shape), dtype)
    made.extend(Interface(rows))
    made.extend(each for each in rows)
    made.extend([])
    made.extend(rows[:0])
    assert len(made) == 4
    one = numpy.zeros((), dtype)
    for wrong in (one, one[()], Interface(one), 5):
        with pytest.raises((TypeError, ValueError)):
            made.extend(wrong)
    assert len(made) == 4


def test_of_elements_asked_one_by_one_those_before_the_failure_stay():
    made = headroom_arrays.Array("int64")
    with pytest.raises(TypeError):
        made.extend([1, 2, "three", 4])
    assert made.tolist() == [1, 2]


def test_an_exception_of_the_iterable_comes_through():
    def numbers():
        yield 1
        raise KeyError("mine")
    made = headroom_arrays.Array("int64")
    with pytest.raises(KeyError, match="mine"):
        made.extend(numbers())
    assert made.tolist() == [1]


def test_an_element_may_append_to_the_array_that_it_becomes_part_of():
    made = headroom_arrays.Array("int64", max_elements=100)

    class Number:
        def __index__(self):
            made.append(7)
            return 8
    made.append(Number())
    made.extend([Number()])
    made.extend(made)
    assert made.tolist() == [7, 8, 7, 8] * 2


def test_a_list_may_change_while_it_is_appended():
    made, values = headroom_arrays.Array("int64"), []

    class Number:
        def __index__(self):
            values.clear()
            return 7

    values += [1, Number(), 2]
    made.extend(values)
    assert made.tolist() == [1, 7] and values == []

    class Growing:
        def __index__(self):
            if len(values) < 5:
                values.append(Growing())
            return 8

    values.append(Growing())
    made.extend(values)
    assert made.tolist() == [1, 7] + [8] * 5


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_of_every_length_come_back_or_are_refused(dtype):
    limits, made, kept = numpy.iinfo(dtype), headroom_arrays.Array(dtype), []
    near = {sign * 2**power + off for power in range(66) for sign in (1, -1) for off in (-1, 0, 1)}
    for value in sorted(near):
        if limits.min <= value <= limits.max:
            made.append(value)
            made.extend([value])
            made.extend((value,))
            kept += [value] * 3
        else:
            for append in (lambda: made.append(value), lambda: made.extend([value])):
                with pytest.raises(OverflowError):
                    append()
    assert made.tolist() == kept


def test_limits_and_room():
    made = headroom_arrays.Array("int32", max_elements=10**9)
    assert made.max_elements == 10**9 and made.itemsize == 4 and made.nbytes == 0
    made.reserve(10**6)
    assert made.capacity >= 10**6
    made.append(1)
    made.shrink_to_fit()
    assert made.capacity < 10**6 and made[0] == 1 and made.nbytes == 4
    with pytest.raises(ValueError):
        made.reserve(10**9 + 1)
    assert headroom_arrays.Array("int8").max_elements >= 2**20
    assert headroom_arrays.Array("int8", max_elements=0).max_elements == 0
    with pytest.raises(ValueError):
        headroom_arrays.Array(max_elements=-1)
    with pytest.raises(ValueError):
        headroom_arrays.Array(max_elements=2**61)
    with pytest.raises(MemoryError, match="address space"):
        headroom_arrays.Array(max_elements=2**45)
    with pytest.raises(TypeError):
        headroom_arrays.Array(max_elements="many")


def test_indices():
    made = headroom_arrays.Array("int64")
    made.extend(range(5))
    made[0] = 10
    made[-1] = 14
    assert made.tolist() == [10, 1, 2, 3, 14]
    for wrong in (5, -6, 10**30):
        with pytest.raises(IndexError):
            made[wrong]
    with pytest.raises(IndexError):
        made[5] = 0
    with pytest.raises(TypeError):
        made["x"]
    with pytest.raises(TypeError):
        made[0] = "x"
    assert 14 in made and 15 not in made


def test_one_that_was_not_initialised_says_so():
    raw = headroom_arrays.Array.__new__(headroom_arrays.Array)
    for use in (lambda: raw.append(1), lambda: raw.extend([1]), lambda: memoryview(raw), lambda: len(raw), lambda: raw[0],
                lambda: iter(raw), lambda: headroom_arrays.Table({"a": raw})):
        with pytest.raises(TypeError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use()


def test_subclasses_and_weak_references():
    import weakref

    class Named(headroom_arrays.Array):
        pass
    made = Named("int64")
    made.name = "mine"
    made.append(1)
    gone = weakref.ref(made)
    assert made.tolist() == [1]
    del made
    assert gone() is None


def test_threads_lose_nothing():
    made = headroom_arrays.Array("int64")
    chunk = numpy.arange(10)

    def work():
        for i in range(2000):
            made.append(i)
            made.extend(chunk)
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    sys.setswitchinterval(5e-3)
    assert len(made) == 4 * 2000 * 11
    assert int(numpy.asarray(made).sum()) == 4 * (2000 * 1999 // 2 + 2000 * 45)


def test_stubs_name_what_there_is():
    import ast
    import pathlib
    stub = ast.parse(pathlib.Path(headroom_arrays.__file__).with_name("__init__.pyi").read_text())
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name != "__buffer__":
                    assert hasattr(getattr(headroom_arrays, node.name), member.name), (node.name, member.name)
            ours = {name for name in vars(getattr(headroom_arrays, node.name)) if not name.startswith("_")}
            assert ours <= {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
            for name in ours:
                assert getattr(headroom_arrays, node.name).__dict__[name].__doc__


def test_arrow_chunks_are_appended_one_after_the_other():
    pa = pytest.importorskip("pyarrow")
    array = headroom_arrays.Array("int64")
    array.extend(pa.chunked_array([[1, 2], [], [3]], pa.int64()))
    assert list(array) == [1, 2, 3]
    array.extend(pa.chunked_array([[4]], pa.int32()))    # another type: one by one
    assert list(array) == [1, 2, 3, 4]
    truths = headroom_arrays.Array("bool")
    truths.extend(pa.chunked_array([[True, False], [True]]))
    assert list(truths) == [True, False, True]


def test_what_arrow_has_and_an_array_has_not_is_a_type_error_that_says_what_fits():
    pa = pytest.importorskip("pyarrow")
    array = headroom_arrays.Array("int64")
    for given, words in ((pa.array([{"a": 1}]), "columns one by one"), (pa.array([[1, 2]]), "of a list its values"),
                         (pa.table({"a": [1, 2]}), "columns one by one"), (pa.record_batch({"a": [1]}), "columns one by one"),
                         (pa.array(["x"]), "cast it first"), (pa.array([1.5]), "cast it first")):
        with pytest.raises(TypeError, match=words):
            array.extend(given)
    assert len(array) == 0
    with pytest.raises(ValueError, match="null"):
        array.extend(pa.array([1, None]))


def test_a_second_interpreter_is_refused_and_the_first_goes_on(run):
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            __import__(name)
            break
        except ImportError:
            continue
    else:
        pytest.skip("this Python does not say which interpreter it is")
    told = run(f"""
import headroom_arrays, {name} as interpreters
made = headroom_arrays.Array("int64")
other = interpreters.create()
program = "try:\\n  import headroom_arrays\\nexcept ImportError as error:\\n  print('main interpreter' in str(error), flush=True)"
interpreters.run_string(other, program)
made.extend([1, 2])
print(made.tolist(), repr(made))
""")
    assert told == "True\n[1, 2] headroom_arrays.Array(dtype='int64', size=2)\n"
