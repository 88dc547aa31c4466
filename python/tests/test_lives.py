# SPDX-License-Identifier: MIT
"""How arrays begin, grow, are carried elsewhere, and end: many of them, little room, threads, closing."""
import os
import pickle
import sys
import threading
import time

import numpy
import pytest

import headroom_arrays
from conftest import address

Array, Table = headroom_arrays.Array, headroom_arrays.Table
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of the process are as on Linux")


def test_small_arrays_that_nobody_looks_at_take_no_range(nothing_left):
    before = len(headroom_arrays.reservations())
    made = [Array("int64") for _ in range(100_000)]
    for i, each in enumerate(made):
        each.append(i)
    made[0].extend(range(1000))
    assert len(headroom_arrays.reservations()) == before
    assert sum(each[-1] for each in made[1:]) == sum(range(1, 100_000)) and made[0].tolist() == [0, *range(1000)]
    view = memoryview(made[0])
    assert len(headroom_arrays.reservations()) == before + 1
    made[0].extend(range(100_000))
    assert view.tolist() == [0, *range(1000)] and address(made[0]) == address(numpy.asarray(view))


@linux
def test_too_many_arrays_are_an_error_that_leaves_room_for_others(run):
    """Whether addresses or mappings come to an end first: threads, NumPy and Python's own memory go on."""
    told = run("""
import headroom_arrays, numpy, threading
kept = []
try:
    for i in range(100_000):
        each = headroom_arrays.Array("int64")
        each.append(i)
        kept.append((each, memoryview(each)))
except MemoryError as error:
    print("address space" in str(error), len(kept) > 10_000)
least = min(each.max_elements for each, _ in kept)
ran = []
threads = [threading.Thread(target=lambda: ran.append(numpy.ones(1 << 20).sum())) for _ in range(20)]
for each in threads: each.start()
for each in threads: each.join()
print(ran == [1 << 20] * 20, len([bytearray(1 << 20) for _ in range(100)]), least >= 1 << 20)
kept[7][0].extend(range(10_000))
print(len(kept[7][0]), kept[-1][0].tolist() == [len(kept) - 1])
kept.clear()
print(headroom_arrays.Array(range(100_000))[-1])
""")
    assert told == "True True\nTrue 100 True\n10001 True\n99999\n"


@linux
def test_where_the_system_has_few_addresses_arrays_take_few(run):
    told = run("""
import headroom_arrays, numpy, resource, threading
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
made = [headroom_arrays.Array("int64") for _ in range(200)]
for each in made:
    each.extend(numpy.arange(20_000))
made[0].extend(numpy.arange(10_000_000))        # outgrows what it got, and moves
print(sum(len(each) for each in made), made[0][19_999], made[0][-1])
thread = threading.Thread(target=lambda: print(numpy.ones(10_000_000).sum()))
thread.start(); thread.join()
small = headroom_arrays.Array([1])
view = memoryview(small)
try:
    small.extend(numpy.arange(30_000_000))
except MemoryError as error:
    print("max_elements" in str(error), len(small))
""")
    assert told == "14000000 19999 9999999\n10000000.0\nTrue 1\n"


def test_one_that_says_how_many_gets_room_for_them_at_once():
    with pytest.raises(MemoryError, match="address space"):
        Array(max_elements=2**45)
    made = Array("int64", max_elements=10)
    made.extend(range(10))
    for more in (lambda: made.append(1), lambda: made.extend([1]), lambda: made.extend(numpy.arange(1)), lambda: made.reserve(11)):
        with pytest.raises(ValueError, match="^past max_elements$"):
            more()
    assert made.max_elements == 10
    text = Array("str", max_elements=2)
    text.extend(["a", "b"])
    with pytest.raises(ValueError, match="max_elements"):
        text.append("c")
    assert text.tolist() == ["a", "b"]


