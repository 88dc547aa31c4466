# SPDX-License-Identifier: MIT
"""Growth: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import charts
from headroom_report.pictures.charts import Picture
from headroom_report.pictures.style import arrange
from headroom_report.results import published, words
from headroom_report.results.catalogue import YARDSTICK, Contest, Experiment
from headroom_report.results.figures import PAIRED, Cell
from headroom_report.tables.table import NOTHING, Column, Entry, Table, quantity


def pictures(cells: list[Cell]) -> list[Picture | None]:
    rows = []
    for cell in cells:
        for name in cell.contenders:
            found = cell.sequence(name, "grows_at") or ()
            for number, size in enumerate(found if not name.endswith(PAIRED) else (), start=1):
                if number == float(f"{number:.1g}") or number == len(found):  # enough to draw a line
                    drawn = {"x": size, "y": number, "low": number, "high": number}
                    told = {"where": words.configuration(cell.parameters), "text": f"growth {number} at {size:,.0f} elements"}
                    rows.append({"contender": name, **drawn, **told})
    return [charts.sweep("growth", "How often each vector has grown when it holds so many", rows, "elements", "elements held", "growths", "")]


def growth_table(cells: list[Cell]) -> Table:
    table = Table(
        [
            Column("contender"),
            Column("growths", True),
            Column("changes of address", True),
            Column("bytes moved", True),
            Column("unused at its most", True),
            Column("unused at the end", True),
            Column("first sizes at growth"),
        ],
        caption="What growing to 1,000,000 ints does",
    )
    for cell in cells:
        for name in arrange(set(cell.contenders)):
            figures = [
                cell.figure(name, metric)
                for metric in ("growths", "address_changes", "bytes_moved", "unused_most", "unused")
            ]
            sequence = cell.sequence(name, "grows_at")
            if sequence is None:
                continue
            numbers = [quantity(figure) for figure in figures]
            text = ", ".join(f"{value:,.0f}" for value in sequence[:8])
            if len(sequence) > 8:
                text += f" … {sequence[-1]:,.0f}"
            table.rows.append([Entry(name, contender=name)] + numbers + [Entry(text)])
    return table


def beside(cells: list[Cell]) -> list[Table]:
    source = published.tables()["vector_reallocation_sequences"]
    pairs = (("libstdc++ (GCC 4.6.1)", YARDSTICK), ("MSVC (Visual Studio 2010)", "headroom::geometric<3,2>"))
    columns = [source.column("elements", {"implementation": name}) for name, _ in pairs]
    here = [
        next(
            (cell.sequence(contender, "grows_at") for cell in cells if cell.sequence(contender, "grows_at")),
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
        row = [Entry(str(i + 1))]
        for column, ours in zip(columns, here):
            for values in (column, ours):
                row.append(Entry(f"{values[i]:,.0f}") if values and i < len(values) else NOTHING)
        table.rows.append(row)
    return [growth_table(cells), table]

EXPERIMENT = Experiment(
    title="Growth",
    question="At which sizes does each vector grow, and what does growing move and waste?",
    document="Vector reallocation strategies",
    method="1,000,000 ints are pushed; each change of capacity and each change of address is noted. Counts, not times.",
    limits="The growth policies are arithmetic without memory; they show the sequences that a vector using them would have.",
    contests=(
        Contest("bytes_moved", "bytes moved"),
        Contest("unused_most", "unused memory at its most"),
    ),
    reading="The first nine growths of each vector, each tenth, each hundredth and the last, at the number of elements it then held.",
    pictures=pictures,
    beside=beside,
    no_choice=frozenset(
        {
            "headroom::geometric<2,1>",
            "headroom::geometric<3,2>",
            "headroom::linear<64 KiB>",
            "headroom::page_rounded<geometric<3,2>>",
        }
    ),
    place=50,
)
