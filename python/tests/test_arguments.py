# SPDX-License-Identifier: MIT
"""Wrong sizes, counts, paths and dtypes: an error in Python's words that names the argument, and nothing has changed."""
import os
import subprocess
import sys
import textwrap

import pytest

import headroom_arrays
from headroom_arrays import Array, Table

WRONG = {"negative": -1, "zero": 0, "2**63": 2**63, "2**70": 2**70, "2.5": 2.5, "nan": float("nan"), "empty text": "", "None": None,
         "bytes": b"7", "text": "7", "a list": [2.5]}


def filled():
    array = Array("int64")
    array.extend(range(5))
    return array


CALLS = {    # argument: the call, and which of WRONG it takes
    "max_elements": (lambda given, folder: Array("int64", max_elements=given), {"zero", "None"}),
    "max_elements of a file": (lambda given, folder: Array("int64", max_elements=given, path=folder / "f"), {"zero", "None"}),
    "shape": (lambda given, folder: Array("int64", shape=given), set()),
    "shape, an extent": (lambda given, folder: Array("int64", shape=(2, given)), set()),
    "path": (lambda given, folder: Array("int64", path=given), {"None", "bytes", "text"}),
    "mode": (lambda given, folder: Array("int64", path=folder / "f", mode=given), set()),
    "dtype": (lambda given, folder: Array(given), {"None", "bytes", "a list"}),
    "count of reserve()": (lambda given, folder: filled().reserve(given), {"zero"}),
    "count of truncate()": (lambda given, folder: filled().truncate(given), {"zero"}),
    "count of Table.truncate()": (lambda given, folder: Table({"a": filled()}).truncate(given), {"zero"}),
    "chunk_rows": (lambda given, folder: Table({"a": filled()}, chunk_rows=given), {"None"}),
    "columns": (lambda given, folder: Table(given), set()),
}


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("argument", CALLS)
def test_an_argument_is_taken_or_named(argument, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, taken = CALLS[argument]
    if value in taken:
        call(WRONG[value], tmp_path)
        return
    with pytest.raises((TypeError, ValueError, OverflowError)) as error:
        call(WRONG[value], tmp_path)
    words = str(error.value)
    assert argument.split(",")[0].split(" ")[0] in words, words
    assert "std::" not in words and "nanobind" not in words and "overload" not in words and "argument types" not in words
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("count", [2**62, 2**63 - 1])
def test_more_than_memory_can_hold_is_refused(count):
    array = filled()
    with pytest.raises((MemoryError, ValueError, OverflowError)):
        array.reserve(count)
    assert array.tolist() == list(range(5))


def test_numbers_of_other_types_are_taken():
    numpy = pytest.importorskip("numpy")
    array = Array("int64", max_elements=numpy.int32(7), shape=numpy.int64(2))
    array.reserve(numpy.uint8(3))
    assert array.max_elements == 7


def test_the_package_shows_its_own_names_only():
    shown = {name for name in dir(headroom_arrays) if not name.startswith("_")}
    assert shown == {"Array", "Table", "reservations"}


def test_a_thread_that_outlives_the_program_prints_nothing():
    program = textwrap.dedent("""
        import threading, headroom_arrays
        started = threading.Event()
        def keep():
            array = headroom_arrays.Array("int64")
            array.extend(range(1000))
            started.set()
            threading.Event().wait()
        threading.Thread(target=keep, daemon=True).start()
        started.wait()
        """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