def test_truncating():
    made = Array("int64")
    made.extend(range(100_000))
    view = numpy.asarray(made)
    made.truncate(10)
    made.shrink_to_fit()    # views of what is cut stay valid all the same
    assert len(made) == 10 and view.sum() == 99_999 * 50_000
    made.append(-1)
    assert made.tolist() == [*range(10), -1] and view[10] == -1
    for wrong in (12, -1):
        with pytest.raises(ValueError):
            made.truncate(wrong)
    made.truncate(0)
    assert made.tolist() == [] and not list(made)


def test_assigning_to_slices():
    made = Array(range(10))
    made[2:4] = [20, 30]
    made[::5] = numpy.array([7, 8])
    made[-2:] = 9
    made[0:0] = []
    assert made.tolist() == [7, 1, 20, 30, 4, 8, 6, 7, 9, 9]
    for wrong, error in (([1], ValueError), ([1, 2, 3], ValueError), (["a", "b"], TypeError), ("ab", TypeError), ([2**70, 1], OverflowError)):
        with pytest.raises(error):
            made[2:4] = wrong
    made[2:4] = made[0:2]
    assert made.tolist() == [7, 1, 7, 1, 4, 8, 6, 7, 9, 9]

    class Cutting:
        def __index__(self):
            made.truncate(3)
            return 5
    made[1:] = [Cutting()] * 2
    assert made.tolist() == [7, 5, 5]
    times = Array("datetime64[s]")
    times.extend(["2026-01-01", "2026-01-02"])
    times[0:1] = [numpy.datetime64("2027-01-01")]
    assert times[0] == numpy.datetime64("2027-01-01")


def test_closing(tmp_path, nothing_left):
    memory = Array(range(10))
    view, unseen = memoryview(memory), Array(range(100_000))
    with memory as entered:
        assert entered is memory
    unseen.close()
    unseen.close()
    assert memory.closed and unseen.closed and view.tolist() == list(range(10))
    for use in (lambda: memory.append(1), lambda: memory.extend([1]), lambda: len(memory), lambda: memory[0], lambda: memoryview(memory),
                lambda: memory.tolist(), lambda: list(memory), lambda: numpy.asarray(memory), lambda: memory.__arrow_c_array__(),
                lambda: memory.commit(), lambda: memory.truncate(0), lambda: pickle.dumps(memory), lambda: memory.__enter__(),
                lambda: len(headroom_arrays.Table({"x": memory})), lambda: memory.__setitem__(0, 1), lambda: Array("int64").extend(memory)):
        with pytest.raises((ValueError, TypeError)):
            use()
    assert "closed" in repr(memory)


def test_the_writer_s_lock_goes_when_it_closes_and_views_stay(tmp_path):
    path = tmp_path / "column"
    first = Array("int64", path=path)
    first.extend(range(1000))
    view, shared = numpy.asarray(first), numpy.from_dlpack(first)
    with pytest.raises(BlockingIOError):
        Array("int64", path=path, mode="a")
    first.close()
    with Array("int64", path=path, mode="a") as second:
        second.append(1000)
        view[0] = 7    # it is the file's memory still
        assert second[0] == 7
        second.extend(range(1_000_000))
    assert view.sum() == sum(range(1000)) + 7 and shared[-1] == 999
    with Array("int64", path=path, mode="r") as reader:
        assert len(reader) == 1_001_001 and reader[0] == 7
    del view, shared
    with pytest.raises(ValueError, match="closed"):
        first.append(1)


def test_closing_after_cutting_keeps_what_views_show(tmp_path):
    first = Array("int64", path=tmp_path / "column")
    first.extend(range(1_000_000))
    first.commit()
    view = numpy.asarray(first)
    first.truncate(10)
    first.shrink_to_fit()
    first.close()
    assert view.sum() == 999_999 * 500_000
    assert Array("int64", path=tmp_path / "column", mode="r").tolist() == list(range(10))


