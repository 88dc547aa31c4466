# SPDX-License-Identifier: MIT
"""The page and the text: the numbers are the files' own, nothing is loaded, and odd results give a page that says so."""

import base64
import json
import re
import statistics
import zlib
from html import unescape

import altair
import pytest
from headroom_report.page import experiments, html, model, text
from headroom_report.pictures.style import arrange
from headroom_report.results import reading, words
from headroom_report.results.strategies import KINDS, STRATEGIES, plain
from headroom_report.verdicts import claims
from headroom_report.__main__ import main

import samples


def tables_of(page):
    """Every table of a page, packed or not: by its caption, the rows' texts, without what stands below them in small print."""
    found = {}
    for part in (page, *unpacked(page)["tables"]):
        for caption, table in re.findall("<caption>(.*?)</caption>(.*?)</table>", part, re.S):
            rows = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in re.findall("<tr>(.*?)</tr>", table, re.S)]
            found[unescape(caption)] = [[unescape(re.sub("<small>.*?</small>|<[^>]*>", "", cell, flags=re.S)) for cell in row] for row in rows]
    return found


def unpacked(page):
    return json.loads(zlib.decompress(base64.b64decode(re.search(r'id="packed">(.*?)</script>', page, re.S)[1])))


def made(tmp_path, records, name="some.jsonl"):
    report = model.build(reading.read([samples.write(tmp_path / name, records)]))
    return html.render(report), report


@pytest.fixture(scope="module")
def tables(page):
    return tables_of(page)


def medians(experiment):
    """Of each cell and contender the time, from the lines and without the report's own reckoning."""
    found = {}
    for record in samples.published(experiment):
        if record["kind"] == "run" and record["outcome"] == "ok" and "time" in record["metrics"]:
            place = words.configuration(record["parameters"]), record["contender"]
            found.setdefault(place, []).append(statistics.median(record["metrics"]["time"]["values"]))
    return {place: statistics.median(values) for place, values in found.items()}


def number(shown):
    """What a cell says, in its unit."""
    found, unit = re.match(r"([\d.,]+) ?(\S*)", shown).groups()
    return float(found.replace(",", "")) * {"ms": 1e-3, "µs": 1e-6, "ns": 1e-9}.get(unit, 1)


def test_medians_and_ratios_on_the_page_are_those_of_the_files(tables):
    (heading, *rows), times = tables["time to build"], medians("throughput")
    assert len(times) > 100
    for what, *row in rows:
        yardstick = times[what, "std::vector"]
        for name, shown in zip(heading[1:], row):
            expected = times.get((what, name))
            if expected is None:
                assert shown == "—"
                continue
            assert number(shown) == pytest.approx(expected, rel=0.005)
            if name != "std::vector":
                assert float(re.search(r"\(([\d.]+)\)", shown)[1]) == pytest.approx(expected / yardstick, rel=0.01, abs=0.0051)
    assert {what for what, *_ in rows} == {what for what, _ in times} and heading[1:] == arrange({name for _, name in times})


def test_packed_tables_hold_the_figures_of_the_files(tables):
    """The long tables behind the fold: one for each kind of resource, a row for each way to use it, a column for each implementation."""
    times, seen = medians("data-structures"), set()
    everywhere = {plain(name): name for name in ("std::allocator AS1", "std::allocator AS2")}
    for kind in KINDS[1:]:
        heading, *rows = tables[f"time of a leaf: {kind}"]
        ways = {one.title.removeprefix(f"{kind}, "): one.id for one in STRATEGIES.values() if one.kind == kind}
        for what, *row in rows:
            way = max((way for way in ways if f", {way}" in what), key=len)
            for name, shown in zip(heading[1:], row):
                place = what.replace(f", {way}", ""), everywhere.get(name, f"{name} {ways[way]}")
                seen.add(place)
                assert shown == "—" if place not in times else number(shown) == pytest.approx(times[place], rel=0.005)
    assert not [place for place in times.keys() - seen if not place[1].endswith("#2")]


