"""The page and the text: the numbers are the files' own, nothing is loaded, and odd results give a page that says so."""

import json
import re
import statistics
from html.parser import HTMLParser

import altair
import pytest
from headroom_report.page import experiments, html as page, model, text
from headroom_report.pictures import charts
from headroom_report.results import reading as results
from headroom_report.verdicts import claims
from headroom_report.__main__ import main

import samples


class Tables(HTMLParser):
    """Every table of a page, packed or not: caption, and rows of (text, sort key)."""

    def __init__(self, html):
        super().__init__()
        self.tables, self.part, self.skipping = [], None, False
        self.feed(html)
        if found := re.search(r'id="packed">(.*?)</script>', html, re.S):
            for table in page.unpack(found[1])["tables"]:
                cells = [[(cell if isinstance(cell, list) else [cell, None])[:2] for cell in row] for row in table["rows"]]
                cells = [[cell if len(cell) == 2 else [*cell, None] for cell in row] for row in cells]
                self.tables.append({"caption": table["caption"], "rows": [[[title, None] for title, *_ in table["columns"]], *cells]})

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        elif tag == "caption":
            self.part = "caption"
        elif tag == "tr" and self.tables:
            self.tables[-1]["rows"].append([])
        elif tag in ("td", "th") and self.tables:
            self.tables[-1]["rows"][-1].append(["", attributes.get("data-s")])
            self.part = "cell"
        elif tag == "small":
            self.part = None

    def handle_endtag(self, tag):
        if tag in ("td", "th", "caption"):
            self.part = None

    def handle_data(self, data):
        if self.part == "caption":
            self.tables[-1]["caption"] += data
        elif self.part == "cell":
            self.tables[-1]["rows"][-1][-1][0] += data


def made(tmp_path, records, name="some.jsonl"):
    report = model.build(results.read([samples.write(tmp_path / name, records)]))
    return page.render(report), report


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return made(tmp_path_factory.mktemp("full"), samples.full())


def test_medians_on_the_page_are_those_of_the_files(full):
    """Recomputed from the raw lines, without any of the report's own code."""
    html, _ = full
    table = next(table for table in Tables(html).tables if table["caption"] == "time to build")
    heading = [cell[0] for cell in table["rows"][0]]
    times = {}
    for record in samples.full():
        if record.get("experiment") == "throughput" and record["outcome"] == "ok":
            point = record["parameters"]
            label = (
                f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[len(str(point['elements'])) - 1]} {point['element']}, -{point['optimisation']}"
                + (", warm" if point.get("warm") else "")
            )
            times.setdefault((label, record["contender"]), []).append(record["metrics"]["time"]["values"][0])
    checked = 0
    for row in table["rows"][1:]:
        for name, (shown, key) in zip(heading[1:], row[1:]):
            expected = times.pop((row[0][0], name), None)
            if expected is None:
                assert shown == "—"
                continue
            assert float(key) == pytest.approx(statistics.median(expected), rel=1e-3)
            number, unit = re.match(r"([\d.,]+) (\S+)", shown).groups()
            assert float(number.replace(",", "")) * {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit] == pytest.approx(
                statistics.median(expected), rel=0.005
            )
            checked += 1
    assert not times and checked > 100


def test_packed_tables_hold_the_figures_of_the_files(full):
    """The long tables behind the fold, recomputed from the raw lines."""
    html, _ = full
    packed = page.unpack(re.search(r'id="packed">(.*?)</script>', html, re.S)[1])
    table = next(table for table in packed["tables"] if table["caption"] == "Every implementation: time of a leaf")
    bound, base = "bound at compile time", "through an abstract base"
    ways = {(True, False): bound, (True, True): f"{bound}, winked out", (False, False): base, (False, True): f"{base}, winked out"}
    titles = [column[0] for column in table["columns"]]
    times = {}
    for record in samples.full():
        if record.get("experiment") == "data-structures" and record["outcome"] == "ok":
            point = record["parameters"]
            name, strategy = record["contender"].rsplit(" ", 1)
            number = int(strategy.removeprefix("AS"))
            way = bound if number == 1 else base if number == 2 else ways[(number - 3) % 4 < 2, number % 2 == 0]
            where = f"{point['contents']} ({point['structure']}), 2{'⁰¹²³⁴⁵⁶⁷⁸⁹'[point['size_exponent'] // 10] if point['size_exponent'] > 9 else ''}"
            where += "⁰¹²³⁴⁵⁶⁷⁸⁹"[point["size_exponent"] % 10] + " elements"
            where += ", scrambled heap" if point["heap"] != "clean" else ""
            where += "" if point["trimming"] else ", malloc does not trim"
            times[where, name, way] = record["metrics"]["time"]["values"][0]
    for row in table["rows"]:
        cells = [cell if isinstance(cell, list) else [cell] for cell in row]
        for title, cell in list(zip(titles, cells))[3:]:
            expected = times.pop((cells[0][0], cells[1][0], title), None)
            assert (cell[0] == "—") if expected is None else float(cell[1]) == pytest.approx(expected, rel=1e-3)
    assert not times


