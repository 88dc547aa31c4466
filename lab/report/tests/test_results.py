# SPDX-License-Identifier: MIT
"""Reading result files: what is understood is kept whole, what is not is reported by line and skipped."""

import gzip
import json
import random
import re

import pytest
from headroom_report.page import model, text
from headroom_report.results import reading as results
from headroom_report.__main__ import expand

import samples

RUN = samples.run("memory", "std::vector", {"elements": 1000}, {"payload": 4000})


def read_lines(tmp_path, *lines: bytes):
    path = tmp_path / "some.jsonl"
    path.write_bytes(b"\n".join(lines))
    return results.read([path]), str(path)


def line(record) -> bytes:
    return json.dumps(record).encode()


def test_a_whole_file_is_read_without_problems(tmp_path):
    records = samples.published("memory", "growth", "latency")
    found = results.read([samples.write(tmp_path / "some.jsonl", records)])
    assert not found.problems and found.repeated == 0
    assert len(found.runs) == len(records) - 1
    assert [machine["cpu"] for machine in found.machines.values()] == [records[0]["cpu"]]


@pytest.mark.parametrize(
    "bad, why",
    [
        (b'{"v":1,"kind":"run"', "not JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[1,2]", "not an object"),
        (b'{"kind":"run"}', "v is not a whole number"),
        (b'{"v":"1","kind":"run"}', "v is not a whole number"),
        (b'{"v":1,"kind":"walk"}', "unknown kind"),
        (b'{"v":3,"kind":"whatever"}', "newer lab (schema version 3;"),
        (b'{"v":1,"kind":"machine"}', "id"),
        (line({**RUN, "outcome": "fine"}), "unknown outcome"),
        (line({**RUN, "contender": 7}), "contender"),
        (line({**RUN, "round": "one"}), "round"),
        (line({**RUN, "round": True}), "round"),
        (line({**RUN, "parameters": [1]}), "parameters"),
        (line({**RUN, "parameters": {"a": [1]}}), "parameter"),
        (line({**RUN, "metrics": []}), "metrics"),
        (line({**RUN, "metrics": {"t": 1}}), "not an object"),
        (line({**RUN, "metrics": {"t": {"unit": "s"}}}), "not a list"),
        (line({**RUN, "metrics": {"t": {"values": [1]}}}), "unit"),
        (line({**RUN, "metrics": {"t": {"unit": "s", "values": ["1"]}}}), "not a number"),
        (line({**RUN, "metrics": {"t": {"unit": "s", "values": [True]}}}), "not a number"),
        (line({**RUN, "metrics": {"t": {"unit": "s", "values": [1, 2], "counts": [1]}}}), "counts"),
        (line({**RUN, "metrics": {"t": {"unit": "s", "values": [1], "counts": [-1]}}}), "negative"),
        (line(RUN).replace(b"4000", b"NaN"), "NaN"),
        (line(RUN).replace(b"4000", b"1e999"), "not a number"),
        (line(RUN).replace(b"4000", b"9" * 400), "too large"),
        (b"[" * 100_000, "nested"),
        (b'{"v":' + b"9" * 5000 + b"}", ""),
    ],
)
def test_a_bad_line_is_reported_by_line_and_skipped_whole(tmp_path, bad, why):
    found, name = read_lines(tmp_path, line(samples.MACHINE), bad, line(RUN), b"")
    assert len(found.runs) == 1
    (problem,) = found.problems
    assert str(problem).startswith(f"{name}:2: ") and why in str(problem) and str(problem).endswith("; skipped")


def test_every_truncation_of_a_file_keeps_the_whole_lines_before_it(tmp_path):
    data = line({**RUN, "round": 0}) + b"\n" + line({**RUN, "round": 1}) + b"\n"
    for length in range(len(data)):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(data[:length])
        found = results.read([path])
        whole = sum(length >= end for end in (data.index(b"\n"), len(data) - 1))
        assert len(found.runs) == whole
        assert len(found.problems) <= 1


def test_a_run_that_comes_again_replaces_the_earlier_one(tmp_path):
    again = samples.run("memory", "std::vector", {"elements": 1000}, {"payload": 1})
    found, _ = read_lines(tmp_path, line(RUN), line(again))
    assert len(found.runs) == 1 and found.repeated == 1
    assert found.runs[0].metrics["payload"].values == (1,)


def test_files_that_are_empty_missing_or_folders_are_no_tracebacks(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    found = results.read([tmp_path / "empty.jsonl", tmp_path / "missing.jsonl", tmp_path])
    assert not found.runs
    assert [problem.split(": ")[0] for problem in found.problems] == [str(tmp_path / "missing.jsonl"), str(tmp_path)]


def test_a_run_without_its_machine_is_kept_and_the_machine_marked(tmp_path):
    found, _ = read_lines(tmp_path, line(RUN))
    assert found.machines == {"0badcafe": {"id": "0badcafe", "missing": True}}


def test_the_last_machine_line_counts_with_every_grid(tmp_path):
    found, _ = read_lines(tmp_path, line({**samples.MACHINE, "started": "1"}), line({**samples.MACHINE, "started": "2", "grid": "default"}))
    machine = found.machines["0badcafe"]
    assert (machine["started"], machine["grid"]) == ("2", "quick, default")


def test_a_folder_stands_for_the_result_files_in_it(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "notes.txt"):
        (tmp_path / name).write_text("")
    assert expand([str(tmp_path)]) == [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]


@pytest.mark.parametrize("seed", range(6))
def test_damaged_files_are_read_as_far_as_they_go_and_what_was_left_out_is_counted(tmp_path, seed):
    """Bytes flipped, lines cut, doubled, joined and swapped: every line ends up as a run, a machine, or a problem."""
    chance = random.Random(seed)
    lines = [line(record) for record in samples.published()]
    chance.shuffle(lines)
    lines = lines[:700]
    for _ in range(60):
        at = chance.randrange(len(lines))
        kind = chance.randrange(5)
        if kind == 0 and lines[at]:
            place = chance.randrange(len(lines[at]))
            lines[at] = lines[at][:place] + bytes([chance.randrange(256)]) + lines[at][place + 1 :]
        elif kind == 1:
            lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
        elif kind == 2:
            lines.insert(at, lines[chance.randrange(len(lines))])
        elif kind == 3:
            lines[at] += lines.pop(chance.randrange(len(lines))) if at < len(lines) - 1 else b""
        else:
            lines[at] = lines[at].replace(b'"values": [', chance.choice([b'"values": [1e999, ', b'"values": "', b'"values": [null, ']))
    found, path = read_lines(tmp_path, *lines)
    machines = sum(b'"kind": "machine"' in one for one in lines)
    assert 500 < len(found.runs) <= 800
    assert len(found.runs) + found.repeated + len(found.problems) >= found.lines - machines
    assert found.problems and all(re.match(rf"{re.escape(path)}:\d+: ", problem) for problem in found.problems)
    assert f"{len(found.problems)} place" in text.report_text(model.build(found))


def test_a_packed_file_is_read_like_the_file_itself_and_a_damaged_one_is_named(tmp_path):
    path = samples.write(tmp_path / "some.jsonl", samples.published("memory"))
    packed = tmp_path / "some.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert len(results.read([packed]).runs) == len(results.read([path]).runs)
    packed.write_bytes(packed.read_bytes()[:1000])
    (problem,) = results.read([packed]).problems
    assert "cannot be read" in str(problem)
