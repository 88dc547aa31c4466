# SPDX-License-Identifier: MIT
"""The types that the package tells are those that checkers believe, over what users write."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
FILES = [str(HERE / "typed.py"), *map(str, sorted((HERE.parents[1] / "examples").rglob("*.py")))]


def test_what_is_typed_runs(tmp_path):
    pytest.importorskip("pyarrow")
    import typed
    assert typed.counted(tmp_path) > 0


def test_mypy_believes_it(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, "--disable-error-code", "import-untyped",
                           "--disable-error-code", "import-not-found", *FILES], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_believes_it(tmp_path):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    done = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *FILES], capture_output=True, text=True,
                          cwd=tmp_path, env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"})
    if "error" in done.stderr.lower() and "node" in done.stderr.lower():
        pytest.skip("pyright's own program cannot be had")
    assert done.returncode == 0, done.stdout + done.stderr
