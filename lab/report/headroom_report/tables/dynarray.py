"""A document's table laid beside ours, row by row, and in words where the two agree and where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import published, words
from .beside_memory import BESIDE_MEMORY
from .catalogue import DEFAULT, PAGE_BY_PAGE, YARDSTICK
from .experiment_tables import ending
from .strategies import is_peer
from .tables import Column, Entry, Table

if TYPE_CHECKING:
    from .sections import Section


def _beside(
    section: Section, table_id: str, column: str, metric: str, unit: str, what: str, system: str = "Linux"
) -> None:
    """The document's ratio DynArray / std::vector beside ours, row by row, and in how many rows the order is the same."""
    source = published.tables()[table_id]
    keys = [name for name in ("optimisation", "elements", "element") if name in source.columns]
    table = Table(
        [
            Column("what"),
            Column("DynArray, published", True),
            Column("std::vector, published", True),
            Column("ratio, published", True),
            Column("page by page, here", True),
            Column("std::vector, here", True),
            Column("ratio, here", True),
            Column("Headroom's default, ratio here", True),
            Column("same order?"),
        ],
        caption=f"{what}: published ({system}) and here",
        notes=[f"Published on: {source.machines[system]}. “Page by page” is {PAGE_BY_PAGE}, the document's DynArray."],
    )
    agree, differ = [], []
    left_out = 0
    rows = [record for record in source.records({"system": system}) if record["contender"] == "DynArray"]
    rows.sort(key=lambda record: words.order({name: record[name] for name in keys}))
    for position, record in enumerate(rows):
        where = {name: record[name] for name in keys}
        (other,) = source.records({**where, "system": system, "contender": "std::vector"})
        cell = next(
            (
                cell
                for cell in section.cells
                if not cell.parameters.get("warm")
                and all(cell.parameters.get(name) == value for name, value in where.items())
            ),
            None,
        )
        there = record[column] / other[column] if record[column] is not None and other[column] else None
        here = cell.ratio(metric, PAGE_BY_PAGE, YARDSTICK) if cell else None
        ours = cell.ratio(metric, DEFAULT, YARDSTICK) if cell else None
        if cell is None:
            left_out += 1
            continue
        label = words.configuration(where)
        same, mark = "not run" if here is None else "—", "unknown"
        if there is not None and here is not None:
            if (there < 1) == (here.median < 1):
                same, mark = "yes", "good"
                agree.append(label)
            else:
                same, mark = "no", "bad"
                differ.append(f"{label}: {words.ratio(there)} published, {words.ratio(here.median)} here")
        figures = [cell.figure(name, metric) if cell else None for name in (PAGE_BY_PAGE, YARDSTICK)]
        table.rows.append(
            [
                Entry(label, float(position)),
                _there(record, column, unit),
                _there(other, column, unit),
                Entry(words.ratio(there), there) if there is not None else Entry("—", float("inf")),
                *[
                    (
                        Entry(words.quantity(figure.median, figure.unit), figure.median)
                        if figure
                        else (ending(cell, name) if cell else Entry("—", float("inf")))
                    )
                    for figure, name in zip(figures, (PAGE_BY_PAGE, YARDSTICK))
                ],
                Entry(words.ratio(here.median), here.median) if here else Entry("—", float("inf")),
                Entry(words.ratio(ours.median), ours.median) if ours else Entry("—", float("inf")),
                Entry(same, mark=mark),
            ]
        )
    if left_out:
        table.notes.append(
            f"{left_out} more configurations of the document were not run here; they stand in its table below."
        )
    if table.rows:
        section.beside.append(table)
    total = len(agree) + len(differ)
    if total:
        section.agreement.append(
            f"{what}: in {len(agree)} of {total} configurations that the document has for {system} and that were run here, the "
            f"page-by-page array and std::vector stand in the same order as in the document."
        )
        section.agreement += [f"Otherwise than published: {text}." for text in differ]


def _there(record: dict, column: str, unit: str) -> Entry:
    if record[column] is None:
        return Entry(str(record["outcome"]), float("inf"), "bad")
    return Entry(words.quantity(record[column], unit), float(record[column]))


def _memory_beside(section: Section) -> None:
    _beside(section, "reserve_and_commit_memory", "peak_resident_bytes", "peak_resident", "B", "Peak resident memory")


def _throughput_beside(section: Section) -> None:
    _beside(section, "reserve_and_commit_throughput", "seconds", "time", "s", "Time to build")


