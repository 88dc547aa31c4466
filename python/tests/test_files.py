# SPDX-License-Identifier: MIT
"""Arrays whose elements live in a file: other processes open them by name, and see them grow."""
import errno
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy
import pytest

import headroom_arrays

KINDS = ["bool", "int8", "uint32", "int64", "float32", "float64", "datetime64[us]", "timedelta64[s]"]


def numbers(dtype, count=1000):
    return (numpy.arange(count) % 100).astype(dtype)


@pytest.mark.parametrize("dtype", KINDS)
def test_elements_outlive_the_array(dtype, tmp_path, nothing_left):
    path = tmp_path / "column"
    made = headroom_arrays.Array(dtype, path=path)
    made.extend(numbers(dtype))
    assert made.path == str(path) and (numpy.asarray(made) == numbers(dtype)).all()
    del made
    back = headroom_arrays.Array(dtype, path=path, mode="r")
    assert (numpy.asarray(back) == numbers(dtype)).all()
    del back
    more = headroom_arrays.Array(dtype, path=path, mode="a")
    more.append(numbers(dtype)[1].item() if dtype != "timedelta64[s]" and not dtype.startswith("date") else 1)
    more.extend(more)
    assert len(more) == 2002


def test_structures_outlive_the_array(tmp_path):
    dtype = numpy.dtype([("id", "i4"), ("price", "f8"), ("tag", "S3")])
    wanted = numpy.array([(1, 2.5, b"abc"), (2, 3.5, b"")], dtype)
    headroom_arrays.Array(dtype, path=tmp_path / "column").extend(wanted)
    reader = headroom_arrays.Array(dtype, path=tmp_path / "column", mode="r")
    assert (numpy.asarray(reader) == wanted).all() and (numpy.asarray(pickle.loads(pickle.dumps(reader))) == wanted).all()
    with pytest.raises(ValueError):
        headroom_arrays.Array([("number", "i4"), ("price", "f8"), ("tag", "S3")], path=tmp_path / "column", mode="r")


def test_a_view_stays_while_the_file_grows(tmp_path):
    made = headroom_arrays.Array("int64", path=tmp_path / "column")
    made.append(1)
    view = numpy.asarray(made)
    before = view.__array_interface__["data"][0]
    made.extend(numpy.arange(1_000_000))
    assert numpy.asarray(made).__array_interface__["data"][0] == before
    del made
    assert view.tolist() == [1]


def test_a_reader_follows_the_writer_live(tmp_path, run):
    made = headroom_arrays.Array("int64", path=tmp_path / "column")
    made.extend(range(10))
    reader = headroom_arrays.Array("int64", path=tmp_path / "column", mode="r")
    assert len(reader) == 0    # nothing is published yet
    made.publish()
    reader.refresh()
    assert reader.tolist() == list(range(10))
    made.append(10)
    made.commit()
    assert len(reader) == 10
    reader.refresh()
    assert reader[10] == 10
    told = run("import headroom_arrays, sys; a = headroom_arrays.Array('int64', path=sys.argv[1], mode='r'); print(len(a), sum(a))", made.path)
    assert told.split() == ["11", "55"]


def test_a_reader_reads_only(tmp_path):
    headroom_arrays.Array("int64", path=tmp_path / "column").extend([1, 2])
    reader = headroom_arrays.Array("int64", path=tmp_path / "column", mode="r")
    for write in (lambda: reader.append(1), lambda: reader.extend([1]), lambda: reader.__setitem__(0, 1), lambda: reader.reserve(10),
                  lambda: reader.__dlpack__()):
        with pytest.raises(BufferError):
            write()
    assert memoryview(reader).readonly and not numpy.asarray(reader).flags.writeable
    assert reader.__array_interface__["data"][1] is True
    assert '"dltensor_versioned"' in repr(reader.__dlpack__(max_version=(1, 0)))
    assert numpy.from_dlpack(reader).tolist() == [1, 2] if numpy.__version__ >= "2.1" else True


def test_errors_are_python_s_own(tmp_path):
    path = tmp_path / "column"
    made = headroom_arrays.Array("int64", path=path)
    made.extend([1, 2])
    with pytest.raises(FileExistsError):
        headroom_arrays.Array("int64", path=path)
    with pytest.raises(BlockingIOError):
        headroom_arrays.Array("int64", path=path, mode="a")    # one writer at a time
    with pytest.raises(FileNotFoundError):
        headroom_arrays.Array("int64", path=tmp_path / "nothing", mode="r")
    with pytest.raises(FileNotFoundError):
        headroom_arrays.Array("int64", path=tmp_path / "nowhere" / "column")
    with pytest.raises(ValueError, match="mode"):
        headroom_arrays.Array("int64", path=path, mode="w")
    with pytest.raises(ValueError):
        headroom_arrays.Array("float64", path=path, mode="r")    # of another type
    with pytest.raises(ValueError):
        headroom_arrays.Array("datetime64[s]", path=path, mode="r")
    with pytest.raises(TypeError):
        headroom_arrays.Array("int64", path=5.5)
    with pytest.raises(ValueError):
        headroom_arrays.Array("int64", path="a\0b")
    (tmp_path / "foreign").write_bytes(b"no column of ours" * 1000)
    with pytest.raises(ValueError, match="foreign"):
        headroom_arrays.Array("int64", path=tmp_path / "foreign", mode="r")
    assert made.tolist() == [1, 2]


