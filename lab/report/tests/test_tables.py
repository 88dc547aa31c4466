"""Who is marked as the least of a row: one that a reader could take; and names that are long enough to be told apart."""

from headroom_report.pictures import charts
from headroom_report.results.catalogue import Contest
from headroom_report.results.figures import cells
from headroom_report.results.reading import Metric, Run
from headroom_report.tables.by_strategy import by_contender
from headroom_report.tables.measured import contest_table


def starred(table):
    (row,) = table.rows
    return [column.title for column, entry in zip(table.columns, row) if entry.text.endswith("*")]


def of(times):
    return cells([Run("m", "any", name, (("x", 1),), 0, "ok", "", {"time": Metric("s", (time,))}) for name, time in times.items()])


def test_neither_a_second_run_nor_what_nobody_could_take_is_the_least_of_a_row():
    found = of({"std::vector": 2.0, "std::vector#2": 1.0, "arithmetic": 0.5, "headroom::vector": 3.0})
    assert starred(contest_table(found, Contest("time", "time"), without=frozenset({"arithmetic"}))) == ["std::vector"]


def test_a_bound_of_the_labs_is_not_the_least_of_a_row():
    found = of({"std::allocator AS1": 2.0, "floor/multipool AS7": 1.0, "headroom::multipool_resource AS7": 1.5})
    assert starred(by_contender(found, "time", "time", None)) == ["headroom::multipool_resource"]


def test_a_legend_has_room_for_its_longest_name():
    name = "boost::container::pmr::unsynchronized_pool_resource over monotonic AS11"
    rows = [{"contender": name, "x": x, "y": 1.0, "low": 1.0, "high": 1.0, "text": "", "where": "", "against": ""} for x in (1, 10)]
    spec = str(charts.sweep("a", "a", rows, "elements", "elements", "time", "s").spec)
    assert "'labelLimit': 450" in spec and "'labelLimit': 300" not in spec
    for row in rows:
        row["contender"] = "std::vector"
    assert "'labelLimit': 450" not in str(charts.sweep("a", "a", rows, "elements", "elements", "time", "s").spec)
