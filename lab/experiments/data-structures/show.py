# SPDX-License-Identifier: MIT
"""Data structures: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import grids
from headroom_report.pictures.charts import Picture
from headroom_report.results import published, words
from headroom_report.results.catalogue import Answer, Contest, Experiment, Matter
from headroom_report.results.figures import Cell
from headroom_report.results.strategies import GLOBAL, STRATEGIES, implementation, is_default, is_peer, strategy
from headroom_report.tables.p0089 import PART, PLAYS, here_of
from headroom_report.tables.table import Column, Entry, Table, quantity, quotient

MOST_PANELS = 3  # sizes in one picture
COLUMNS = list(STRATEGIES)


def short(name: str) -> str:
    """A strategy on an axis."""
    one = STRATEGIES[name]
    return ", ".join([one.kind, *([] if one.bound else ["base"]), *(["winked out"] if one.winked else [])])


def plain(cell: Cell) -> bool:
    """A clean heap, and malloc as it comes: the state that every picture shows."""
    return cell.parameters.get("heap", "clean") == "clean" and cell.parameters.get("trimming", True) is not False


def number(structure: object) -> int:
    return int("".join(letter for letter in str(structure) if letter.isdigit()) or 0)


def label(cell: Cell) -> str:
    return words.structure(cell.parameters.get("structure"), cell.parameters.get("contents", ""))


def sizes(cells: list[Cell]) -> dict[int, list[Cell]]:
    """Cells by their rank among the sizes of their structure: the smallest, the middle one, the largest."""
    of: dict[str, list[Cell]] = {}
    for cell in cells:
        if plain(cell) and isinstance(cell.parameters.get("size_exponent"), int):
            of.setdefault(str(cell.parameters.get("structure")), []).append(cell)
    ranks: dict[int, list[Cell]] = {}
    for own in of.values():
        own.sort(key=lambda cell: cell.parameters["size_exponent"])
        chosen = own if len(own) <= MOST_PANELS else [own[0], own[len(own) // 2], own[-1]]
        for rank, cell in enumerate(chosen):
            ranks.setdefault(rank, []).append(cell)
    return ranks


def panel_title(cells: list[Cell]) -> str:
    exponents = sorted({cell.parameters["size_exponent"] for cell in cells}, reverse=True)
    text = f"{words.power2(exponents[0])} elements"
    return text if len(exponents) == 1 else f"{text} (nested: {words.power2(exponents[-1])})"


def pictures(cells: list[Cell]) -> list[Picture | None]:
    rows = []
    ranks = sizes(cells)
    order = [label(cell) for cell in sorted(cells, key=lambda cell: number(cell.parameters.get("structure")))]
    for rank in sorted(ranks):
        title = panel_title(ranks[rank])
        for who, admits in (("Headroom", is_default), ("the best of the others", is_peer)):
            for cell in ranks[rank]:
                below = cell.figure(GLOBAL, "time")
                if below is None or not below.median:
                    continue
                for name in COLUMNS:
                    fits = is_peer if name in ("AS1", "AS2") else admits
                    found = cell.least("time", [one for one in cell.contenders if strategy(one) == name and fits(one)])
                    if found is None:
                        continue
                    value = found[1].median / below.median
                    rows.append(
                        {
                            "x": short(name),
                            "y": label(cell),
                            "panel": f"{who}, {title}",
                            "value": value,
                            "text": words.ratio(value).lstrip("0") or "0",
                            "hover": f"{implementation(found[0])}: {words.figure(found[1])} a leaf, {words.ratio(value)} × std::allocator's",
                        }
                    )
    here = grids.heat(
        "data-structures",
        "Time of a leaf divided by std::allocator's, by data structure and allocation strategy",
        rows,
        [short(name) for name in COLUMNS],
        list(dict.fromkeys(order)),
        "",
        "",
        (0.1, 10),
        True,
        "Heat maps: a row for each data structure, a column for each allocation strategy, once for Headroom's resources and once "
        "for the best of the others, at each size.",
        step=(29, 18),
        angle=-90,
    )
    return [here, _published_structures(ranks)]


def swapped(table: published.Table, record: dict[str, object]) -> dict[str, object]:
    """A printed row with the monotonic and multipool columns put back where they belong."""
    result = dict(record)
    for first, second in table.extra["erratum"]["swapped_columns"]:
        result[first], result[second] = record[second], record[first]
    return result


def _published_structures(ranks: dict[int, list[Cell]]) -> Picture | None:
    """The document's own tables at the sizes measured here, in both readings and the same colours."""
    table = published.tables()["p0089_data_structures"]
    wanted = {cell.parameters["size_exponent"] for cells in ranks.values() for cell in cells}
    there = sorted({record["size exponent"] for record in table.records()} & wanted) or [6, 16]
    rows = []
    for size in ([there[0], there[-1]] if len(there) > 1 else there):
        for reading in ("columns put right", "as printed"):
            for record in table.records({"size exponent": size}):
                cells = swapped(table, record) if reading == "columns put right" else record
                for name in COLUMNS:
                    if cells[name] is None:
                        continue
                    value = cells[name] / cells["AS1"]
                    rows.append(
                        {
                            "x": short(name),
                            "y": words.structure(record["id"], record["data structure"]),
                            "panel": f"Published, {reading}, {words.power2(size)} elements",
                            "value": value,
                            "text": words.ratio(value).lstrip("0"),
                            "hover": f"{cells[name]} s for 2²⁷ leaves, {words.ratio(value)} × std::allocator's",
                        }
                    )
    return grids.heat(
        "data-structures-published",
        "The same in the document (tables 3 to 14), read with its columns put right and as printed; its global allocator ran on a scrambled heap",
        rows,
        [short(name) for name in COLUMNS],
        list(dict.fromkeys(row["y"] for row in rows)),
        "",
        "",
        (0.1, 10),
        True,
        "Heat maps of the document's own figures, in both readings.",
        step=(29, 18),
        angle=-90,
    )


