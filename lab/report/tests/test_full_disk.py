# SPDX-License-Identifier: MIT
"""A disk that is full: what was there before survives, the error is said, and the exit status tells."""

import resource

import pytest
from headroom_report import __main__ as command

import samples

SOME = 300_000  # room for pictures and results, and not for the page


@pytest.fixture
def full_disk():
    """No file may grow beyond so much, as on a disk that is full; the signal that would end the process is ignored by Python."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SOME, limits[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def results(path, ours):
    point = {"element": "int", "elements": 1000, "optimisation": "O2"}
    times = {"std::vector": 1e-6, samples.SETTLED: ours}
    return str(samples.write(path, [samples.MACHINE, *(samples.run("throughput", name, point, {"time": time}) for name, time in times.items())]))


@pytest.mark.parametrize("flag, where, page", [("--out", "report.html", "report.html"), ("--publish", ".", "index.html")])
def test_the_last_good_report_survives(tmp_path, full_disk, capsys, flag, where, page):
    folder = tmp_path / "report"
    command.main([results(tmp_path / "a.jsonl", 5e-7), flag, str(folder / where)])
    good = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert page in good
    full_disk()
    assert command.main([results(tmp_path / "b.jsonl", 3e-7), flag, str(folder / where)]) == 1
    assert f"{folder / page}: File too large; what was there before is untouched" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == good, "page, pictures and results are of one report, with no part of another"
