# SPDX-License-Identifier: MIT
"""Rows are atomic: a row is in all columns of a table or in none, whatever happens in between."""
import os
import random
import signal
import threading
import time

import numpy
import pytest

import headroom_arrays

Array, Table = headroom_arrays.Array, headroom_arrays.Table
KINDS = {"number": "int64", "price": "float64", "name": "str", "flag": "bool"}


def columns(folder=None, mode="x", nullable=True):
    return Table({name: Array(dtype, nullable=nullable and name in ("price", "name"), path=None if folder is None else folder / name, mode=mode)
                  for name, dtype in KINDS.items()})


def row(i):
    return {"number": i, "price": None if i % 7 == 3 else i / 2, "name": None if i % 5 == 2 else "n" * (i % 11) + str(i), "flag": i % 3 == 0}


def lives_and_is_killed(work):
    """In a child, which ends without closing anything: what it did not commit is lost. `work` returns what must not be dropped before."""
    child = os.fork()
    if child == 0:
        try:
            held = work()    # noqa: F841
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def listed(table):
    return [dict(zip(KINDS, values)) for values in zip(*(table[name][:len(table)] if name != "flag" else table[name].tolist()[:len(table)]
                                                           for name in KINDS))]


def test_rows_are_appended_whole_or_not_at_all():
    table = columns()
    table.append(row(0))
    table.append(tuple(row(1).values()))
    for wrong in ({**row(2), "number": "x"}, {**row(2), "price": "x"}, {**row(2), "name": 5}, {**row(2), "flag": 1}, {**row(2), "more": 1},
                  {"number": 1}, [1, 2.0], "abcd", 5, {**row(2), "number": 2**70}, {**row(2), "name": "\ud800"}):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            table.append(wrong)
        assert [len(table[name]) for name in KINDS] == [2] * 4
    assert listed(table) == [row(0), row(1)]


def test_a_row_that_memory_is_refused_for_is_not_there_by_half():
    table = Table({"a": Array("int64"), "b": Array("int64", max_elements=2), "c": Array("str")})
    table.append((1, 1, "x"))
    table.append((2, 2, "y"))
    for more in (lambda: table.append((3, 3, "z")), lambda: table.extend(([3], [3], ["z"])), lambda: table.extend({"a": [1], "b": [1, 2], "c": ["x"]})):
        with pytest.raises(ValueError):
            more()
        assert [table[name].tolist() for name in "abc"] == [[1, 2], [1, 2], ["x", "y"]]


def test_many_rows_at_once():
    table = columns()
    wanted = [row(i) for i in range(1000)]
    table.extend({name: [each[name] for each in wanted] for name in KINDS})
    table.append(row(1000))
    table.extend([[each[name] for each in wanted] for name in KINDS])
    assert listed(table) == [*wanted, row(1000), *wanted]
    big = Table({"a": Array("int64"), "b": Array("float32", shape=(4,))})
    big.extend((numpy.arange(500_000), numpy.ones((500_000, 4), "float32")))
    big.extend((big["a"], big["b"]))
    assert len(big) == 1_000_000 and big["a"][-1] == 499_999 and numpy.asarray(big["b"]).sum() == 4_000_000


def test_what_runs_while_a_row_is_converted_may_append_rows_itself():
    table = Table({"a": Array("int64"), "b": Array("int64")})

    class Number:
        def __index__(self):
            table.append((7, 8))
            return 9
    table.append((Number(), Number()))
    assert table["a"].tolist() == [7, 7, 9] and table["b"].tolist() == [8, 8, 9]


def test_threads_append_whole_rows():
    table = Table({"a": Array("int64"), "b": Array("str"), "c": Array("float32", shape=(2,))})
    block = (numpy.full(100_000, -1), ["-1"] * 100_000, numpy.full((100_000, 2), -1, "float32"))

    def work(number):
        for i in range(300):
            table.append((number, str(number), [number] * 2))
            if i % 150 == 0:
                table.extend(block)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    numbers = table["a"].tolist()
    assert len(numbers) == 4 * 300 + 8 * 100_000 and [str(each) for each in numbers] == table["b"].tolist()
    assert (numpy.asarray(table["c"]) == numpy.asarray(table["a"])[:, None]).all()


