"""P0089R0's tables beside ours, and shared objects: what is divided by the global allocator's time, there and here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import published, words
from .figures import Cell
from .pictures_memory import label, number, plain, swapped
from .strategies import GLOBAL
from .tables import Column, Entry, Table

if TYPE_CHECKING:
    from .sections import Section

# Who plays the document's allocators: Headroom's of the same kind.
PLAYS = {
    "AS2": "std::allocator AS2",
    **{f"AS{i}": f"headroom::monotonic_resource AS{i}" for i in range(3, 7)},
    **{f"AS{i}": f"headroom::multipool_resource AS{i}" for i in range(7, 11)},
    **{f"AS{i}": f"headroom::multipool_resource over monotonic AS{i}" for i in range(11, 15)},
}
PART = (
    "Here, Headroom's monotonic resource, multipool, and multipool over monotonic play the document's allocators, and everything is divided "
    "by std::allocator's time in the same row."
)


def _here(cell: Cell | None, name: str, metric: str = "time") -> float | None:
    ratio = cell.ratio(metric, PLAYS[name], GLOBAL) if cell else None
    return ratio.median if ratio else None


def _value(value: float | None) -> Entry:
    return Entry("—", float("inf")) if value is None else Entry(words.ratio(value), value)


def _same(first: float | None, second: float | None) -> bool | None:
    return None if first is None or second is None else (first < 1) == (second < 1)


def _verdict(same: bool | None) -> Entry:
    return Entry("—", mark="unknown") if same is None else Entry("yes", mark="good") if same else Entry("no", mark="bad")


SHOWN = ("AS3", "AS4", "AS7", "AS8", "AS11", "AS12")  # bound at compile time: the pictures have the rest


def structures(section: Section) -> None:
    source = published.tables()["p0089_data_structures"]
    columns = [Column("what"), Column("whose")] + [Column(name, True) for name in SHOWN]
    table = Table(
        columns,
        caption="Time divided by the global allocator's: published in both readings, and here",
        notes=[
            "“Columns put right”: tables 3 to 14 as the authors' later scripts and logs have them, monotonic (AS3 to AS6) and multipool (AS7 to "
            "AS10) exchanged. In the document AS1 ran on a scrambled heap and all else on a clean one; here all run on the heap that is named. "
            + PART
        ],
    )
    agreement = {"columns put right": [0, 0], "as printed": [0, 0]}
    better: dict[str, list[bool]] = {"columns put right": [], "as printed": []}
    first: list[bool] = []
    for cell in sorted(section.cells, key=lambda cell: (number(cell.parameters.get("structure")), words.order(cell.parameters))):
        here = {name: _here(cell, name) for name in SHOWN}
        if not any(here.values()):
            continue
        structure, size = cell.parameters.get("structure"), cell.parameters.get("size_exponent")
        found = source.records({"id": structure, "size exponent": size})
        position = float(len(table.rows))
        what = words.configuration(cell.parameters)
        if plain(cell) and here["AS3"] and here["AS7"]:
            first.append(here["AS3"] <= here["AS7"])
        for record in found if plain(cell) else []:
            for reading, row in (("columns put right", swapped(source, record)), ("as printed", record)):
                there = {name: row[name] / row["AS1"] if row[name] is not None else None for name in SHOWN}
                table.rows.append([Entry(what, position), Entry(f"published, {reading}")] + [_value(there[name]) for name in SHOWN])
                for name in SHOWN:
                    same = _same(there[name], here[name])
                    if same is not None:
                        agreement[reading][0] += same
                        agreement[reading][1] += 1
                if here["AS3"] and here["AS7"]:
                    better[reading].append((there["AS3"] < there["AS7"]) == (here["AS3"] < here["AS7"]))
        table.rows.append([Entry(what, position + 0.5), Entry("here")] + [_value(here[name]) for name in SHOWN])
    if table.rows:
        section.beside.append(table)
    for reading, (same, total) in agreement.items():
        if total:
            section.agreement.append(
                f"Read {reading}: whether a strategy is faster or slower than the global allocator comes out the same here in {same} of {total} "
                f"figures; which of monotonic and multipool is the faster, in {sum(better[reading])} of {len(better[reading])} rows."
            )
    if first:
        section.agreement.append(
            f"Here the monotonic resource is at least as fast as the multipool in {sum(first)} of {len(first)} cells with a clean heap: what the text says of "
            "its multipool, the figures here say of its monotonic."
            if 2 * sum(first) > len(first)
            else f"Here the monotonic resource is at least as fast as the multipool in only {sum(first)} of {len(first)} cells with a clean heap."
        )
    _heaps(section)


def _heaps(section: Section) -> None:
    """What the state of the heap does, to the global allocator and to the others."""
    rows = [cell for cell in section.cells if not plain(cell)]
    table = Table(
        [Column("what"), Column("heap")]
        + [Column(f"{name}, here", True) for name in ("AS1", "AS3", "AS7", "AS11")]
        + [Column("AS1 ÷ AS1 on a clean heap", True)],
        caption="The state of the heap: time of a leaf",
        notes=["The document's AS1 and AS2 ran on a heap scrambled beforehand, which its text does not say."],
    )
    for cell in rows:
        clean = next(
            (
                one
                for one in section.cells
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
                + [
                    Entry(words.quantity(figure.median, figure.unit), figure.median) if figure else Entry("—", float("inf"))
                    for figure in figures
                ]
                + [_value(figures[0].median / base.median if figures[0] and base and base.median else None)]
            )
    if table.rows:
        section.beside.append(table)


def _state(cell: Cell) -> str:
    heap = str(cell.parameters.get("heap", "clean"))
    return heap if cell.parameters.get("trimming", True) is not False else f"{heap}, malloc does not trim"


def locality(section: Section) -> None:
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
            Column("does it help here?"),
        ],
        caption="Time after shuffling divided by the time before: published (2²¹ links) and here",
        notes=[
            "Lists are matched by their number of links and the extreme temporal localities by position. “None”: all lists share the global "
            "allocator. Three cells of the document's table 17 (2²⁵ links, not shown here) measured nothing: a 32-bit count overflowed."
        ],
    )
    cells = [cell for cell in section.cells if cell.parameters.get("sf") == 5]
    most = max((cell.parameters.get("af", 1) for cell in cells), default=1)
    slow_there, slow_here, helped = [], [], 0
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
        if 16 in there:
            slow_there.append(there[16] >= 2)
            slow_here.append(without.median >= 2)
        helps = with_one is not None and with_one.median < without.median
        helped += helps
        table.rows.append(
            [
                Entry(words.count2(links), float(links)),
                Entry("high" if af == most else "low" if af == 1 else "between"),
                _value(there.get(16)),
                _value(without.median),
                _value(there.get(18)),
                _value(with_one.median if with_one else None),
                Entry("—", mark="unknown") if with_one is None else Entry("yes" if helps else "no", mark="good" if helps else "bad"),
            ]
        )
    if table.rows:
        section.beside.append(table)
        worst = [cell.figure(local, "degradation") for cell in cells]
        worst = [figure.median for figure in worst if figure]
        without = [figure.median for figure in (cell.figure(GLOBAL, "degradation") for cell in cells) if figure]
        section.agreement.append(
            f"Without local allocators, shuffling makes reading at least twice as slow here in {sum(slow_here)} of {len(slow_here)} cells that the document has "
            f"too, where it has {sum(slow_there)}; up to {words.ratio(max(without))} times here, up to 18 there."
        )
        if worst:
            section.agreement.append(
                f"With a local multipool it is at worst {words.ratio(max(worst))} times as slow here, where the document has under 3; in {helped} of "
                f"{len(table.rows)} cells that is less than without."
            )


def _percent_table(
    section: Section, table_id: str, keys: dict[str, str], seconds: float | None, title: str, label_of, nearest: str
) -> None:
    """Percent of the global allocator's time, row by row; a row of the document that was not run is matched by its shape."""
    source = published.tables()[table_id]
    names = ("AS2", "AS3", "AS5", "AS7", "AS9", "AS11", "AS13")
    table = Table(
        [Column("what"), Column("whose")] + [Column(name, True) for name in names],
        caption=title,
        notes=[PART + " " + nearest],
    )
    agree = total = 0
    for cell in section.cells:
        here = {name: _here(cell, name) for name in names}
        if not any(here.values()):
            continue
        where = {column: cell.parameters.get(parameter) for column, parameter in keys.items()}
        records = source.records(where)
        position = float(len(table.rows))
        for record in records[:1]:
            there = {name: record[f"{name} percent"] for name in names}
            row = [Entry(label_of(cell), position), Entry("published")]
            for name in names:
                row.append(
                    Entry("failed", float("inf"), "bad") if there[name] is None else Entry(words.ratio(there[name] / 100), there[name] / 100)
                )
                same = _same(float("inf") if there[name] is None else there[name] / 100, here[name])
                if same is not None and not (there[name] is not None and 97 <= there[name] <= 103):
                    agree += same
                    total += 1
            table.rows.append(row)
        table.rows.append([Entry(label_of(cell), position + 0.5), Entry("here")] + [_ended(cell, name, here[name]) for name in names])
    if table.rows:
        section.beside.append(table)
    if total:
        section.agreement.append(
            f"Whether a strategy takes more or less time than the global allocator comes out as in the document in {agree} of {total} figures "
            "(those where it found no difference, within 3%, left out)."
        )