@pytest.mark.parametrize("make", [lambda: Array(range(100_000)), lambda: Array(["a", None, "b"] * 1000), lambda: Array([1, None] * 5000),
                                  lambda: Array(numpy.ones((1000, 8))), lambda: Array("datetime64[s]"), lambda: Array("int8", max_elements=7)])
def test_buffers_travel_beside_a_pickle(make):
    made, buffers = make(), []
    sent = pickle.dumps(made, 5, buffer_callback=buffers.append)
    assert len(sent) < 700 and sum(each.raw().nbytes for each in buffers) >= made.nbytes
    if made.dtype == "int64" and not made.nullable:
        assert address(numpy.frombuffer(buffers[0].raw(), "uint8")) == address(made)    # nothing was copied
    for back in (pickle.loads(sent, buffers=buffers), pickle.loads(pickle.dumps(made, 2)), pickle.loads(pickle.dumps(made, 5))):
        assert back.tolist() == made.tolist() and (back.dtype, back.shape, back.nullable) == (made.dtype, made.shape, made.nullable)
    assert pickle.loads(pickle.dumps(Array("int8", max_elements=7))).max_elements == 7


def test_buffers_of_a_pickle_may_arrive_anywhere_in_memory():
    made, buffers = Array(["abc", None, "de"]), []
    sent = pickle.dumps(made, 5, buffer_callback=buffers.append)
    arrived = [memoryview(b"x" + bytes(each.raw()))[1:] for each in buffers]
    assert any(numpy.frombuffer(each, "uint8").ctypes.data % 8 for each in arrived)
    assert pickle.loads(sent, buffers=arrived).tolist() == ["abc", None, "de"]


def test_pickles_that_lie_are_refused():
    text = pickle.dumps(Array(["abc", "def"]), 2)
    for wrong in (text.replace(b"abcdef", b"abc"), text.replace(bytes([3]) + bytes(7), bytes([9]) + bytes(7))):
        if wrong != text:
            with pytest.raises((ValueError, TypeError, pickle.UnpicklingError, EOFError)):
                pickle.loads(wrong)
    made = Array("str")
    for pieces in ([b"", b"", None], [bytes(8), None, None], [(8).to_bytes(8, "little") * 2, b"x", None], [bytes(7), b"", None],
                   [(0).to_bytes(8, "little") + (-1).to_bytes(8, "little", signed=True), b"x", None], []):
        with pytest.raises((ValueError, TypeError)):
            made._fill(pieces)
    assert made.tolist() == []


def test_its_size_is_that_of_its_memory(tmp_path):
    made = Array("int64")
    assert sys.getsizeof(made) < 1000
    made.extend(range(100_000))
    assert sys.getsizeof(made) >= made.nbytes == 800_000
    held = Array("int64", path=tmp_path / "column")
    held.extend(range(100_000))
    assert sys.getsizeof(held) < 1000


def test_others_run_while_much_is_copied(tmp_path):
    """The lock is let go: a thread that counts gets on, one that wants to append waits, and readers see whole pieces."""
    made, much = Array("int64"), numpy.arange(20_000_000)
    counted, stop, seen = [0], threading.Event(), set()

    def count():
        while not stop.is_set():
            counted[0] += 1
            seen.add(len(made))
            time.sleep(0)    # gives the lock to whoever wants it

    def append():
        for i in range(1000):
            made.append(-1)
            made.extend([-1] * 3)

    sys.setswitchinterval(100)    # whoever has the lock keeps it, unless it lets it go
    try:
        threads = [threading.Thread(target=each) for each in (count, append)]
        for each in threads:
            each.start()
        before = counted[0]
        for _ in range(3):
            made.extend(much)
        assert counted[0] > before
    finally:
        stop.set()
        sys.setswitchinterval(5e-3)
        for each in threads:
            each.join()
    assert len(made) == 60_000_000 + 4000
    whole = numpy.asarray(made)
    assert (whole == -1).sum() == 4000 and whole[whole >= 0].sum() == 3 * much.sum()