def test_half_a_row_is_no_row_and_the_next_one_takes_its_place():
    pyarrow = pytest.importorskip("pyarrow")
    table = Table({"x": Array([1, 2, 3]), "y": Array(["a", "b"])})
    assert len(table) == 2
    arrow = pyarrow.table(table)
    arrow.validate(full=True)
    assert arrow.to_pydict() == {"x": [1, 2], "y": ["a", "b"]}
    table.append((9, "c"))
    assert table["x"].tolist() == [1, 2, 9]
    table.truncate(1)
    assert table["x"].tolist() == [1] and table["y"].tolist() == ["a"]
    with pytest.raises(ValueError, match="once"):
        Table({"x": table["x"], "y": table["x"]})


def test_after_a_crash_between_two_commits_there_are_the_rows_that_all_have(tmp_path):
    def work():
        table = columns(tmp_path)
        for i in range(1000):
            table.append(row(i))
        table.commit()
        for i in range(1000, 1500):
            table.append(row(i))
        table["number"].commit()
        table["name"].commit()
        return table
    lives_and_is_killed(work)
    assert sorted(lengths(tmp_path)) == [1000, 1000, 1500, 1500]
    assert len(columns(tmp_path, "r")) == 1000
    with columns(tmp_path, "a") as table:
        assert len(table) == 1000
        table.append(row(1000))
        table.commit()
        assert [len(table[name]) for name in KINDS] == [1001] * 4
    with columns(tmp_path, "r") as table:
        assert listed(table) == [row(i) for i in range(1001)]


def test_what_is_cut_is_committed_before_other_rows_take_its_place(tmp_path):
    def work():
        table = columns(tmp_path)
        for i in range(50):
            table.append(row(i))
        table.commit()
        for i in range(50, 80):
            table.append(row(i))
        for name in ("number", "name"):
            table[name].commit()
        return table
    lives_and_is_killed(work)
    assert sorted(lengths(tmp_path)) == [50, 50, 80, 80]
    for change, left in ((lambda table: table.append(row(50)), 50), (lambda table: table.truncate(20), 20)):
        def work():
            table = columns(tmp_path, "a")
            change(table)
            return table
        lives_and_is_killed(work)    # without a commit of what was appended
        assert lengths(tmp_path) == [left] * 4
    with columns(tmp_path, "r") as table:
        assert listed(table) == [row(i) for i in range(20)]


def test_a_reader_follows_whole_rows(tmp_path):
    writer = columns(tmp_path)
    writer.append(row(0))
    writer.publish()
    reader = columns(tmp_path, "r")
    for i in range(1, 2000):
        writer.append(row(i))
        if i % 100 == 0:
            writer.publish()
            reader.refresh()
            assert len(reader) == i + 1 and listed(reader)[-1] == row(i)