SHOWN = ("AS3", "AS4", "AS7", "AS8", "AS11", "AS12")  # bound at compile time: the pictures have the rest


def beside(cells: list[Cell]) -> list[Table]:
    source = published.tables()["p0089_data_structures"]
    columns = [Column("what"), Column("whose")] + [Column(STRATEGIES[name].title, True) for name in SHOWN]
    table = Table(
        columns,
        caption="Time divided by the global allocator's: published in both readings, and here",
        notes=[
            "“Columns put right”: tables 3 to 14 as the authors' later scripts and logs have them, monotonic and multipool exchanged. In the document "
            "the global allocator ran on a scrambled heap and all else on a clean one; here all run on the heap that is named. "
            + PART
        ],
    )
    for cell in sorted(cells, key=lambda cell: (number(cell.parameters.get("structure")), words.order(cell.parameters))):
        here = {name: here_of(cell, name) for name in SHOWN}
        if not any(here.values()):
            continue
        what = Entry(words.configuration(cell.parameters))
        found = source.records({"id": cell.parameters.get("structure"), "size exponent": cell.parameters.get("size_exponent")})
        for record in found if plain(cell) else []:
            for reading, row in (("columns put right", swapped(source, record)), ("as printed", record)):
                there = [quotient(row[name] / row["AS1"] if row[name] is not None else None) for name in SHOWN]
                table.rows.append([what, Entry(f"published, {reading}"), *there])
        table.rows.append([what, Entry("here"), *(quotient(here[name]) for name in SHOWN)])
    return [table, _heaps(cells)]