def _ended(cell: Cell, name: str, value: float | None) -> Entry:
    if value is not None:
        return _value(value)
    outcome = cell.outcome(PLAYS[name])
    return Entry(outcome, float("inf"), "bad") if outcome not in (None, "ok", "absent", "not_run") else _value(None)


def utilization(section: Section) -> None:
    smallest = min((row[0] for row in published.tables()["p0089_utilization"].rows), default=30)
    totals = {cell.parameters.get("T_exponent") for cell in section.cells}
    keys = {"A exponent": "A_exponent", "S exponent": "S_exponent"}
    if any(isinstance(total, int) and total >= smallest for total in totals):
        keys["T exponent"] = "T_exponent"
        note = ""
    else:
        note = f"The document's smallest total is {words.power2(smallest)} bytes; its rows for that stand beside ours."
    _percent_table(
        section,
        "p0089_utilization",
        keys,
        None,
        "Time divided by the global allocator's: published and here",
        lambda cell: words.configuration(cell.parameters),
        note,
    )


def contention(section: Section) -> None:
    private = [cell for cell in section.cells if cell.parameters.get("sharing", "private") == "private"]
    there = {(row[0], row[1]) for row in published.tables()["p0089_contention"].rows}
    here = {(cell.parameters.get("N_exponent"), cell.parameters.get("S_exponent")) for cell in private}
    keys = {"S exponent": "S_exponent", "W threads": "W"}
    note = "Rows are matched by the size of a block and the threads; the document's number of repetitions is its smallest for that size."
    if here <= there:
        keys["N exponent"] = "N_exponent"
        note = ""

    class Only:  # what is shared has no table in the document
        cells = private
        beside = section.beside
        agreement = section.agreement

    _percent_table(
        Only, "p0089_contention", keys, None, "Time divided by the global allocator's: published and here", lambda cell: words.configuration(cell.parameters), note
    )