def _latency_beside(section: Section) -> None:
    _beside(section, "reserve_and_commit_latency", "max_seconds", "append_max", "s", "Longest append")


def _growth_beside(section: Section) -> None:
    source = published.tables()["vector_reallocation_sequences"]
    pairs = (("libstdc++ (GCC 4.6.1)", YARDSTICK), ("MSVC (Visual Studio 2010)", "headroom::geometric<3,2>"))
    columns = [source.column("elements", {"implementation": name}) for name, _ in pairs]
    here = [
        next(
            (cell.sequence(contender, "grows_at") for cell in section.cells if cell.sequence(contender, "grows_at")),
            None,
        )
        for _, contender in pairs
    ]
    table = Table(
        [Column("growth", True)]
        + [
            Column(title, True) for (name, contender) in pairs for title in (f"{name}, published", f"{contender}, here")
        ],
        caption="Elements held at each growth: published and here",
    )
    for i in range(max(len(column) for column in columns)):
        row = [Entry(str(i + 1), float(i))]
        for column, ours in zip(columns, here):
            for values in (column, ours):
                row.append(
                    Entry(f"{values[i]:,.0f}", float(values[i]))
                    if values and i < len(values)
                    else Entry("—", float("inf"))
                )
        table.rows.append(row)
    section.beside.append(table)
    for (name, contender), column, ours in zip(pairs, columns, here):
        if ours is None:
            continue
        if list(ours) == column:
            section.agreement.append(
                f"{contender} grows here exactly as {name} is printed: {len(column)} times, last at {column[-1]:,}."
            )
        else:
            section.agreement.append(
                f"{contender} grows here {len(ours)} times, last at {ours[-1]:,.0f}; {name} is printed with "
                f"{len(column)}, last at {column[-1]:,}."
            )


def _one_growth_beside(section: Section) -> None:
    ratios = [(cell.parameters.get("bytes"), cell.ratio("time", DEFAULT, YARDSTICK)) for cell in section.cells]
    ratios = [(size, ratio) for size, ratio in ratios if ratio and isinstance(size, int)]
    table = Table(
        [Column("size"), Column("published"), Column("here, settled_vector ÷ std::vector")],
        caption="Published and here",
    )
    for row in published.tables()["4gb_per_vector"].records():
        low, high = row["from_bytes"], row["below_bytes"]
        inside = [(size, ratio) for size, ratio in ratios if size >= low and (high is None or size < high)]
        if inside:
            best, worst = min(ratio.median for _, ratio in inside), max(ratio.median for _, ratio in inside)
            text = f"{words.ratio(best)} to {words.ratio(worst)} over {len(inside)} sizes, {words.size(inside[0][0])} to {words.size(inside[-1][0])}"
            if high is not None:
                section.agreement.append(
                    f"Under {words.size(high)} the document has std::vector ahead; here settled_vector takes {text.split(' over')[0]} times "
                    f"its time" + (": it is ahead at every size." if worst < 1 else ".")
                )
            else:
                section.agreement.append(
                    f"From {words.size(low)} the document has settled_vector up to 35% faster (0.65); here its best is {words.ratio(best)}."
                )
        else:
            text = "not run"
        table.rows.append(
            [
                Entry(f"under {words.size(high)}" if high else f"from {words.size(low)}"),
                Entry(row["statement"]),
                Entry(text),
            ]
        )
    section.beside.append(table)


def _commit_beside(section: Section) -> None:
    """The document's histograms of its system's commit call, and of our commit and first touch at one page."""
    source = published.tables()["reserve_and_commit_system_calls"]
    cell = next((cell for cell in section.cells if cell.parameters.get("pages") == 1), None)
    theirs = [
        ("bench2.exe", "NtAllocateVirtualMemory"),
        ("bench0.exe", "VirtualAlloc"),
        ("bench0.exe", "DynArray<int>::Append"),
    ]
    ours = [name for name in ("commit", "first_touch", "populate") if cell and cell.histogram(name, "call_histogram")]
    table = Table(
        [Column("from (µs)", True)]
        + [Column(f"{function}, published", True) for _, function in theirs]
        + [Column(f"{name}, here", True) for name in ours],
        caption="How many calls took how long: published (Windows) and here (one page)",
        notes=["A row counts the calls from its time up to the next row's."],
    )
    counts = []
    for program, function in theirs:
        counts.append(
            {
                row["at_least_microseconds"]: row["count"]
                for row in source.records({"program": program, "function": function})
            }
        )
    for name in ours:
        found = cell.histogram(name, "call_histogram")
        bins: dict[int, float] = {}
        for value, count in zip(found.values, found.counts):
            micro = int(value * 1e6)
            low = 1 << (micro.bit_length() - 1) if micro else 0
            bins[low] = bins.get(low, 0) + count
        counts.append(bins)
    for low in [0] + [1 << power for power in range(20)]:
        if any(column.get(low) for column in counts):
            table.rows.append(
                [Entry(f"{low:,}", float(low))]
                + [Entry(f"{column.get(low, 0):,.0f}", float(column.get(low, 0))) for column in counts]
            )
    section.beside.append(table)