def test_heat_maps_show_the_best_of_headrooms_and_the_best_of_the_others(page):
    spec = unpacked(page)["pictures"]["chart-0-data-structures"]
    values = spec["data"]["values"] if "values" in spec.get("data", {}) else next(iter(spec["datasets"].values()))
    cell = next(row for row in values if row["panel"] == "the best of the others, 2⁶ elements" and row["x"] == "monotonic, winked out")
    times = {name: time for (where, name), time in medians("data-structures").items() if where == f"{cell['y']}, 2⁶ elements"}
    best = min(time for name, time in times.items() if name.endswith(" AS4") and not name.startswith(("headroom::", "floor/")))
    assert cell["value"] == pytest.approx(best / times["std::allocator AS1"], rel=1e-3)


def test_both_readings_of_the_papers_tables_stand_beside_ours(published):
    section = next(section for section in published.machines[0].sections if section.experiment.id == "data-structures")
    by = {}
    for what, whose, *cells in next(table for table in section.tables if "both readings" in table.caption).rows:
        by.setdefault(what.text, {})[whose.text] = [cell.text for cell in cells]
    rows = next(rows for rows in by.values() if len(rows) == 3)
    printed, right = rows["published, as printed"], rows["published, columns put right"]
    assert "here" in rows and printed[:2] == right[2:4] and printed[2:4] == right[:2] and printed[4:] == right[4:]


def test_the_text_says_the_same_as_the_page(published, tables):
    plain = " ".join(text.report_text(published, everything=True).split())
    for caption in ("time to build", "longest append", "peak resident memory", "time of one life"):
        assert all(shown in plain for row in tables[caption][1:] for shown in row)


def test_the_page_loads_nothing(page):
    outside = page.replace(html.vega(), "")
    assert not re.findall(r"<(?:script|img|iframe|object|embed)[^>]*\ssrc\s*=", outside)
    assert re.findall(r"<link[^>]*href=\"([^\"]*)\"", outside) == ["data:,"]
    assert not re.findall(r"@import|url\(", outside)
    specs = unpacked(page)["pictures"]
    assert specs and all("url" not in json.dumps(spec.get("data", {})) for spec in specs.values())


def test_the_page_of_the_documents_own_grid_stays_small_too(page, tmp_path):
    """P0089R0's structures at all its sizes have seven times the cells of the published results."""
    assert len(page.encode()) < 2_500_000
    once = [record for record in samples.published("data-structures") if not record.get("round")]
    records = [{**one, "parameters": {**one["parameters"], "grid": part}} for one in once[1:] for part in range(7)]
    assert len(made(tmp_path, once[:1] + records)[0].encode()) < 5_000_000


def test_every_experiment_has_a_picture_and_a_table_behind_it(published):
    measured = [section for section in published.machines[0].sections if section.ran]
    assert len(measured) > 20
    for section in measured:
        assert section.pictures and section.tables, section.experiment.id


def test_every_first_table_names_its_verdict_in_words(published, tables):
    undecided = {"not run", "one round", "too noisy to say"}
    for document in {claim.document for claim in claims.documents_claims()}:
        verdicts = {row[1] for row in tables[document][1:]}
        assert verdicts and verdicts <= {"holds", "does not hold", "overturned", "holds where run"} | undecided
    assert all(model.told(verdict)[1] != "bad" for verdict in published.machines[0].verdicts)  # nobody else's sentence is Headroom's fault
    assert {row[1] for row in tables["Headroom's promises"][1:]} <= {"met", "met where run"} | undecided


def test_every_loss_is_on_the_page(published, tables):
    shown = tables["Every cell where Headroom's default is not the best, worst first"][1:]
    losses = [place for place in published.machines[0].standing.places if place.ratio > 1.005]
    assert losses and len(shown) == len(losses)
    decided = [number(row[0]) for row, place in zip(shown, published.machines[0].standing.losses) if place.lost]
    assert decided == sorted(decided, reverse=True)


def test_with_an_a_a_run_small_differences_are_grey_and_the_noise_is_named_also_behind_the_fold(page, published, tmp_path):
    assert re.search(r"or within the noise \(two runs of the same contender typically lie [\d.]+% apart\)\.", page)
    assert re.search(r'<td class="n quiet"', page)
    (folded,) = [table for section in published.machines[0].sections for table in section.details if table.caption == "time to fill it"]
    assert "two runs of the same contender" in folded.notes[0]
    assert "Grey: level with it, or not told apart: fewer than three rounds, or within the noise." in made(tmp_path, samples.published("compile-time"))[0]


