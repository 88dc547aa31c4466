# SPDX-License-Identifier: MIT
"""Files whose names are no text in UTF-8: everything that the command writes can be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import samples

ROOM = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("flags", [["--out", "page.html"], ["--text=all"], ["--publish", "folder"]])
def test_a_result_file_may_have_any_name(tmp_path, locale, flags):
    name = os.fsdecode(b"\xe9.jsonl")
    records = [dict(samples.MACHINE), samples.run("throughput", "std::vector", {"element": "int", "elements": 1000}, {"time": 1e-6})]
    samples.write(tmp_path / name, records)
    with open(os.fsencode(tmp_path) + b"/\xe9.jsonl", "a", encoding="utf-8") as file:
        file.write('{"v": 1,\n')  # whose place is named
    done = subprocess.run([sys.executable, "-m", "headroom_report", name, *flags], cwd=tmp_path, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(ROOM), "LC_ALL": locale})
    assert done.returncode == 1 and b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    assert b"e9.jsonl" in done.stderr