def test_past_the_limit_nothing_is_lost(tmp_path):
    made = headroom_arrays.Array("int64", path=tmp_path / "column", max_elements=3)
    made.extend([1, 2, 3])
    with pytest.raises(ValueError):
        made.append(4)
    made.commit()
    assert headroom_arrays.Array("int64", path=tmp_path / "column", mode="r").tolist() == [1, 2, 3]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of files, and SIGXFSZ, are as on Linux")
def test_a_disk_that_is_full_is_an_os_error(tmp_path):
    program = """
import headroom_arrays, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
made = headroom_arrays.Array("int8", path=sys.argv[1])
try:
    for _ in range(10):
        made.extend(bytes(1 << 20))
except OSError as error:
    print(error.errno, len(made))
made.commit()
"""
    done = subprocess.run([sys.executable, "-c", program.replace('"int8"', '"uint8"'), tmp_path / "column"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    number, size = map(int, done.stdout.split())
    assert number in (errno.EFBIG, errno.ENOSPC) and size >= 1 << 20
    assert len(headroom_arrays.Array("uint8", path=tmp_path / "column", mode="r")) == size


def test_a_file_is_pickled_by_its_name_and_memory_by_its_elements(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = headroom_arrays.Array("int64", path="column")
    made.extend(range(100_000))
    sent = pickle.dumps(made)
    assert len(sent) < 1000
    other = pickle.loads(sent)
    assert len(other) == 100_000 and memoryview(other).readonly and os.path.isabs(other.path)
    memory = headroom_arrays.Array("datetime64[s]")
    memory.extend(range(10))
    back = pickle.loads(pickle.dumps(memory))
    assert (numpy.asarray(back) == numpy.asarray(memory)).all() and back.dtype == memory.dtype
    back.append(10)


def total(column):
    return int(numpy.asarray(column).sum())


def test_worker_processes_are_handed_the_file(tmp_path):
    made = headroom_arrays.Array("int64", path=tmp_path / "column")
    made.extend(numpy.arange(100_000))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(total, [made] * 4) == [total(made)] * 4


def test_what_is_open_when_the_interpreter_ends_is_committed(tmp_path, run):
    run("import headroom_arrays, sys; sys.kept = headroom_arrays.Array('int64', path=sys.argv[1]); sys.kept.extend(range(1000))", tmp_path / "column")
    run("import headroom_arrays, numpy, sys; a = headroom_arrays.Array('int64', path=sys.argv[1], mode='r'); sys.kept = [memoryview(a), a]",
        tmp_path / "column")
    assert len(headroom_arrays.Array("int64", path=tmp_path / "column", mode="r")) == 1000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_reads_what_its_parent_writes_and_writes_nothing(tmp_path):
    numbers_of = headroom_arrays.Array("int64", path=tmp_path / "numbers")
    texts = headroom_arrays.Array("str", nullable=True, path=tmp_path / "texts")
    table = headroom_arrays.Table({"number": numbers_of, "text": texts})
    table.extend((range(10), ["x", None] * 5))
    table.commit()
    gone = headroom_arrays.Array("int64", path=tmp_path / "gone")
    del gone
    writes = [lambda: numbers_of.append(1), lambda: numbers_of.extend([1]), lambda: numbers_of.extend(numpy.arange(5)), lambda: texts.append("y"),
              lambda: numbers_of.__setitem__(0, 5), lambda: texts.extend(["y"]), lambda: table.append((1, "y")), lambda: table.truncate(2),
              lambda: table.extend(([1], ["y"])), lambda: numbers_of.truncate(1), lambda: numbers_of.reserve(10)]
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        wrong = []
        for number, write in enumerate(writes):
            try:
                write()
                wrong.append(number)
            except BufferError:
                pass
        for harmless in (table.publish, table.commit, numbers_of.shrink_to_fit):
            harmless()
        os.read(told, 1)
        table.refresh()
        right = not wrong and numbers_of.tolist() == list(range(11)) and texts.tolist() == ["x", None] * 5 + ["z"]
        table.close()
        os._exit(0 if right else 1)
    table.append((10, "z"))
    table.publish()
    os.write(tell, b".")
    assert os.waitpid(child, 0)[1] == 0
    os.close(told), os.close(tell)
    table.append((11, None))
    table.close()
    assert headroom_arrays.Array("int64", path=tmp_path / "numbers", mode="r").tolist() == list(range(12))
