# SPDX-License-Identifier: MIT
"""The table of Headroom's promises."""

import pathlib
import re
from types import SimpleNamespace

import pytest
from headroom_report.page import model
from headroom_report.pictures import style
from headroom_report.results import figures, strategies
from headroom_report.verdicts import claims

import samples


def test_a_promise_that_misses_many_cells_names_the_farthest_six():
    (claim,) = [claim for claim in claims.promises(["one-growth"]) if claim.id == "one-growth-everywhere"]
    runs = []
    for power in range(12, 22):
        for name, time in (("std::vector", 1.0), ("headroom::settled_vector", power / 10)):
            runs += samples.rounds("one-growth", name, [time] * 3, bytes=2**power, element="int")
    table = model.promises_table([SimpleNamespace(promises=[claims.decide(claim, figures.cells(runs))])])
    small = table.rows[0][0].small
    assert small.startswith("0 of 10 cells; not int, 2 MiB (2.10)") and small.count("(") == 6 and " and 4 more" in small


@pytest.mark.parametrize(
    "name, told",
    [
        ("everyday-in-turn-memory", "200 vectors that grow in turn to 10⁵ each: 1.00"),
        ("file-append-open", "16,777,216 elements, open: 36.9 µs"),
        ("append-pointers", "10⁷ unique_ptr<int>, -O2: 0.730"),
    ],
)
def test_a_promises_cells_are_told_in_words_and_their_figures_with_their_unit(published, name, told):
    (row,) = [row for row in model.promises_table(published.machines[:1]).rows if row[0].hover == name]
    assert row[0].small.split("; ")[0] == told


def test_a_cell_that_misses_is_marked_however_little_it_misses_by():
    (claim,) = [claim for claim in claims.promises(["everyday"]) if claim.id == "everyday-in-turn-memory"]
    point = {"workload": "in-turn", "elements": 200, "each": 10**5}
    runs = [samples.a_run("everyday", name, point, {"peak_resident": bytes_}, unit="B") for name, bytes_ in (("std::vector", 10000), ("headroom::vector", 10502))]
    (row,) = model.promises_table([SimpleNamespace(promises=[claims.decide(claim, figures.cells(runs))])]).rows
    assert row[0].small.endswith(": 1.0502 ✗")


@pytest.mark.parametrize("claim", claims.promises(), ids=lambda claim: claim.id)
def test_a_promise_is_judged_at_every_size_that_it_is_made_for(claim):
    """“≤ 1.0 at 10⁶” is not met by cells of 10⁷."""
    digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    for exponent in re.findall("10([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", claim.asked):
        asked = []
        cells = claims.Cells([], claim.experiment)
        cells.__class__ = type("Recording", (claims.Cells,), {"__call__": lambda self, **where: asked.append(where) or self})
        claim.body(cells)
        assert all(claims.matches({"elements": 10 ** int(exponent.translate(digits))}, {"elements": where["elements"]}) for where in asked)


LAB = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "".join(path.read_text(encoding="utf-8") for path in sorted(LAB.rglob("*.[ch]pp")))


@pytest.mark.parametrize("file", sorted(LAB.glob("experiments/*/claims.py")), ids=lambda file: file.parent.name)
def test_every_contender_that_a_claim_names_is_one_of_the_labs(file):
    """A name that nobody has excludes nobody, and is never the one compared with."""
    source = file.read_text(encoding="utf-8")
    for name in re.findall(r'"((?:headroom|std|boost|tbb|dispenso|stxxl|folly|BloombergLP|foonathan)::[^"{}.]+)"', source):
        assert f'"{strategies.implementation(name).split(strategies.PRELOADED)[0]}"' in SOURCE, name


def test_every_library_that_has_a_colour_of_its_own_is_one_of_the_labs():
    for start in style.COLOURS:
        assert f'"{start}' in SOURCE, start
