"""One growth: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results import published, words
from headroom_report.results.catalogue import DEFAULT, YARDSTICK, Contest, Experiment, Matter
from headroom_report.results.figures import Cell
from headroom_report.tables.section import Section
from headroom_report.tables.table import Column, Entry, Table
from headroom_report.verdicts.difference import BETTER, between


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return values.against("one-growth", "Time of one life, divided by std::vector's", "bytes", YARDSTICK)(cells)


def beside(section: Section) -> None:
    ratios = [(cell.parameters.get("bytes"), cell.ratio("time", DEFAULT, YARDSTICK), cell) for cell in section.cells]
    ratios = [one for one in ratios if one[1] and isinstance(one[0], int)]
    table = Table(
        [Column("size"), Column("published"), Column("here, settled_vector ÷ std::vector")],
        caption="Published and here",
    )
    for row in published.tables()["4gb_per_vector"].records():
        low, high = row["from_bytes"], row["below_bytes"]
        inside = [one for one in ratios if one[0] >= low and (high is None or one[0] < high)]
        if inside:
            noise = section.noise.get("time")
            surely = all(between(cell, "time", DEFAULT, YARDSTICK, noise, 0.0) == BETTER for _, _, cell in inside)
            best, worst = min(ratio.median for _, ratio, _ in inside), max(ratio.median for _, ratio, _ in inside)
            text = f"{words.ratio(best)} to {words.ratio(worst)} over {len(inside)} sizes, {words.size(inside[0][0])} to {words.size(inside[-1][0])}"
            if high is not None:
                section.agreement.append(
                    f"Under {words.size(high)} the document has std::vector ahead; here settled_vector takes {text.split(' over')[0]} times "
                    f"its time" + (": it is ahead at every size." if surely else ".")
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
    contests=(Contest("time", "time of one life"),),
    more=(Contest("time_first", "the first life in the process"),),
    reading="Time divided by std::vector's; under the line is faster. Both axes are logarithmic.",
    pictures=pictures,
    beside=beside,
    matters=(Matter("again", "the time to build, read and drop one, again and again", "time", "bytes", {}, place=20),),
    place=40,
)