def test_heat_maps_show_the_best_of_headrooms_and_the_best_of_the_others(full):
    """One cell of the picture, recomputed from the raw lines."""
    html, _ = full
    spec = page.unpack(re.search(r'id="packed">(.*?)</script>', html, re.S)[1])["pictures"]["chart-0-data-structures"]
    values = spec["data"]["values"] if "values" in spec.get("data", {}) else next(iter(spec["datasets"].values()))
    (cell,) = [
        row
        for row in values
        if row["panel"] == "the best of the others, 2¹⁰ elements" and row["y"].endswith("(DS7)") and row["x"] == "monotonic, winked out"
    ]
    times = {
        record["contender"]: record["metrics"]["time"]["values"][0]
        for record in samples.full()
        if record.get("experiment") == "data-structures"
        and record["outcome"] == "ok"
        and record["parameters"]["structure"] == "DS7"
        and record["parameters"]["size_exponent"] == 10
    }
    best = min(time for name, time in times.items() if name.endswith(" AS4") and name.startswith("std"))
    assert cell["value"] == pytest.approx(best / times["std::allocator AS1"], rel=1e-3)


def test_both_readings_of_the_papers_tables_stand_beside_ours(full):
    html, report = full
    section = next(section for section in report.machines[0].sections if section.experiment.id == "data-structures")
    whose = [row[1].text for table in section.beside for row in table.rows if len(table.columns) == 8]
    assert {"published, as printed", "published, columns put right", "here"} <= set(whose)
    rows = {row[1].text: [cell.text for cell in row[2:]] for row in section.beside[0].rows if row[0].text == "unordered_set<int> (DS3), 2¹⁰ elements"}
    printed, right = rows["published, as printed"], rows["published, columns put right"]
    assert printed[:2] == right[2:4] and printed[2:4] == right[:2] and printed[4:] == right[4:]


def test_ratios_on_the_page_are_those_of_the_medians(full):
    html, _ = full
    table = next(table for table in Tables(html).tables if table["caption"] == "time of one life")
    heading = [cell[0] for cell in table["rows"][0]]
    for row in table["rows"][1:]:
        keys = {name: float(key) for name, (_, key) in zip(heading[1:], row[1:])}
        for name, (shown, _) in zip(heading[1:], row[1:]):
            if name != "std::vector":
                assert float(re.search(r"\(([\d.]+)\)", shown)[1]) == pytest.approx(
                    keys[name] / keys["std::vector"], abs=0.0051
                )


def test_the_text_says_the_same_as_the_page(full):
    html, report = full
    plain = " ".join(text.report_text(report, everything=True).split())
    page_tables = {table["caption"]: table for table in Tables(html).tables}
    for caption in ("time to build", "longest append", "peak resident memory", "time of one life"):
        for row in page_tables[caption]["rows"][1:]:
            for shown, _ in row:
                assert shown in plain


def test_pictures_keep_to_the_schema_of_vega_lite(tmp_path, monkeypatch):
    monkeypatch.setattr(charts, "CHECKED", True)
    _, report = made(tmp_path, samples.full(paired=True))
    assert sum(len(section.pictures) for section in report.machines[0].sections) >= 10


def test_the_page_loads_nothing(full):
    html, _ = full
    outside = html.replace(page.vega(), "")
    assert not re.findall(r"<(?:script|img|iframe|object|embed)[^>]*\ssrc\s*=", outside)
    links = re.findall(r"<link[^>]*href=\"([^\"]*)\"", outside)
    assert links == ["data:,"]
    assert not re.findall(r"@import|url\(", outside)
    specs = page.unpack(re.search(r'id="packed">(.*?)</script>', html, re.S)[1])["pictures"]
    assert specs and all("url" not in json.dumps(spec.get("data", {})) for spec in specs.values())


