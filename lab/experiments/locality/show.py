# SPDX-License-Identifier: MIT
"""Locality: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import grids
from headroom_report.pictures.charts import Picture
from headroom_report.results import published, words
from headroom_report.results.catalogue import Contest, Experiment
from headroom_report.results.figures import PAIRED, Cell
from headroom_report.results.strategies import GLOBAL, implementation, is_default
from headroom_report.tables.p0089 import PLAYS
from headroom_report.tables.table import Column, Entry, Table, quotient


def pictures(cells: list[Cell]) -> list[Picture | None]:
    tables = [cell for cell in cells if cell.parameters.get("sf") == 5 and isinstance(cell.parameters.get("links"), int)]
    rows = []
    largest = max((cell.parameters["links"] for cell in tables), default=0)
    tables = [cell for cell in tables if cell.parameters["links"] == largest]
    most = max((cell.parameters.get("af", 1) for cell in tables), default=1)
    exponents = sorted({cell.parameters["subsystem_links"] for cell in tables}, reverse=True)
    names = sorted(
        {name for cell in tables for name in cell.contenders if not name.endswith(PAIRED)},
        key=lambda name: (name != GLOBAL, not is_default(name), name),
    )
    for name in names:
        for cell in tables:
            figure = cell.figure(name, "degradation")
            after, before = cell.figure(name, "time"), cell.figure(name, "time_before")
            if figure is None:
                continue
            halvings = (most // max(1, cell.parameters.get("af", 1))).bit_length() - 1
            rows.append(
                {
                    "x": f"2{str(-halvings).translate(words.SUPERSCRIPT)}" if halvings else "2⁰",
                    "y": words.count2(cell.parameters["subsystem_links"]),
                    "panel": _short_name(implementation(name)) if name != GLOBAL else "no local allocator",
                    "value": figure.median,
                    "text": words.ratio(figure.median),
                    "hover": f"{words.ratio(figure.median)} times as slow"
                    + (f": {words.seconds(before.median)} before, {words.seconds(after.median)} after" if before and after else ""),
                }
            )
    across = sorted({row["x"] for row in rows}, key=lambda text: -_exponent(text))
    down = [words.count2(value) for value in exponents]
    what = (
        "Heat maps: a row for each size of a list, a column for each temporal locality (how often a list is read before the next is "
        "turned to), one panel for each allocator."
    )
    grid = grids.heat(
        "locality",
        f"Time of an access after shuffling divided by the time before; {words.count2(largest)} links in all" if largest else "",
        rows,
        across,
        down,
        "temporal locality",
        "links in a list",
        (1, 20),
        False,
        what,
        columns=6 if len(across) < 4 else 2,
        step=(60 if len(across) < 4 else 38, 18),
    )
    return [grid, _published_locality(), _shuffles(cells)]


def _short_name(name: str) -> str:
    """Narrow enough to stand over a narrow panel."""
    library, _, rest = name.partition("::")
    return f"{library}: {rest.rsplit('::', 1)[-1].removesuffix('_resource')}" if rest else name


def _exponent(text: str) -> int:
    return -int("".join(str("⁰¹²³⁴⁵⁶⁷⁸⁹".index(letter)) for letter in text[1:] if letter in "⁰¹²³⁴⁵⁶⁷⁸⁹") or 0)


def _published_locality() -> Picture | None:
    source = published.tables()["p0089_locality"]
    rows = []
    down = []
    for record in source.records({"system exponent": 21}):
        if record["table"] not in (16, 18):
            continue
        down.append(words.power2(record["subsystem exponent"]))
        for column in source.columns[4:]:
            power = column.removeprefix("2^-")
            rows.append(
                {
                    "x": "2⁰" if power == "0" else "2" + ("-" + power).translate(words.SUPERSCRIPT),
                    "y": words.power2(record["subsystem exponent"]),
                    "panel": "Published: " + ("no local allocator" if record["table"] == 16 else "a local multipool"),
                    "value": record[column],
                    "text": words.ratio(record[column]),
                    "hover": f"{record[column]} times as slow",
                }
            )
    across = sorted({row["x"] for row in rows}, key=lambda text: -_exponent(text))
    return grids.heat(
        "locality-published",
        "The same in the document (tables 16 and 18): 2²¹ links, 2,560 accesses to each",
        rows,
        across,
        list(dict.fromkeys(down)),
        "temporal locality",
        "links in a list",
        (1, 20),
        False,
        "Heat maps of the document's own figures, without local allocators and with a local multipool.",
        step=(38, 15),
    )


def _shuffles(cells: list[Cell]) -> Picture | None:
    """Table 15: how much each further shuffle adds, with the global allocator."""
    rows = []
    for cell in cells:
        if cell.parameters.get("af") != 10 or not isinstance(cell.parameters.get("sf"), int):
            continue
        figure = cell.figure(GLOBAL, "degradation")
        if figure is None:
            continue
        rows.append(
            {
                "x": str(cell.parameters["sf"]),
                "y": words.count2(cell.parameters["subsystem_links"]),
                "panel": f"here, {words.count2(cell.parameters.get('links'))} links",
                "value": figure.median,
                "text": words.ratio(figure.median),
                "hover": f"{words.ratio(figure.median)} times as slow",
            }
        )
    if not rows:
        return None
    table = published.tables()["p0089_shuffle"]
    for record in table.records():
        for column in table.columns[1:]:
            rows.append(
                {
                    "x": column.split()[1],
                    "y": words.power(10 ** record["size exponent"]),
                    "panel": "published, 10⁷ links",
                    "value": record[column],
                    "text": words.ratio(record[column]),
                    "hover": f"{record[column]} times as slow",
                }
            )
    return grids.heat(
        "locality-shuffles",
        "How much each further shuffle adds, with the global allocator: time after divided by time before",
        rows,
        [str(i) for i in range(10)],
        [words.power(10**i) for i in range(7, -1, -1)],
        "shuffled so many times",
        "links in a list",
        (1, 20),
        False,
        "Heat maps: a row for each size of a list, a column for each number of shuffles; here, and as published.",
        step=(38, 17),
    )


def beside(cells: list[Cell]) -> list[Table]:
    source = published.tables()["p0089_locality"]
    local = PLAYS["AS7"]
    table = Table(
        [
            Column("links in a list"),
            Column("temporal locality"),
            Column("none, published", True),
            Column("none, here", True),
            Column("multipool, published", True),
            Column("multipool, here", True),
        ],
        caption="Time after shuffling divided by the time before: published (2²¹ links) and here",
        notes=[
            "Lists are matched by their number of links and the extreme temporal localities by position. “None”: all lists share the global "
            "allocator. Three cells of the document's table 17 (2²⁵ links, not shown here) measured nothing: a 32-bit count overflowed."
        ],
    )
    cells = [cell for cell in cells if cell.parameters.get("sf") == 5]
    most = max((cell.parameters.get("af", 1) for cell in cells), default=1)
    for cell in cells:
        links, af = cell.parameters.get("subsystem_links"), cell.parameters.get("af", 1)
        without, with_one = cell.figure(GLOBAL, "degradation"), cell.figure(local, "degradation")
        if not isinstance(links, int) or without is None:
            continue
        column = "2^-0" if af == most else "2^-8" if af == 1 else None
        where = {"system exponent": 21, "subsystem exponent": links.bit_length() - 1}
        there = (
            {record["table"]: record[column] for record in source.records(where) if record["table"] in (16, 18)} if column else {}
        )
        table.rows.append(
            [
                Entry(words.count2(links)),
                Entry("high" if af == most else "low" if af == 1 else "between"),
                quotient(there.get(16)),
                quotient(without.median),
                quotient(there.get(18)),
                quotient(with_one.median if with_one else None),
            ]
        )
    return [table]

EXPERIMENT = Experiment(
    title="Locality",
    question="How much slower is data read once its memory has been shuffled, and does a local allocator help?",
    document="P0089R0, Benchmark II",
    method=(
        "A system of linked lists is read before and after its links were popped from one list and pushed to another, sf times "
        "over. Each list is read af times before the next one is turned to, and all of that is repeated rf times. Only the "
        "reading is timed; counts have 64 bits. Each list has its own allocator where it has one."
    ),
    limits="Allocators whose smallest unit is large are at a disadvantage where lists are tiny.",
    contests=(
        Contest("time", "time of an access after shuffling",
                "reading lists after shuffling, against the standard library's pool, whose nodes have no bytes between them"),
        Contest("degradation", "time after ÷ time before", "how much slower reading becomes by shuffling"),
    ),
    more=(
        Contest("time_before", "time of an access before"),
        Contest("time_shuffle", "time of a shuffled link"),
    ),
    reading="A cell is the time of an access after shuffling divided by the time before: pale is no slower, dark is much slower.",
    yardstick="std::allocator AS1",
    pictures=pictures,
    beside=beside,
    by_strategy=True,
    alike=False,
    place=150,
)