def killed_writers(folder, kills, seed):
    """Rows survive kill -9 at any moment: each writer finds at least what was committed, and every column the same rows."""
    chance, told, committed = random.Random(seed), folder / "told", 0
    for kill in range(kills):
        child = os.fork()
        if child == 0:
            try:
                with open(told, "r+b" if told.exists() else "w+b", buffering=0) as log:
                    table = columns(folder, "a")
                    i = len(table)
                    while True:
                        for _ in range(random.randrange(1, 50)):
                            table.append(row(i))
                            i += 1
                        table.commit()
                        os.pwrite(log.fileno(), i.to_bytes(8, "little"), 0)
            finally:
                os._exit(1)
        before = told.read_bytes() if told.exists() else b""
        until = time.monotonic() + 30
        while kill % 2 and (not told.exists() or told.read_bytes() == before) and time.monotonic() < until:
            time.sleep(0.001)    # every other one has opened its files and committed; the others are killed while they open them
        time.sleep(chance.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if told.exists():
            committed = max(committed, int.from_bytes(told.read_bytes(), "little"))
        if all((folder / name).exists() for name in KINDS):
            try:
                table = columns(folder, "r")
            except FileNotFoundError:
                assert committed == 0    # killed while the files were made
                continue
            assert len(table) >= committed
            count = len(table)
            for i in {0, count // 2, count - 1} if count else ():
                assert {name: table[name][i] for name in KINDS} == row(i)
            table.close()
    return committed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_kills_lose_no_committed_row(tmp_path):
    kills = int(os.environ.get("HEADROOM_KILLS", "60"))
    assert killed_writers(tmp_path, kills, 1) > 0
    with columns(tmp_path, "a") as table:
        table.append(row(len(table)))
        assert listed(table) == [row(i) for i in range(len(table))]


# --- Files that are missing, new, or whose disk refuses.

def lengths(folder):
    return [len(Array(dtype, nullable=name in ("price", "name"), path=folder / name, mode="r")) for name, dtype in KINDS.items()]


@pytest.mark.parametrize("name", KINDS)
def test_a_column_whose_file_is_missing_is_no_reason_to_cut_the_others(tmp_path, name):
    with columns(tmp_path) as table:
        table.extend({key: [row(i)[key] for i in range(50)] for key in KINDS})
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    away = {path: path.rename(tmp_path / ("away-" + path.name)) for path in kept if path.name.split(".")[0] == name}
    for _ in range(2):    # the second time the file is there, which the first one made
        with pytest.raises(ValueError, match=f"'{name}' is new.*50 are committed"):
            columns(tmp_path, "a")
        assert lengths(tmp_path) == [0 if key == name else 50 for key in KINDS]
    for path, put in away.items():
        put.rename(path)
    with columns(tmp_path, "a") as table:
        assert listed(table) == [row(i) for i in range(50)]
    assert {path: path.read_bytes() for path in kept} == kept


@pytest.mark.parametrize("beside", ["price.valid", "name.valid", "name.bytes"])
def test_a_piece_of_a_column_that_is_missing_is_not_made_anew(tmp_path, beside):
    with columns(tmp_path) as table:
        table.append(row(1))
    (tmp_path / beside).rename(tmp_path / "away")
    for mode in "ar":
        with pytest.raises(FileNotFoundError):
            columns(tmp_path, mode)
        assert not (tmp_path / beside).exists()
    (tmp_path / "away").rename(tmp_path / beside)
    with columns(tmp_path, "a") as table:
        assert listed(table) == [row(1)]


def test_a_new_column_is_filled_before_it_is_part_of_a_table(tmp_path):
    old = Array("int64", path=tmp_path / "old")
    old.extend(range(5))
    old.commit()
    for new in (Array("str"), Array("str", path=tmp_path / "new")):
        with pytest.raises(ValueError, match="filled first"):
            Table({"old": old, "new": new})
        new.extend(["a"] * 5)
        table = Table({"old": old, "new": new})
        assert len(table) == 5 and old.tolist() == [0, 1, 2, 3, 4]
    table.append((5, "b"))
    table.close()
    with Table({"old": Array("int64", path=tmp_path / "old", mode="a"), "new": Array("str", path=tmp_path / "new", mode="a")}) as table:
        assert table["new"][:] == ["a"] * 5 + ["b"]


def test_what_was_never_committed_by_a_whole_table_is_cut_as_before(tmp_path):
    def work():
        table = columns(tmp_path)
        for i in range(20):
            table.append(row(i))
        table["number"].commit()    # killed in the first commit
        return table
    lives_and_is_killed(work)
    assert lengths(tmp_path) == [20, 0, 0, 0]
    with columns(tmp_path, "a") as table:
        assert len(table) == 0
        table.append(row(0))
    assert lengths(tmp_path) == [1] * 4


def test_text_whose_bytes_alone_were_committed_begins_anew(tmp_path):
    made = Array("str", path=tmp_path / "text")
    empty = (tmp_path / "text").read_bytes()
    made.extend(["abc", "def"])
    made.close()
    (tmp_path / "text").write_bytes(empty)    # as a kill in the first commit leaves it
    with Array("str", path=tmp_path / "text", mode="a") as again:
        assert len(again) == 0
        again.append("x")
        assert again.tolist() == ["x"]
    assert Array("str", path=tmp_path / "text", mode="r").tolist() == ["x"]


def test_text_of_a_reader_is_taken_without_bytes_that_no_element_has(tmp_path):
    made = Array("str", path=tmp_path / "text")
    made.append("abc")
    made.commit()
    kept = (tmp_path / "text").read_bytes()
    made.append("def")
    made.close()
    (tmp_path / "text").write_bytes(kept)    # as a kill between two commits leaves it
    taken = Array("str")
    taken.extend(Array("str", path=tmp_path / "text", mode="r"))
    taken.append("x")
    assert taken.tolist() == ["abc", "x"]


REFUSING = """
import os, sys
import headroom_arrays
def close_descriptors(path):    # nothing can be committed to the file from then on
    same = [fd for fd in range(3, 200) if os.path.exists(f"/proc/self/fd/{fd}") and os.path.samestat(os.fstat(fd), os.stat(path))]
    assert same
    for fd in same:
        os.close(fd)
"""

TABLE_REFUSING = REFUSING + """
Array, Table = headroom_arrays.Array, headroom_arrays.Table
kinds = {"number": "int64", "name": "str"}
def opened(mode):
    return Table({name: Array(dtype, nullable=name == "name", path=sys.argv[1] + "/" + name, mode=mode) for name, dtype in kinds.items()})
table = opened("x")
for i in range(10):
    table.append((i, "n" * i))
table.commit()
for i in range(10, 20):
    table.append((i, "n" * i))
close_descriptors(sys.argv[1] + "/" + sys.argv[2])
try:
    if sys.argv[3] == "truncate":
        table.truncate(5)
    elif sys.argv[3] == "commit":
        table.commit()
    else:
        raise OSError
except OSError:
    pass
else:
    sys.exit("no error")
if sys.argv[3] in ("commit", "truncate"):
    table.publish()
    reader = opened("r")
    assert reader["name"].tolist() == ["n" * i for i in range(len(reader["name"]))]
    for _ in range(2):
        try:
            table.append((99, "much longer text"))
        except OSError:
            pass
        else:
            sys.exit("rows are appended to what cannot be committed")
try:
    table.close()
except OSError:
    pass
assert table["number"].closed and table["name"].closed
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="looks for descriptors in /proc")
@pytest.mark.parametrize("what", ["commit", "truncate", "close"])
@pytest.mark.parametrize("victim", ["number", "name", "name.bytes", "name.valid"])
def test_a_commit_that_fails_in_one_piece_leaves_a_table_that_opens(tmp_path, run, victim, what):
    run(TABLE_REFUSING, tmp_path, victim, what)
    with Table({"number": Array("int64", path=tmp_path / "number", mode="a"),
                "name": Array("str", nullable=True, path=tmp_path / "name", mode="a")}) as table:
        assert len(table) in ((5, 10) if what == "truncate" else (10, 20))
        assert table["number"].tolist()[:len(table)] == list(range(len(table)))
        assert table["name"][:len(table)] == ["n" * i for i in range(len(table))]
        table.append((7, "x"))


def test_a_text_array_whose_bytes_fail_is_whole_without_a_close(tmp_path, run):
    run(REFUSING + """
made = headroom_arrays.Array("str", path=sys.argv[1])
made.append("abc")
made.commit()
made.append("def")
close_descriptors(sys.argv[1] + ".bytes")
""", tmp_path / "text")
    assert headroom_arrays.Array("str", path=tmp_path / "text", mode="r").tolist() == ["abc"]


def test_text_that_was_cut_is_whole_where_its_writer_is_killed(tmp_path):
    def work():
        made = Array("str", nullable=True, path=tmp_path / "text")
        made.extend([None, "x" * 20] * 50)
        made.commit()
        made.truncate(10)
        made.extend(["y" * 1000] * 30)
        return made
    lives_and_is_killed(work)
    with Array("str", nullable=True, path=tmp_path / "text", mode="a") as back:
        assert back.tolist() == [None, "x" * 20] * 5
        back.append("z")