def test_two_threads_that_extend_by_much_take_turns():
    made = Array("int64")
    parts = [numpy.full(1_000_000, i) for i in range(4)]
    threads = [threading.Thread(target=lambda part=part: [made.extend(part) for _ in range(5)]) for part in parts]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    whole = numpy.asarray(made).reshape(20, 1_000_000)
    assert (whole == whole[:, :1]).all() and sorted(whole[:, 0]) == sorted(list(range(4)) * 5)


def meanwhile(work, others):
    """Runs `work`, and `others` on another thread as soon as `work` lets the lock go."""
    begun = threading.Event()
    thread = threading.Thread(target=lambda: begun.wait() and others())
    sys.setswitchinterval(100)
    try:
        thread.start()
        begun.set()
        work()
    finally:
        sys.setswitchinterval(5e-3)
        thread.join()


@pytest.mark.parametrize("pause", [0, 0.001, 0.003, 0.01])
def test_a_small_column_may_be_looked_at_while_many_rows_are_copied(pause):
    block = numpy.ones((10_000, 11))    # less than what the lock is let go for by itself
    table = Table({"id": Array("int16"), **{str(i): Array("float64", shape=(11,)) for i in range(64)}})
    meanwhile(lambda: table.extend([numpy.arange(10_000, dtype="int16"), *[block] * 64]),
              lambda: (time.sleep(pause), memoryview(table["id"])))
    assert table["id"].tolist() == list(range(10_000))


@pytest.mark.parametrize("make, change", [(lambda: Array(["x" * 20_000_000] * 4), lambda source: source.__arrow_c_array__()),
                                          (lambda: Array([1, None] * 1_000_000), lambda source: source.truncate(10)),
                                          (lambda: Array([1, None] * 1_000_000), lambda source: source.close())])
def test_a_source_that_others_change_while_it_is_copied_is_copied_whole(make, change):
    source = make()
    wanted, made = source.tolist(), Array(source.dtype, nullable=source.nullable)
    meanwhile(lambda: made.extend(source), lambda: change(source))
    assert made.tolist() == wanted


def test_an_array_may_be_closed_while_it_is_copied_for_others():
    made, copies = Array(numpy.arange(10_000_000)), []
    meanwhile(lambda: copies.append(made.__dlpack__(max_version=(1, 0), copy=True)), made.close)
    assert made.closed and copies


def test_an_array_in_memory_may_be_looked_at_while_it_is_committed():
    for _ in range(300):
        made = Array(range(10))
        meanwhile(made.commit, lambda: (memoryview(made), made.extend(range(1000))))
        assert made.capacity >= len(made) == 1010


@pytest.mark.parametrize("work", ["made.extend(much); made.commit(); made.truncate(0)", "made.extend(i for i in range(100_000))",
                                  "made.append(Number())", "headroom_arrays.Table({'x': made}).append((Number(),))"])
def test_a_thread_that_appends_while_the_interpreter_ends_does_not_end_the_process(tmp_path, run, work):
    run(f"""
import headroom_arrays, numpy, os, sys, threading, time
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)    # what such a thread still has nanobind calls a leak
made, much = headroom_arrays.Array("int64", path=sys.argv[2]), numpy.arange(1_000_000)
class Number:
    def __index__(self):
        return sum(range(100))
class Late:
    def __init__(self):
        self.kept = headroom_arrays.Array("int64", path=sys.argv[1])
        self.kept.append(1)
    def __del__(self, sleep=time.sleep):
        sleep(0.1)    # the thread comes back while this waits
def work():
    while True:
        {work}
threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
sys.late = Late()
""", tmp_path / "kept", tmp_path / "made")
    assert Array("int64", path=tmp_path / "kept", mode="r").tolist() == [1]