def test_the_page_stays_small(full):
    html, _ = full
    assert len(html.encode()) < 5_000_000


def test_the_page_of_the_documents_own_grid_stays_small_too(tmp_path):
    """All powers of ten to 10^10, at all levels, by all contenders: as many cells as a full run has."""
    names = [(name, 1) for name in [*samples.SPEED, samples.SETTLED + "/open unchecked", samples.SETTLED + "/warm", "std::vector#2"]]
    histogram = {"unit": "s", "values": [1e-9 * 1.02**i for i in range(1000)], "counts": [1000 + i for i in range(1000)]}
    calls = {"append_min": 1e-9, "append_p50": 1e-9, "append_p99": 1e-8, "append_p9999": 1e-7, "append_p999999": 1e-6, "append_decades": [1.0] * 7}

    def time(point, name, *_):
        return point["elements"] * 1e-9 * samples.jitter(name, *point.values())

    def built(*run):
        return dict.fromkeys(("time", "time_steady", "destroy", "loop_cpu"), time(*run))

    def leaf(point, name, factor, _):
        found = 1e-8 * factor * samples.jitter(name, *point.values())
        return {"time": found, "time_first": found}

    ten = [10**power for power in range(3, 11)]
    grid = samples.points(optimisation=["O0", "O1", "O2"], element=["int", "unique_ptr<int>"], elements=ten)
    structures = samples.points(  # half of P0089R0's sizes, to take less of the tests' time
        structure=[f"DS{number}" for number in range(1, 13)], contents=["vector<string>"], size_exponent=range(6, 17, 2), leaves_exponent=[27],
        heap=["clean", "scrambled"], trimming=[True, False],
    )
    records = [
        dict(samples.MACHINE),
        *samples.vary("throughput", grid, names, built),
        *samples.vary("latency", grid, names, lambda *run: {**calls, "append_max": time(*run), "append_histogram": histogram}),
        *samples.vary("memory", samples.points(element=["int"], elements=ten), names,
                      lambda point, *_: {"peak_resident": 4.1 * point["elements"], "baseline": 1.0, "payload": 4 * point["elements"], "unused": 5}),
        *samples.vary("one-growth", samples.points(element=["int"], bytes=[2**power for power in range(12, 31)]), names,
                      lambda point, *_: {"time": point["bytes"] * 1e-9, "time_first": 1.0}),
        *samples.vary("data-structures", structures, samples.by_strategy(), leaf),
    ]
    html, _ = made(tmp_path, records)
    assert len(html.encode()) < 5_000_000


def test_every_experiment_has_a_picture_and_a_table_behind_it(full):
    _, report = full
    measured = [section for section in report.machines[0].sections if section.ran]
    assert len(measured) > 15  # of all that samples.py makes up
    for section in measured:
        assert section.pictures and section.tables, section.experiment.id


def test_every_first_table_names_its_verdict_in_words(full):
    html, _ = full
    found = {table["caption"]: table for table in Tables(html).tables}
    undecided = {"not run", "one round", "too noisy to say"}
    for document in {claim.document for claim in claims.documents_claims()}:
        words = {row[1][0] for row in found[document]["rows"][1:]}
        assert words and words <= {"holds", "does not hold", "overturned", "holds where run"} | undecided
    assert {row[1][0] for row in found["Headroom's promises"]["rows"][1:]} <= {"met", "met where run"} | undecided


def test_every_loss_is_on_the_page(full):
    html, report = full
    table = next(table for table in Tables(html).tables if table["caption"].startswith("Every cell where"))
    losses = [place for place in report.machines[0].standing.places if place.ratio > 1.005]
    assert losses and len(table["rows"]) - 1 == len(losses)
    decided = [place.ratio for place in report.machines[0].standing.losses if place.lost]
    keys = [float(row[0][1]) for row in table["rows"][1:]][: len(decided)]
    assert keys == sorted(keys, reverse=True)


