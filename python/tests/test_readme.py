# SPDX-License-Identifier: MIT
"""What the package's page shows can be typed in as it stands."""
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[1] / "README.md"


def test_the_programs_of_the_page_run(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    programs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert programs
    monkeypatch.chdir(tmp_path)
    names = {}
    for program in programs:
        exec(compile(program, str(PAGE), "exec"), names)
    assert names["view"].__array_interface__["data"] == names["prices"].__array_interface__["data"]
    assert names["table"].to_pylist() == [{"name": "abc", "price": 1.5, "vector": [1, 2, 3]}, {"name": None, "price": 2.5, "vector": [0, 0, 0]}]