def _heaps(cells: list[Cell]) -> Table:
    """What the state of the heap does, to the global allocator and to the others."""
    rows = [cell for cell in cells if not plain(cell)]
    table = Table(
        [Column("what"), Column("heap")]
        + [Column(STRATEGIES[name].title, True) for name in ("AS1", "AS3", "AS7", "AS11")]
        + [Column("global allocator ÷ the same on a clean heap", True)],
        caption="The state of the heap: time of a leaf",
        notes=["The document's global allocator ran on a heap scrambled beforehand, which its text does not say."],
    )
    for cell in rows:
        clean = next(
            (
                one
                for one in cells
                if plain(one)
                and all(one.parameters.get(name) == cell.parameters.get(name) for name in ("structure", "size_exponent"))
            ),
            None,
        )
        for one, text in ((clean, "clean"), (cell, _state(cell))):
            if one is None:
                continue
            figures = [one.figure(GLOBAL if name == "AS1" else PLAYS[name], "time") for name in ("AS1", "AS3", "AS7", "AS11")]
            base = clean.figure(GLOBAL, "time") if clean else None
            table.rows.append(
                [Entry(f"{label(one)}, {words.power2(one.parameters.get('size_exponent'))} elements"), Entry(text)]
                + [quantity(figure) for figure in figures]
                + [quotient(figures[0].median / base.median if figures[0] and base and base.median else None)]
            )
    return table


def _state(cell: Cell) -> str:
    heap = str(cell.parameters.get("heap", "clean"))
    return heap if cell.parameters.get("trimming", True) is not False else f"{heap}, malloc does not trim"

EXPERIMENT = Experiment(
    title="Data structures",
    question="Which allocation strategy builds and destroys containers, and containers of containers, fastest?",
    document="P0089R0, Benchmark I",
    method=(
        "Each of the paper's twelve data structures is built, every leaf is written once through a pointer to volatile, and the "
        "whole is destroyed or winked out (forgotten, and its memory taken back at once), again and again. The time is that "
        "of one leaf. Random numbers are drawn before the clock starts. An allocator is kept from round to round and told when "
        "one is over; what that costs is inside the figure. The first round is timed apart. The document's labels: vector<int> (DS1), "
        "vector<string> (DS2), unordered_set<int> (DS3), unordered_set<string> (DS4), then a vector (DS5 to DS8) or an unordered_set "
        "(DS9 to DS12) of each of these four; global allocator (AS1, AS2), monotonic (AS3 to AS6), multipool (AS7 to AS10), multipool "
        "over monotonic (AS11 to AS14), each bound at compile time, winked out, through an abstract base, and both."
    ),
    limits=(
        "Allocators that fetch their memory anew for each round pay for fresh pages each time; those called /buffer were given "
        "enough warm memory beforehand, which no program can know. floor is a bound on what can be had, and no allocator to use."
    ),
    contests=(
        Contest("time", "time of a leaf",
                "containers of few elements in a multipool, or against a monotonic resource with a warm buffer",
                "monotonic_resource, where all dies together"),
    ),
    more=(
        Contest("time_first", "time of a leaf in the first round"),
        Contest("page_faults", "page faults"),
    ),
    reading=(
        "A cell is the time of a leaf (an innermost element) divided by that under std::allocator in the same row: blue is faster, red is "
        "slower. Of each strategy's implementations the best of Headroom's, and the best of the others', is shown. “base”: called through "
        "an abstract base, else bound at compile time; “winked out”: freed all at once, and never destroyed. In brackets the document's "
        "label of a structure; its strategies AS1 to AS14 are the columns in their order. A row without figures: that structure is "
        "measured at the largest size with --full only."
    ),
    yardstick="std::allocator AS1",
    answers=tuple(
        Answer("many", title, "time", {"heap": "clean", "trimming": True}, ("all",), strategy=strategy, place=10)
        for title, strategy in (
            ("build and destroy containers, in a pool", "AS7"),
            ("build, and forget all at once", "AS4"),
        )
    ),
    pictures=pictures,
    in_readme=("data-structures",),
    beside=beside,
    by_strategy=True,
    matters=(
        Matter(
            "structures",
            "the time to build and destroy many containers with an allocator of their own",
            "time",
            "size_exponent",
            {"heap": "clean", "trimming": True},
            ("AS1", "AS7", "AS11"),
            ("AS3", "AS4", "AS8", "AS12"),
            lambda parameters: str(parameters.get("contents")),
            place=50,
        ),
    ),
    place=140,
)
