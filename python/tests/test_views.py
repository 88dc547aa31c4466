# SPDX-License-Identifier: MIT
"""What other libraries see: the same memory, while the array grows, when it is gone, and when the interpreter ends."""
import ctypes
import gc
import threading

import numpy
import pytest

import headroom_arrays
from conftest import address

pyarrow = pytest.importorskip("pyarrow")
nanoarrow = pytest.importorskip("nanoarrow")

VIEWS = {
    "memoryview": memoryview,
    "numpy": numpy.asarray,
    "dlpack": numpy.from_dlpack,
    "pyarrow": pyarrow.array,
    "nanoarrow": nanoarrow.Array,
}


def filled(count=1000, dtype="int64"):
    made = headroom_arrays.Array(dtype)
    made.extend(numpy.arange(count, dtype=dtype))
    return made


def where(view):
    """The address of a view's elements."""
    if isinstance(view, pyarrow.Array):
        return view.buffers()[1].address
    if isinstance(view, nanoarrow.Array):
        return address(numpy.asarray(nanoarrow.c_array(view).view().buffer(1)))
    return address(numpy.asarray(view))


def listed(view):
    return view.to_pylist() if hasattr(view, "to_pylist") else view.tolist()


@pytest.mark.parametrize("kind", VIEWS)
def test_a_view_is_the_memory_itself(kind, nothing_left):
    made = filled()
    view = VIEWS[kind](made)
    assert where(view) == address(made)
    assert listed(view) == list(range(1000))


@pytest.mark.parametrize("kind", VIEWS)
def test_a_view_stays_while_the_array_grows(kind, nothing_left):
    made = filled()
    view = VIEWS[kind](made)
    before = where(view)
    made.extend(numpy.arange(2_000_000))
    made.append(1)
    assert where(VIEWS[kind](made)) == before == where(view)
    assert listed(view) == list(range(1000))


@pytest.mark.parametrize("kind", VIEWS)
def test_a_view_keeps_the_memory_when_the_array_is_gone(kind, nothing_left):
    held = len(headroom_arrays.reservations())
    made = filled()
    view = VIEWS[kind](made)
    del made
    gc.collect()
    assert len(headroom_arrays.reservations()) == held + 1
    assert listed(view) == list(range(1000))
    del view
    gc.collect()
    assert len(headroom_arrays.reservations()) == held


@pytest.mark.parametrize("kind", VIEWS)
def test_a_view_may_be_empty(kind, nothing_left):
    assert listed(VIEWS[kind](headroom_arrays.Array("int64"))) == []


@pytest.mark.parametrize("kind", VIEWS)
def test_a_view_may_die_on_another_thread(kind, nothing_left):
    views = [VIEWS[kind](filled())]
    thread = threading.Thread(target=views.clear)
    thread.start()
    thread.join()


@pytest.mark.parametrize("made", ["memoryview(array)", "numpy.asarray(array)", "numpy.from_dlpack(array)", "pyarrow.array(array)",
                                  "pyarrow.table(headroom_arrays.Table({'x': array}))", "array.__arrow_c_array__()", "array.__dlpack__()",
                                  "headroom_arrays.Table({'x': array}).__arrow_c_stream__()", "nanoarrow.Array(array)"])
def test_what_is_held_when_the_interpreter_ends(made, run):
    run(f"""
import headroom_arrays, numpy, nanoarrow, pyarrow, sys
array = headroom_arrays.Array("int64")
array.extend(numpy.arange(1000))
sys.kept = [{made}, array]
sys.kept.append(sys.kept)
""")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float32", "float64", "datetime64[s]", "datetime64[ns]",
                                   "timedelta64[ms]"])
def test_arrow_agrees_about_every_type(dtype):
    made = headroom_arrays.Array(dtype)
    made.extend(numpy.arange(100).astype(dtype))
    arrow = pyarrow.array(made)
    arrow.validate(full=True)
    assert arrow.type == pyarrow.from_numpy_dtype(numpy.dtype(dtype))
    assert (arrow.to_numpy(zero_copy_only=False) == numpy.asarray(made)).all()
    checked = nanoarrow.c_array(made)
    checked.view()
    assert len(checked) == 100
    back = headroom_arrays.Array(dtype)
    back.extend(arrow)
    back.extend(arrow[10:20])
    assert (numpy.asarray(back)[100:] == numpy.asarray(made)[10:20]).all()
    assert nanoarrow.c_schema(made).format == nanoarrow.c_schema(arrow.type).format


def test_arrow_with_nulls_or_of_another_type_is_refused():
    made = headroom_arrays.Array("int64")
    with pytest.raises(ValueError, match="null"):
        made.extend(pyarrow.array([1, None]))
    with pytest.raises(TypeError, match="type"):
        made.extend(pyarrow.array([1.5]))
    assert len(made) == 0


class Given:
    """A producer that gives the same capsules whenever it is asked."""

    def __init__(self, array=None, stream=None):
        if array is not None:
            self.__arrow_c_array__ = lambda requested_schema=None: array
        if stream is not None:
            self.__arrow_c_stream__ = lambda requested_schema=None: stream


