"""A disk that is full, really: what was there before survives, the error is said, and the exit status tells."""

import os
import subprocess

import pytest
from headroom_report import __main__ as command

import samples


SOME = 500_000  # room for pictures and results, and not for the page


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 9 MB: a page has between three and four."""
    place = tmp_path / "small"
    place.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root mounts a file system")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=9m", "tmpfs", place], capture_output=True).returncode != 0:
        pytest.skip("this root may not mount")
    yield place
    subprocess.run(["umount", place], check=True)


def fill(place, but=0):
    """Until so many bytes are left."""
    (place / "kept").write_bytes(b"x" * but)
    with open(place / "rest", "wb", buffering=0) as rest:
        try:
            while rest.write(b"x" * 4096):
                pass
        except OSError:
            pass
    (place / "kept").unlink()


def results(folder, name, ours):
    return samples.write(
        folder / name,
        [samples.MACHINE]
        + [
            samples.run("throughput", contender, {"element": "int", "elements": 1000, "optimisation": "O2"}, {"time": time})
            for contender, time in (("std::vector", 1e-6), (samples.SETTLED, ours))
        ],
    )


def test_the_last_good_report_survives(tmp_path, small_disk, capsys):
    page = small_disk / "report.html"
    assert command.main([str(results(tmp_path, "a.jsonl", 5e-7)), "--out", str(page)]) == 0
    good = page.read_bytes()
    fill(small_disk)
    assert command.main([str(results(tmp_path, "b.jsonl", 3e-7)), "--out", str(page)]) == 1
    assert f"{page}: No space left on device; what was there before is untouched" in capsys.readouterr().err
    assert page.read_bytes() == good
    assert sorted(path.name for path in small_disk.iterdir()) == ["report.html", "rest"], "a part of a page was left"


def test_the_last_published_report_survives(tmp_path, small_disk, capsys):
    folder = small_disk / "report"
    command.main([str(results(tmp_path, "a.jsonl", 5e-7)), "--publish", str(folder)])
    good = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {"index.html", "results.jsonl.gz"} <= good.keys()
    fill(small_disk, but=SOME)
    assert command.main([str(results(tmp_path, "b.jsonl", 3e-7)), "--publish", str(folder)]) == 1
    assert "index.html: No space left on device" in capsys.readouterr().err
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert kept == good, "page, pictures and results are of one report"