def test_with_an_a_a_run_small_differences_are_grey_and_the_noise_is_named(tmp_path):
    html, report = made(tmp_path, samples.full(paired=True))
    assert "the same contender run twice lay apart typically by" in html
    assert re.search(r'<td class="n quiet"', html)
    without, _ = made(tmp_path, samples.full(), "other.jsonl")
    assert "no contender was run twice" in without


def test_experiments_that_were_not_run_are_named(tmp_path):
    html, report = made(tmp_path, [record for record in samples.full() if record.get("experiment") in (None, "memory")])
    assert any(warning.startswith("Not run: throughput, latency, one-growth") for warning in report.warnings)
    assert html.count("Not run in these results.") == len(experiments.every()) - 1


def test_an_experiment_that_the_system_refused_says_why(tmp_path):
    why = "no control group may be made"
    records = [record for record in samples.full() if record.get("experiment") in (None, "memory")]
    records.append(samples.run("pressure", "std::vector", {"iterations": 300}, {}, outcome="not_run", detail=why))
    html, report = made(tmp_path, records)
    assert "Not run in these results. No control group may be made." in html
    assert why in text.report_text(report, everything=True)
    verdict = next(one for one in report.machines[0].verdicts if one.claim.id == "pressure-twice")
    assert verdict.state == "not run"


def test_failures_and_absent_peers_stand_on_the_page(full):
    html, _ = full
    assert "2 bad_alloc" in html and "folly::fbvector (no source folder was given)" in html
    assert re.search(r'<td class="n bad"[^>]*>bad_alloc', html)


@pytest.mark.parametrize("records", [[], [dict(samples.MACHINE)], [{"v": 2, "kind": "run"}]])
def test_nothing_to_show_gives_a_page_that_says_so(tmp_path, records):
    html, report = made(tmp_path, records)
    assert "nothing to show but what the documents claim" in html and "No results" in html
    assert text.report_text(report).startswith("! ")


def test_a_newer_schema_is_named(tmp_path):
    html, _ = made(tmp_path, samples.full()[:40] + [{"v": 7, "kind": "run"}])
    assert "1 lines were written by a newer lab (schema version 7" in html


def test_lines_that_could_not_be_read_are_listed(tmp_path):
    path = samples.write(tmp_path / "broken.jsonl", samples.full()[:40])
    path.write_bytes(path.read_bytes() + b'{"v":1,"kind":')
    html = page.render(model.build(results.read([path])))
    assert f"{path}:41: cut off in the middle; skipped" in html


def test_only_failures_is_still_a_page(tmp_path):
    records = [samples.MACHINE] + [
        samples.run("throughput", name, {"element": "int", "elements": 1000, "optimisation": "O2"}, {}, outcome=outcome)
        for name, outcome in (("std::vector", "killed"), ("headroom::settled_vector", "timeout"))
    ]
    html, _ = made(tmp_path, records)
    assert "1 killed, 1 timeout" in html


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
        for experiment in ("throughput", "latency", "memory", "one-growth", "growth", "commit-cost", "instructions", "compile-time", "unheard-of")
        for contender in ("std::vector", "headroom::settled_vector", "headroom::settled_vector/page_by_page")
        for shape in shapes
    ]
    html, report = made(tmp_path, records)
    assert "unheard-of" in html
    text.report_text(report, everything=True)
    page.pictures_as_svg(report)


def test_hostile_names_stay_text(tmp_path):
    evil = '</script><script>alert(1)</script><b a="\'">'
    records = [{**samples.MACHINE, "cpu": evil}]
    for contender in (evil, "std::vector", "headroom::settled_vector"):
        records.append(
            samples.run(
                "throughput", contender, {"element": evil, "elements": 1000, "optimisation": "O2"}, {"time": 1e-6}
            )
        )
    html, _ = made(tmp_path, records)
    assert "<script>alert" not in html and evil not in html


def test_two_machines_each_get_their_own_verdicts(tmp_path):
    records = (
        samples.full()
        + [{**samples.MACHINE, "id": "feedf00d", "cpu": "Another"}]
        + [
            samples.run("one-growth", name, {"element": "int", "bytes": 4096}, {"time": time}, machine="feedf00d")
            for name, time in (("std::vector", 1e-6), ("headroom::settled_vector", 2e-6))
        ]
    )
    html, report = made(tmp_path, records)
    assert [machine.id for machine in report.machines] == ["0badcafe", "feedf00d"]
    ids = re.findall(r'\sid="([^"]+)"', html.replace(page.vega(), ""))
    assert len(ids) == len(set(ids))