def test_a_time_is_read_before_anything_else_runs(run):
    told = run("""
import builtins, headroom_arrays, numpy
made, before = headroom_arrays.Array("datetime64[s]"), builtins.__import__
made.extend(numpy.arange(100_000).astype("M8[s]"))
def closing(*arguments, **named):
    made.close()
    return before(*arguments, **named)
builtins.__import__ = closing
print(made[7].astype(int))
""")
    assert told == "7\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_does_not_wait_for_a_thread_that_it_has_not(run):
    run("""
import headroom_arrays, numpy, os, threading, time, warnings
warnings.simplefilter("ignore")
made, much = headroom_arrays.Array("int64"), numpy.arange(10_000_000)
thread = threading.Thread(target=lambda: [made.extend(much) for _ in range(10)])
thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        made.extend([1, 2])
        made.extend(numpy.arange(200_000))
        os._exit(0 if made[-1] == 199_999 else 1)
    assert os.waitpid(child, 0)[1] == 0
thread.join()
""")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_file_names_that_are_no_utf_8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe"
    made = Array("int64", path=path)
    made.extend([1, 2])
    assert made.path == os.fsdecode(path) and "\\udcff" in repr(made)
    assert pickle.loads(pickle.dumps(made)).tolist() == [1, 2]
    with pytest.raises(FileExistsError):
        Array("int64", path=made.path)


def test_errors_speak_python(tmp_path):
    made = Array("int64", max_elements=1, path=tmp_path / "column")
    made.append(1)
    told = []
    for wrong in (lambda: made.append(2), lambda: made.extend(numpy.zeros((2, 2), "int64")), lambda: Array("float64", path=made.path, mode="r"),
                  lambda: Array("int64", path=made.path, mode="a"), lambda: made.append(None)):
        with pytest.raises((ValueError, OSError, TypeError)) as error:
            wrong()
        told.append(str(error.value))
    assert not [each for each in told if "::" in each or "headroom" in each.replace(str(tmp_path), "")], told


def test_pandas_reads_the_memory_itself():
    pandas = pytest.importorskip("pandas")
    made = Array(numpy.arange(100_000))
    series = pandas.Series(made)
    assert series.dtype == "int64" and address(series.to_numpy()) == address(made)
    assert pandas.Series(Array(["a", None])).tolist()[0] == "a" and pandas.isna(pandas.Series(Array(["a", None])).tolist()[1])
    assert pandas.Series(Array([1, None])).isna().tolist() == [False, True]
    assert pandas.DataFrame({"x": made})["x"].sum() == made[-1] * 50_000


@linux
def test_more_than_the_machine_has_is_refused_and_fills_nothing(run):
    """Of 10^11 numbers that NumPy shows without having them."""
    told = run("""
import headroom_arrays, numpy, os, threading
def resident(word):
    return int(next(line for line in open("/proc/self/status") if line.startswith(word)).split()[1]) << 10
most = resident("VmRSS") + (1 << 30)
def watch():
    while not over.wait(.001):
        if resident("VmRSS") > most: os._exit(1)        # before it fills the machine
over = threading.Event()
watcher = threading.Thread(target=watch)
watcher.start()
made = headroom_arrays.Array("int64", max_elements=2**40)
made.extend([1, 2, 3])
many = numpy.broadcast_to(numpy.int64(1), 10**11)
before = resident("VmHWM")
for ask in (lambda: made.reserve(10**11), lambda: made.extend(many), lambda: headroom_arrays.Array(many),
            lambda: headroom_arrays.Array(range(10**11), max_elements=2**40), lambda: made.extend(range(10**11))):
    try:
        ask()
        print("succeeded")
    except MemoryError:
        print("refused")
print(made.tolist(), resident("VmHWM") - before < 64 << 20)
over.set()
watcher.join()
""")
    assert told == "refused\n" * 5 + "[1, 2, 3] True\n"