def make_shared(section: Section) -> None:
    source = published.tables()["make_shared"]
    table = Table(
        [
            Column("optimisation"),
            Column("shared_ptr(new), published", True),
            Column("make_shared, published", True),
            Column("ratio, published", True),
            Column("shared_ptr(new), here", True),
            Column("make_shared, here", True),
            Column("ratio, here", True),
            Column("same order?"),
        ],
        caption="100,000 shared ints: published and here",
        notes=[f"Published on: {'; '.join(source.machines.values())}."],
    )
    for level, printed in (("O0", "O0"), ("O2", "O")):
        cell = next((cell for cell in section.cells if cell.parameters.get("optimisation") == level), None)
        there = {record["way"]: record["seconds"] for record in source.records({"optimisation": printed})}
        figures = [cell.figure(name, "time") if cell else None for name in ("std::shared_ptr(new)", "std::make_shared")]
        if not all(figures):
            continue
        count = cell.parameters.get("objects", 100_000)
        ratio_there = there["make_shared"] / there["shared_ptr(new)"]
        ratio = cell.ratio("time", "std::make_shared", "std::shared_ptr(new)")
        same = _same(ratio_there, ratio.median if ratio else None)
        table.rows.append(
            [
                Entry(f"-{level}"),
                *[Entry(words.seconds(there[name]), there[name]) for name in ("shared_ptr(new)", "make_shared")],
                _value(ratio_there),
                *[Entry(words.seconds(figure.median * count), figure.median * count) for figure in figures],
                _value(ratio.median if ratio else None),
                _verdict(same),
            ]
        )
        section.agreement.append(
            f"{'Without' if level == 'O0' else 'With'} optimisation make_shared takes {words.ratio(ratio.median)} times the time of "
            f"shared_ptr(new) here, {words.ratio(ratio_there)} times in the document."
        )
    if table.rows:
        section.beside.append(table)


BESIDE_MEMORY = {
    "data-structures": structures,
    "locality": locality,
    "utilization": utilization,
    "contention": contention,
    "make-shared": make_shared,
}