def other_build(name, started, experiments):
    return [{**samples.MACHINE, "id": name, "commit": name, "started": started}] + [
        samples.run(experiment, "std::vector", {"bytes": 1, "elements": 1}, {"time": 1.0}, machine=name)
        for experiment in experiments
    ]


def test_of_several_builds_on_one_machine_the_newest_that_ran_the_most_experiments_is_shown(tmp_path):
    records = (
        other_build("old", "2026-01-01", ("memory", "growth"))
        + other_build("new", "2026-02-02", ("memory", "growth"))
        + other_build("part", "2026-03-03", ("growth",))
    )
    html, report = made(tmp_path, records)
    assert [machine.id for machine in report.machines] == ["new"]
    assert "other builds on the same machine: old (commit old), part (commit part)" in html
    path = samples.write(tmp_path / "builds.jsonl", records)
    assert [machine.id for machine in model.build(results.read([path]), "part").machines] == ["part"]
    assert model.build(results.read([path]), "none").machines == []


def test_the_last_machine_line_counts_with_every_grid(tmp_path):
    path = samples.write(
        tmp_path / "two.jsonl",
        [{**samples.MACHINE, "started": "1"}, {**samples.MACHINE, "started": "2", "grid": "default"}],
    )
    machine = results.read([path]).machines["0badcafe"]
    assert (machine["started"], machine["grid"]) == ("2", "quick, default")


def test_pictures_are_also_svg_files(tmp_path):
    path = samples.write(tmp_path / "full.jsonl", samples.full())
    assert main([str(path), "--svg", str(tmp_path / "svg")]) == 0
    files = sorted((tmp_path / "svg").glob("*.svg"))
    assert {file.stem for file in files} >= {"throughput-O2", "memory", "one-growth", "growth", "latency-histogram", "commit-cost"}
    assert all(file.read_text().startswith("<svg") for file in files)


def test_what_is_published_can_be_made_again_from_what_is_published(tmp_path, capsys):
    records = samples.full(paired=True)
    files = [samples.write(tmp_path / "a.jsonl", records[:900]), samples.write(tmp_path / "b.jsonl", records[800:])]
    assert main([*map(str, files), "--publish", str(tmp_path / "one")]) == 0
    names = sorted(file.name for file in (tmp_path / "one").iterdir())
    assert names == ["data-structures.svg", "index.html", "results.jsonl.gz", "throughput-int.svg"]
    assert main([str(tmp_path / "one"), "--publish", str(tmp_path / "two")]) == 0
    for name in names:
        if name != "index.html":  # it says how many runs came twice
            # The drawing library numbers its gradients throughout a process.
            one, two = (
                re.sub(rb"(gradient_|clip)\d+", b"", (tmp_path / which / name).read_bytes()) for which in ("one", "two")
            )
            assert one == two, name
    assert str(tmp_path) not in (tmp_path / "one" / "index.html").read_text()
    again = results.read([tmp_path / "one" / "results.jsonl.gz"])
    assert len(again.runs) == sum(record["kind"] == "run" for record in records) and not again.problems


def test_publishing_results_that_lack_a_picture_says_so(tmp_path, capsys):
    some = [record for record in samples.full() if record.get("experiment") in (None, "throughput")]
    path = samples.write(tmp_path / "some.jsonl", some)
    assert main([str(path), "--publish", str(tmp_path / "out")]) == 1
    assert "no picture data-structures" in capsys.readouterr().err
    assert (tmp_path / "out" / "index.html").exists()


def test_the_command_says_by_its_status_whether_anything_was_shown(tmp_path, capsys):
    path = samples.write(tmp_path / "full.jsonl", samples.full())
    assert main([str(path), "--out", str(tmp_path / "a" / "page.html")]) == 0
    assert (tmp_path / "a" / "page.html").stat().st_size > 900_000
    assert main([str(tmp_path / "missing.jsonl"), "--out", str(tmp_path / "none.html")]) == 1
    assert "missing.jsonl" in capsys.readouterr().err
    assert main([str(path), "--out", "/proc/none/page.html"]) == 1


def test_the_bundled_vega_lite_is_the_one_altair_writes_for():
    assert altair.SCHEMA_VERSION.removeprefix("v").startswith(page.VEGA_LITE + ".")
