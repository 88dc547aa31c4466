# SPDX-License-Identifier: MIT
"""Who is marked as the least of a row: one that a reader could take; and names that are long enough to be told apart."""

import pytest
from headroom_report.pictures import charts
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import cells
from headroom_report.tables import by_strategy
from headroom_report.tables.measured import contest_table

from samples import rounds


def starred(table):
    (row,) = table.rows
    return [column.title for column, entry in zip(table.columns, row) if entry.text.endswith("*")]


def test_neither_a_second_run_nor_what_nobody_could_take_nor_a_bound_of_the_labs_is_the_least_of_a_row():
    times = {"std::allocator AS1": 2.0, "std::allocator AS1#2": 1.0, "arithmetic": 0.5, "floor/multipool AS7": 1.0, "headroom::multipool_resource AS7": 1.5}
    found = cells(run for name, time in times.items() for run in rounds("any", name, [time], x=1))
    experiment = Experiment("", "", "", "", no_choice=frozenset({"arithmetic"}))
    assert starred(contest_table(found, Contest("time", "time"), experiment)) == ["headroom::multipool_resource"]


@pytest.mark.parametrize("alike", [True, False])
def test_where_the_global_allocator_ran_alone_its_figures_are_shown(alike):
    """Beside a cell with others: one row for each way in which these were used."""
    runs = [run for x in (1, 2) for run in rounds("any", "std::allocator AS1", [2.0], x=x)]
    runs += [run for way in (7, 8, 9) for run in rounds("any", f"headroom::multipool_resource AS{way}", [1.0], x=1)]
    experiment = Experiment("", "", "", "", yardstick="std::allocator AS1", by_strategy=True, alike=alike)
    (table,) = [table for table in by_strategy.tables(cells(runs), Contest("time", "time"), experiment) if table.caption in ("time", "time: multipool")]
    assert [[entry.text for entry in row] for row in table.rows] == [
        ["bound at compile time, x 1", "1.00 s (0.50) *", "2.00 s"],
        ["bound at compile time, winked out, x 1", "1.00 s (0.50) *", "2.00 s"],
        ["through an abstract base, x 1", "1.00 s (0.50) *", "2.00 s"],
        ["x 2", "—", "2.00 s"],
    ]


def test_a_legend_has_room_for_its_longest_name():
    name = "boost::container::pmr::unsynchronized_pool_resource over monotonic AS11"
    rows = [{"contender": name, "x": x, "y": 1.0, "low": 1.0, "high": 1.0, "text": "", "where": ""} for x in (1, 10)]
    spec = str(charts.sweep("a", "a", rows, "elements", "elements", "time", "s").spec)
    assert "'labelLimit': 450" in spec and "'labelLimit': 300" not in spec
    for row in rows:
        row["contender"] = "std::vector"
    assert "'labelLimit': 450" not in str(charts.sweep("a", "a", rows, "elements", "elements", "time", "s").spec)
