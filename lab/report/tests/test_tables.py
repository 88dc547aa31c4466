"""Who is marked as the least of a row: one that a reader could take; and names that are long enough to be told apart."""

from headroom_report.pictures import charts
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import cells
from headroom_report.tables.measured import contest_table

from samples import rounds


def starred(table):
    (row,) = table.rows
    return [column.title for column, entry in zip(table.columns, row) if entry.text.endswith("*")]


def test_neither_a_second_run_nor_what_nobody_could_take_nor_a_bound_of_the_labs_is_the_least_of_a_row():
    times = {"std::allocator AS1": 2.0, "std::allocator AS1#2": 1.0, "arithmetic": 0.5, "floor/multipool AS7": 1.0, "headroom::multipool_resource AS7": 1.5}
    found = cells(run for name, time in times.items() for run in rounds("any", name, [time], x=1))
    experiment = Experiment("", "", "", "", no_choice=frozenset({"arithmetic"}))
    assert starred(contest_table(found, Contest("time", "time"), None, experiment)) == ["headroom::multipool_resource"]


def test_a_legend_has_room_for_its_longest_name():
    name = "boost::container::pmr::unsynchronized_pool_resource over monotonic AS11"
    rows = [{"contender": name, "x": x, "y": 1.0, "low": 1.0, "high": 1.0, "text": "", "where": "", "against": ""} for x in (1, 10)]
    spec = str(charts.sweep("a", "a", rows, "elements", "elements", "time", "s").spec)
    assert "'labelLimit': 450" in spec and "'labelLimit': 300" not in spec
    for row in rows:
        row["contender"] = "std::vector"
    assert "'labelLimit': 450" not in str(charts.sweep("a", "a", rows, "elements", "elements", "time", "s").spec)
