# SPDX-License-Identifier: MIT
"""examples/many_machines: C++ programs write columns, and the workers of real clusters on this machine compute on them by name."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("duckdb")    # tests everywhere only, then: the program takes a while to build
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/many_machines"


@pytest.fixture(scope="module")
def columns(tmp_path_factory):
    """A folder with the columns of three writers, which ran at the same time."""
    cmake = shutil.which("cmake")
    if cmake is None or not EXAMPLE.is_dir():
        pytest.skip("needs CMake, and Headroom's sources")
    folder, build = tmp_path_factory.mktemp("columns"), EXAMPLE.parents[1] / "build/many-machines"
    for step in ([cmake, "-S", EXAMPLE, "-B", build, "-DCMAKE_BUILD_TYPE=Release"], [cmake, "--build", build, "--parallel", "2"]):
        subprocess.run(step, check=True, capture_output=True)
    program = next(each for each in build.rglob("make_columns*") if each.is_file() and os.access(each, os.X_OK))
    writers = [subprocess.Popen([program, folder, str(i), "100000"]) for i in range(3)]
    assert [each.wait(timeout=120) for each in writers] == [0, 0, 0]
    return folder


def computed(columns, engine, tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path)}    # engines leave notes there
    done = subprocess.run([sys.executable, EXAMPLE / "compute.py", columns, engine], capture_output=True, text=True, timeout=300,
                          env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("engine", ["duckdb", "polars", "dask", "ray"])
def test_every_engine_finds_what_one_process_finds(engine, columns, tmp_path):
    pytest.importorskip("distributed" if engine == "dask" else engine)
    alone = computed(columns, "one", tmp_path)
    assert len(alone.split()) == 16 and all(int(each) > 0 for each in alone.split())
    assert computed(columns, engine, tmp_path) == alone


def test_a_writer_that_finds_its_file_there_says_so(columns):
    program = next(each for each in (EXAMPLE.parents[1] / "build/many-machines").rglob("make_columns*")
                   if each.is_file() and os.access(each, os.X_OK))
    done = subprocess.run([program, columns, "0", "10"], capture_output=True, text=True)
    assert done.returncode == 1 and "part-0.symbol" in done.stderr


@pytest.mark.parametrize("engine", ["numpy", "duckdb", "dask", "ray"])
def test_workers_see_rows_of_a_writer_that_goes_on_and_is_killed(engine, tmp_path):
    pytest.importorskip("distributed" if engine == "dask" else engine)
    done = subprocess.run([sys.executable, EXAMPLE / "live.py", tmp_path / "trades", "3", engine], capture_output=True, text=True,
                          timeout=300, env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert f"{engine} " in done.stdout and "each once, after 2 kills" in done.stdout


def test_each_way_to_hand_an_array_over_gives_the_worker_its_last_element(tmp_path):
    pytest.importorskip("ray")
    done = subprocess.run([sys.executable, EXAMPLE / "beside.py", tmp_path / "arrays", "1"], capture_output=True, text=True,
                          timeout=300, env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert [line.split(" | ")[0].strip("| ") for line in done.stdout.splitlines()[2:]] == ["by path", "ray.put", "numpy.load", "Arrow's stream"]