def test_experiments_that_were_not_run_are_named_and_why(tmp_path):
    why = "no control group may be made"
    refused = samples.run("pressure", "std::vector", {"iterations": 300}, {}, outcome="not_run", detail=why)
    page, report = made(tmp_path, [*samples.published("memory"), {**refused, "machine": samples.published("memory")[0]["id"]}])
    assert any(warning.startswith("Not run: throughput, latency, one-growth") for warning in report.notes)
    assert page.count("Not run in these results.") == len(experiments.every()) - 1
    assert "Not run in these results. No control group may be made." in page
    assert why in text.report_text(report, everything=True)
    assert next(one for one in report.machines[0].verdicts if one.claim.id == "pressure-twice").state == "not run"


def test_failures_and_absent_peers_stand_on_the_page(tmp_path):
    point = {"element": "int", "elements": 1000, "optimisation": "O2"}
    endings = {"std::vector": "killed", "headroom::settled_vector": "timeout", "folly::fbvector": "absent"}
    page, _ = made(tmp_path, [samples.MACHINE] + [samples.run("throughput", name, point, {}, 0, outcome, "because") for name, outcome in endings.items()])
    assert "1 killed, 1 timeout" in page and "folly::fbvector (because)" in page
    fine = samples.run("throughput", "boost::container::vector", point, {"time": 1.0})
    page, _ = made(tmp_path, [samples.MACHINE, fine, samples.run("throughput", "std::vector", point, {}, 0, "bad_alloc")])
    assert re.search(r'<td class="n bad"[^>]*>bad_alloc', page)


@pytest.mark.parametrize("records", [[], [dict(samples.MACHINE)], [{"v": 2, "kind": "run"}]])
def test_nothing_to_show_gives_a_page_that_says_so(tmp_path, records):
    page, report = made(tmp_path, records)
    assert "there is nothing to show" in page
    assert text.report_text(report).startswith("! ")


def test_lines_that_are_newer_or_could_not_be_read_are_named(tmp_path):
    path = samples.write(tmp_path / "broken.jsonl", [*samples.published("compile-time"), {"v": 7, "kind": "run"}])
    lines = path.read_bytes().count(b"\n")
    path.write_bytes(path.read_bytes() + b'{"v":1,"kind":')
    page = html.render(model.build(reading.read([path])))
    assert f"{path}:{lines}: written by a newer lab (schema version 7; this report reads up to 1); skipped" in page
    assert f"{path}:{lines + 1}: cut off in the middle; skipped" in page


def test_runs_with_strange_shapes_are_still_a_page(tmp_path):
    """Zeros, missing metrics, missing parameters, unknown experiments and units: whatever a line may legally hold."""
    shapes = (
        ({}, {}),
        ({"elements": 0, "bytes": 0, "pages": 0}, {"time": 0, "append_max": 0, "payload": 0, "call_p50": 0}),
        ({"elements": "many", "optimisation": 3}, {"time": [], "grows_at": [], "append_decades": []}),
        ({"elements": 5, "element": "int", "optimisation": "O2"}, {"time": -1.0, "append_histogram": {"unit": "s", "values": [0.0, -1.0], "counts": [0, 3]}}),
    )
    records = [samples.MACHINE] + [
        samples.run(experiment, contender, *shape)
        for experiment in [*experiments.names(), "unheard-of"]
        for contender in ("std::vector", "headroom::settled_vector", "headroom::settled_vector/page_by_page")
        for shape in shapes
    ]
    page, report = made(tmp_path, records)
    assert "unheard-of" in page
    text.report_text(report, everything=True)
    assert all(html.as_svg(picture).startswith("<svg") for section in report.machines[0].sections for picture in section.pictures)


def test_hostile_names_stay_text(tmp_path):
    evil = '</script><script>alert(1)</script><b a="\'">'
    point = {"element": evil, "elements": 1000, "optimisation": "O2"}
    names = (evil, "std::vector", "headroom::settled_vector")
    page, _ = made(tmp_path, [{**samples.MACHINE, "cpu": evil}, *(samples.run("throughput", name, point, {"time": 1e-6}) for name in names)])
    assert "<script>alert" not in page and evil not in page


