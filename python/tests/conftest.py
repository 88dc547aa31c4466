# SPDX-License-Identifier: MIT
import gc
import subprocess
import sys

import pytest

import headroom_arrays


@pytest.fixture
def nothing_left():
    """Whatever the test makes is given back once its last reference is gone, and not before."""
    gc.collect()
    before = len(headroom_arrays.reservations())
    yield
    gc.collect()
    assert len(headroom_arrays.reservations()) == before


@pytest.fixture
def run():
    """Runs a program in an interpreter of its own; it must end well, and say nothing on the way out."""
    def ran(program, *arguments):
        done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return done.stdout
    return ran


def address(of):
    """Where the elements are, as NumPy sees them."""
    return of.__array_interface__["data"][0]