def test_a_capsule_is_taken_once():
    given = Given(array=filled(10).__arrow_c_array__())
    made = headroom_arrays.Array("int64")
    made.extend(given)
    with pytest.raises(ValueError, match="capsule held has been taken"):
        made.extend(given)
    assert made.tolist() == list(range(10))


def test_a_stream_that_another_library_took_is_refused():
    capsule = headroom_arrays.Table({"x": filled(10)}).__arrow_c_stream__()
    reader = pyarrow.RecordBatchReader._import_from_c_capsule(capsule)
    del reader
    made = headroom_arrays.Array("int64")
    with pytest.raises(ValueError, match="capsule held has been taken"):
        made.extend(Given(stream=capsule))
    assert len(made) == 0


def test_a_schema_that_names_no_type_is_refused(nothing_left):
    schema, elements = filled(10).__arrow_c_array__()
    ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    first = ctypes.c_void_p.from_address(ctypes.pythonapi.PyCapsule_GetPointer(schema, b"arrow_schema"))
    first.value = None    # its first member is the format
    with pytest.raises(ValueError, match="names no type"):
        headroom_arrays.Array("int64").extend(Given(array=(schema, elements)))


def test_numpy_may_write_and_others_see_it():
    made = filled(10)
    numpy.asarray(made)[3] = 100
    memoryview(made)[4] = 200
    assert made.tolist()[3:5] == [100, 200]
    tensor = numpy.from_dlpack(made)
    if tensor.flags.writeable:    # NumPy 1 takes every tensor for read-only
        tensor[5] = 300
        assert made[5] == 300


def test_dlpack_says_what_it_cannot_do():
    made = filled(10)
    assert made.__dlpack_device__() == (1, 0)
    assert address(numpy.from_dlpack(made)) == address(made)
    for wrong in ({"stream": 1}, {"dl_device": (2, 0)}):
        with pytest.raises((ValueError, BufferError)):
            made.__dlpack__(**wrong)
    with pytest.raises(BufferError, match="datetime64"):
        headroom_arrays.Array("datetime64[s]").__dlpack__()
    old, new, copied = made.__dlpack__(), made.__dlpack__(max_version=(1, 0)), made.__dlpack__(max_version=(1, 1), copy=True)
    assert '"dltensor"' in repr(old) and '"dltensor_versioned"' in repr(new) and '"dltensor_versioned"' in repr(copied)


def test_the_buffer_protocol_says_what_it_cannot_do():
    with pytest.raises(BufferError, match="datetime64"):
        memoryview(headroom_arrays.Array("datetime64[s]"))
    view = memoryview(filled(10))
    assert (view.format, view.itemsize, view.shape, view.strides, view.readonly) == ("q", 8, (10,), (8,), False)
    assert bytes(filled(3, "int8")) == b"\0\1\2"


def test_a_table_is_read_in_chunks(nothing_left):
    x, y = filled(10), filled(10, "float32")
    flags = headroom_arrays.Array("bool")
    flags.extend([i % 3 == 0 for i in range(10)])
    for rows in (None, 1, 3, 10, 100):
        made = headroom_arrays.Table({"x": x, "y": y, "flag": flags}, chunk_rows=rows)
        table = pyarrow.table(made)
        table.validate(full=True)
        assert table.column_names == made.column_names == ["x", "y", "flag"]
        assert table.column("x").num_chunks == (1 if rows is None else -(-10 // min(rows, 10)))
        assert table.to_pydict() == {"x": list(range(10)), "y": [float(i) for i in range(10)],
                                     "flag": [i % 3 == 0 for i in range(10)]}
        assert table.column("x").chunk(0).buffers()[1].address == address(x)
        assert pyarrow.schema(made) == table.schema
    assert made["x"].tolist() == x.tolist() and len(made) == 10


def test_a_table_shows_what_there_is_when_it_is_read():
    x = filled(10)
    made = headroom_arrays.Table({"x": x})
    x.append(10)
    assert pyarrow.table(made).num_rows == 11 == len(made)


def test_what_makes_no_table():
    with pytest.raises(ValueError):
        headroom_arrays.Table({})
    with pytest.raises(ValueError):
        headroom_arrays.Table({"x": filled(1)}, chunk_rows=0)
    with pytest.raises(ValueError):
        headroom_arrays.Table({"a\0b": filled(1)}).__arrow_c_stream__()
    with pytest.raises(TypeError):
        headroom_arrays.Table({"x": [1]})
    with pytest.raises(TypeError):
        headroom_arrays.Table({1: filled(1)})
    with pytest.raises(KeyError):
        headroom_arrays.Table({"x": filled(1)})["y"]


def test_a_table_of_itself_is_no_leak(nothing_left):
    class Holder(headroom_arrays.Array):
        pass
    made = Holder("int64")
    made.table = headroom_arrays.Table({"x": made})
    del made