def build(name, started, ran, **more):
    """A machine, and one run of each experiment that ran there."""
    runs = [samples.run(experiment, "std::vector", {"bytes": 1, "elements": 1}, {"time": 1.0}, machine=name) for experiment in ran]
    return [{**samples.MACHINE, "id": name, "commit": name, "started": started, **more}, *runs]


def test_two_machines_each_get_their_own_verdicts(tmp_path):
    page, report = made(tmp_path, build("one", "2026-01-01", ("memory", "growth")) + build("other", "2026-01-01", ("memory",), cpu="Another"))
    assert [machine.id for machine in report.machines] == ["one", "other"]
    assert 'href="#machine-1"' in page and re.search('id="machine-1"[^>]*>\\s*<p class="on">Another', page)
    heading, *rows = tables_of(page)["Reserve and commit"]
    assert heading[1:5] == ["on Made-up", "here", "on Another", "here"] and all(len(row) == len(heading) for row in rows)
    ids = re.findall(r'\sid="([^"]+)"', page.replace(html.vega(), ""))
    assert len(ids) == len(set(ids))


def test_of_several_builds_on_one_machine_the_newest_that_ran_the_most_experiments_is_shown(tmp_path):
    both = ("memory", "growth")
    page, report = made(tmp_path, build("old", "2026-01-01", both) + build("new", "2026-02-02", both) + build("part", "2026-03-03", ("growth",)))
    assert [machine.id for machine in report.machines] == ["new"]
    assert "other builds on the same machine: old (commit old), part (commit part)" in page


def test_what_is_published_can_be_made_again_from_what_is_published(tmp_path, capsys):
    records = samples.published("throughput", "data-structures")[:3000]
    files = [samples.write(tmp_path / "a.jsonl", records[:900]), samples.write(tmp_path / "b.jsonl", records[800:])]
    assert main([*map(str, files), "--publish", str(tmp_path / "one")]) == 0
    names = sorted(file.name for file in (tmp_path / "one").iterdir())
    assert names == ["data-structures.svg", "index.html", "results", "throughput-int.svg"]
    assert main([str(tmp_path / "one/results"), "--publish", str(tmp_path / "two")]) == 0
    for name in (*names, "results/intel-xeon.jsonl.gz"):
        if name not in ("index.html", "results"):  # the page says how many runs came twice
            # The drawing library numbers its gradients throughout a process.
            one, two = (re.sub(rb"(gradient_|clip)\d+", b"", (tmp_path / which / name).read_bytes()) for which in ("one", "two"))
            assert one == two, name
    assert str(tmp_path) not in (tmp_path / "one" / "index.html").read_text()
    again = reading.read([tmp_path / "one/results/intel-xeon.jsonl.gz"])
    assert len(again.runs) == sum(record["kind"] == "run" for record in records) and not again.problems


def test_publishing_results_that_lack_a_picture_says_so(tmp_path, capsys):
    path = samples.write(tmp_path / "some.jsonl", samples.published("throughput"))
    assert main([str(path), "--publish", str(tmp_path / "out")]) == 1
    assert "no picture data-structures" in capsys.readouterr().err
    assert (tmp_path / "out" / "index.html").exists()


def test_the_command_says_by_its_status_whether_anything_was_shown(tmp_path, capsys):
    path = samples.write(tmp_path / "some.jsonl", samples.published("memory"))
    assert main([str(path), "--out", str(tmp_path / "a" / "page.html")]) == 0
    assert (tmp_path / "a" / "page.html").stat().st_size > 400_000
    assert main([str(tmp_path / "missing.jsonl"), "--out", str(tmp_path / "none.html")]) == 1
    assert "missing.jsonl" in capsys.readouterr().err
    assert main([str(path), "--out", "/proc/none/page.html"]) == 1


def test_the_bundled_vega_lite_is_the_one_altair_writes_for():
    assert altair.SCHEMA_VERSION.removeprefix("v").startswith(html.VEGA_LITE + ".")
