"""Writes the tables of docs/in-the-wild.md from results of this experiment: PYTHONPATH=lab/report python table.py

The results are docs/report/whole-programs.jsonl.gz, one machine's; with --print the tables are only printed.
"""

from __future__ import annotations

import pathlib
import statistics
import sys

from headroom_report.results import figures, reading

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE, RESULTS = ROOT / "docs/in-the-wild.md", ROOT / "docs/report/whole-programs.jsonl.gz"
BEGIN, END = "<!-- made by lab/experiments/whole-programs/table.py -->", "<!-- end -->"
PLAIN, SWITCHED = "std::vector", "headroom::vector"
MALLOCS = ("mimalloc 2.4", "mimalloc 3.4", "jemalloc", "tcmalloc")


def table(cells: list[figures.Cell], metric: str, first: str, said) -> str:
    """A row for each program: what it takes as it is, and the rest divided by that."""
    ways = [SWITCHED] + [f"{vector} under {malloc}" for malloc in MALLOCS for vector in (PLAIN, SWITCHED)] + [f"{PLAIN}#2"]
    titles = ["Headroom"] + [title for malloc in MALLOCS for title in (malloc, "both")] + ["as it is, again"]
    lines = [f"| program | {first} | " + " | ".join(titles) + " |", "|---|---|" + "---|" * len(ways)]
    ratios: dict[str, list[float]] = {way: [] for way in ways}
    for cell in sorted(cells, key=lambda cell: str(cell.parameters["program"])):
        plain = cell.figure(PLAIN, metric).median
        row = []
        for way in ways:
            ratio = cell.figure(way, metric).median / plain
            ratios[way].append(ratio)
            row.append(f"{ratio:.2f}")
        lines.append(f"| {cell.parameters['program']} | {said(plain)} | " + " | ".join(row) + " |")
    means = (f"**{statistics.geometric_mean(ratios[way]):.2f}**" for way in ways)
    return "\n".join([*lines, "| geometric mean | | " + " | ".join(means) + " |"])


def sizes(cells: list[figures.Cell]) -> str:
    lines = ["| program | page faults | with Headroom | size, kB | with Headroom | compiled in, s | with Headroom |", "|---|---|---|---|---|---|---|"]
    for cell in sorted(cells, key=lambda cell: str(cell.parameters["program"])):
        of = {(name, metric): cell.figure(name, metric).median for name in (PLAIN, SWITCHED) for metric in ("page_faults", "size", "build_time")}
        row = [f"{of[name, metric] / by:,.0f}" for metric, by in (("page_faults", 1), ("size", 1000), ("build_time", 1)) for name in (PLAIN, SWITCHED)]
        lines.append(f"| {cell.parameters['program']} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def made() -> str:
    found = reading.read([RESULTS])
    (machine,) = found.machines
    cells = [cell for cell in figures.cells(found.of_machine(machine)) if cell.experiment == "whole-programs"]
    return "\n\n".join(
        (
            "Processor time:",
            table(cells, "time", "as it is, s", "{:.2f}".format),
            "Peak of resident memory:",
            table(cells, "peak", "as it is, MiB", lambda value: f"{value / 2**20:.0f}"),
            "What else it costs:",
            sizes(cells),
        )
    )


def page(before: str) -> str:
    head, rest = before.split(BEGIN)
    return f"{head}{BEGIN}\n{made()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    if "--print" in sys.argv[1:]:
        print(made())
    else:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
