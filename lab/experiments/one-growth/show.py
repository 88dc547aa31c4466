# SPDX-License-Identifier: MIT
"""One growth: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results import published, words
from headroom_report.results.catalogue import DEFAULT, YARDSTICK, Contest, Experiment, Matter
from headroom_report.results.figures import Cell
from headroom_report.tables.table import Column, Entry, Table


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return values.against("one-growth", "Time of one life, divided by std::vector's", "bytes", YARDSTICK)(cells)


def beside(cells: list[Cell]) -> list[Table]:
    ratios = [(cell.parameters.get("bytes"), cell.ratio("time", DEFAULT, YARDSTICK)) for cell in cells]
    ratios = [(size, ratio.median) for size, ratio in ratios if ratio and isinstance(size, int)]
    table = Table(
        [Column("size"), Column("published"), Column("here, settled_vector ÷ std::vector")],
        caption="Published and here",
    )
    for row in published.tables()["4gb_per_vector"].records():
        low, high = row["from_bytes"], row["below_bytes"]
        inside = [(size, ratio) for size, ratio in ratios if size >= low and (high is None or size < high)]
        text = "not run"
        if inside:
            best, worst = (words.ratio(found(ratio for _, ratio in inside)) for found in (min, max))
            text = f"{best} to {worst} over {len(inside)} sizes, {words.size(inside[0][0])} to {words.size(inside[-1][0])}"
        table.rows.append([Entry(f"under {words.size(high)}" if high else f"from {words.size(low)}"), Entry(row["statement"]), Entry(text)])
    return [table]

EXPERIMENT = Experiment(
    title="One growth",
    question="What does a vector cost that grows once, is read once, and is dropped, again and again in one process?",
    document="4GB per Vector",
    method=(
        "The whole life of the vector is timed, in a loop, in batches of at least a millisecond; the figure is the median "
        "batch. What a process can reuse from one vector to the next, heap blocks or warm reservations, takes part under its "
        "default settings."
    ),
    limits="Ints only; the sizes are powers of two, which suits containers that double.",
    contests=(Contest("time", "time of one life", "a vector that grows once and is dropped, up to 64 KiB", "vector, with reserve()"),),
    more=(Contest("time_first", "the first life in the process"),),
    reading="Time divided by std::vector's; under the line is faster. Both axes are logarithmic.",
    pictures=pictures,
    beside=beside,
    matters=(Matter("again", "the time to build, read and drop one, again and again", "time", "bytes", {}, place=20),),
    place=40,
)
