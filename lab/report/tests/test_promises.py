"""The table of Headroom's promises."""

from types import SimpleNamespace

from headroom_report.page import model
from headroom_report.results import figures
from headroom_report.results.reading import Metric, Run
from headroom_report.verdicts import claims


def test_a_promise_that_misses_many_cells_names_the_farthest_six():
    (claim,) = [claim for claim in claims.promises(["one-growth"]) if claim.id == "one-growth-everywhere"]
    runs = []
    for power in range(12, 22):
        point = (("bytes", 2**power), ("element", "int"))
        for name, time in (("std::vector", 1.0), ("headroom::settled_vector", power / 10)):
            runs += [Run("m", "one-growth", name, point, number, "ok", "", {"time": Metric("s", (time,))}) for number in range(3)]
    table = model.promises_table(SimpleNamespace(promises=[claims.decide(claim, figures.cells(runs))]))
    small = table.rows[0][0].small
    assert small.startswith("0 of 10 cells; not int, 2 MiB (2.10)") and small.count("(") == 6 and " and 4 more" in small