def _thesis(section: Section) -> None:
    """What the thesis says in numbers, as speeds, beside the speeds here."""
    source = published.tables()["fast_vector_with_mremap"]
    ours = "headroom::vector"
    table = Table(
        [
            Column("what"),
            Column("published: rvector's speed ÷ the other's", True),
            Column("the other, published"),
            Column("here: headroom::vector's speed ÷ the other's", True),
            Column("the other, here"),
            Column("where"),
        ],
        caption="Published and here",
        notes=[
            f"Published on: {'; '.join(source.machines.values())}. headroom::vector plays rvector's part; the other is the fastest of the rest, "
            "or the one named. The thesis shows plots; only what its text says in numbers stands here."
        ],
    )
    for record in source.records():
        # The thesis has shortness of memory inside its simulation; here it is an experiment of its own.
        short = record["what"].startswith("std::string, while memory is short")
        if section.experiment.id != ("pressure" if short else record["experiment"]):
            continue
        metric, where, element = _THESIS.get((record["experiment"], record["what"]), (None, None, None))
        if metric is None:
            continue
        cells = [
            cell
            for cell in section.cells
            if (element is None or cell.parameters.get("element") == element) and cell.figure(ours, metric) is not None
        ]
        row = [
            Entry(record["what"]),
            Entry(words.ratio(record["speed of rvector / other"]), record["speed of rvector / other"]),
            Entry(record["other"]),
        ]
        cell = max(cells, key=lambda cell: cell.parameters.get(where, 0), default=None)
        named = record["other"] if record["other"] in ("std::vector", "folly::fbvector") else None
        found = None
        if cell:
            others = [
                (figure.median, name)
                for name in cell.contenders
                if (name == named if named else is_peer(name)) and (figure := cell.figure(name, metric)) is not None
            ]
            found = min(others, default=None)
        if found is None:
            table.rows.append(row + [Entry("not run", float("inf"), "unknown"), Entry(named or "—"), Entry("—")])
            continue
        speed = found[0] / cell.figure(ours, metric).median
        label = words.configuration(cell.parameters)
        table.rows.append(row + [Entry(words.ratio(speed), speed), Entry(found[1]), Entry(label)])
        there = record["speed of rvector / other"]
        section.agreement.append(
            f"{record['what']}: {words.ratio(there)} times the speed of {record['other']} in the thesis, {words.ratio(speed)} times that of "
            f"{found[1]} here ({label}): "
            + ("as far ahead, or farther." if speed >= there else "ahead, and not as far." if speed > 1.0 else "not ahead.")
        )
    if table.rows:
        section.beside.append(table)


# Metric, the parameter of which the largest is taken, and the element.
_THESIS = {
    ("push-back", "10⁸ push_backs of int"): ("time", "elements", "int"),
    ("push-back", "10⁸ push_backs of an empty std::string"): ("time", "elements", "string"),
    ("simulation", "all push_backs of array<int, 10>, seconds"): ("push_back", "iterations", "array<int,10>"),
    ("simulation", "std::string, while memory is short, total"): ("time", "iterations", None),
    ("reset-words", "the largest input"): ("time", "states", None),
}


BESIDE = {
    "memory": _memory_beside,
    "throughput": _throughput_beside,
    "latency": _latency_beside,
    "growth": _growth_beside,
    "one-growth": _one_growth_beside,
    "commit-cost": _commit_beside,
    "push-back": _thesis,
    "simulation": _thesis,
    "pressure": _thesis,
    "reset-words": _thesis,
    **BESIDE_MEMORY,
}
