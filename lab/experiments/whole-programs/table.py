# SPDX-License-Identifier: MIT
"""Writes the tables of docs/in-the-wild.md from results of this experiment: PYTHONPATH=lab/report python table.py

The results are of the newest set in docs/report/results that has this experiment; with --print the tables are only printed.
"""

from __future__ import annotations

import pathlib
import re
import statistics
import sys
from dataclasses import dataclass

from headroom_report.results import figures, reading, sets

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PAGE, REPORT = ROOT / "docs/in-the-wild.md", ROOT / "docs/report"
BEGIN, END = "<!-- made by lab/experiments/whole-programs/table.py -->", "<!-- end -->"
PLAIN, REPLACED, ADVISED, UNDER = "std::vector", "headroom::vector", "headroom::advised", " under "
NONE = "–"

# What each program is, and why it has no third stage.
PROGRAMS = {
    "cadical": ("solver of clauses", ""),
    "clucene": ("text indexer", "at most 5 ms of 540 by a `headroom::vector`: it has arrays and pools of its own"),
    "fasttext": ("trainer of a text classifier, two threads", ""),
    "hunspell": ("spell checker", "at most 16 ms of 1,060: its time is in comparing words"),
    "jsoncpp": ("reader of JSON", ""),
    "jsonnet": ("interpreter with a syntax tree", ""),
    "lemon": ("solver of round trips", "at most 1 ms of 200: graphs are made once for each trip"),
    "ninja": ("build tool", ""),
    "openmesh": ("mesh reducer", "*leave it*: its arrays are reserved, from counts that the file begins with"),
    "polyclipping": ("clipper of polygons", ""),
    "ranger": ("trainer of forests, two threads", ""),
    "wabt": ("translator of a binary format", ""),
    "yaml-cpp": ("reader of YAML", ""),
}


def under(contender: str, malloc: str) -> str:
    return contender + UNDER + malloc if malloc else contender


@dataclass
class Stages:
    """One program: its figures, and the malloc that it takes least time with; "" is the system's own."""

    cell: figures.Cell

    def __post_init__(self) -> None:
        self.name = str(self.cell.parameters["program"])
        self.advice = bool(self.cell.ok(ADVISED))
        self.best = min((malloc for malloc in ("", *self.mallocs())), key=lambda malloc: self.of(under(PLAIN, malloc), "time"))

    def mallocs(self) -> list[str]:
        """Preloaded ones. A tunable of the system's own is none."""
        found = (name.split(UNDER)[1] for name in self.cell.contenders if name.startswith(PLAIN + UNDER) and self.cell.ok(name))
        return sorted(malloc for malloc in found if malloc != "hugetlb")

    def of(self, contender: str, metric: str) -> float | None:
        found = self.cell.figure(contender, metric) if self.cell.ok(contender) else None
        return found.median if found else None

    def ratio(self, contender: str, to: str, metric: str) -> float | None:
        """None where either did not run."""
        over, by = self.of(contender, metric), self.of(to, metric)
        return over / by if over is not None and by else None

    def ratios(self, metric: str) -> dict[str, float | None]:
        second, third = under(PLAIN, self.best), under(ADVISED, self.best)
        return {
            "second": self.ratio(second, PLAIN, metric),
            "third": self.ratio(third, PLAIN, metric),
            "gain": self.ratio(third, second, metric),
            "advised": self.ratio(ADVISED, PLAIN, metric),
            "replaced": self.ratio(REPLACED, PLAIN, metric),
            "again": self.ratio(f"{PLAIN}#2", PLAIN, metric),
        }


COLUMNS = {
    "second": "the best malloc",
    "third": "and as advised",
    "gain": "third / second",
    "advised": "as advised, glibc",
    "replaced": "vectors replaced, glibc",
    "again": "as it is, again",
}


def cell(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.geometric_mean(known) if known else None


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def stages_table(programs: list[Stages], metric: str, first: str, said) -> str:
    """A row for each program: what it takes as it is, and the stages divided by that."""
    rows = [(one, one.ratios(metric)) for one in programs]
    lines = [row("program", first, *COLUMNS.values(), "the best malloc is"), "|" + "---|" * (len(COLUMNS) + 3)]
    lines += [row(one.name, said(one.of(PLAIN, metric)), *(cell(ratios[key]) for key in COLUMNS), one.best or "glibc") for one, ratios in rows]
    for title, wanted in (("geometric mean", True), ("of those with advice", False)):
        means = (mean([ratios[key] for one, ratios in rows if wanted or one.advice]) for key in COLUMNS)
        lines.append(row(title, "", *(cell(value) if value is None else f"**{cell(value)}**" for value in means), ""))
    return "\n".join(lines)


def patch(name: str) -> tuple[str, list[str], int]:
    """Of a patch: what was followed, the advice, and how many lines it adds or changes."""
    text = (HERE / "patches" / f"{name}.patch").read_text(encoding="utf-8")
    head = text[: text.index("--- a/")].strip().splitlines()
    followed = next(line for line in head if line.startswith("Followed: "))
    return followed.removeprefix("Followed: ").rstrip("."), [line.strip() for line in head if line.startswith("  ")], len(re.findall(r"(?m)^\+(?!\+\+ )", text))


def shown(advice: str) -> str:
    """A line of the profiler's, without the number of places and the names around the function's."""
    where, what = re.sub(r"^\d+ places in ", "", advice).split(": ", 1)
    return f"`{where.split('::')[-1]}`: " + re.sub(r"headroom::\w+", r"`\g<0>`", what)


def advice_table(programs: list[Stages]) -> str:
    lines = [row("program", "advice", "followed", "lines"), "|---|---|---|---|"]
    for one in programs:
        what, why = PROGRAMS[one.name]
        if one.advice:
            followed, advice, count = patch(one.name)
            lines.append(row(f"{one.name} ({what})", "; ".join(shown(each) for each in advice), followed, str(count)))
        else:
            lines.append(row(f"{one.name} ({what})", why or "leave it", NONE, ""))
    return "\n".join(lines)


def mallocs_table(programs: list[Stages]) -> str:
    mallocs = sorted({malloc for one in programs for malloc in one.mallocs()})
    lines = [row("program, time", *(title for malloc in mallocs for title in (malloc, "as advised"))), "|---|" + "---|---|" * len(mallocs)]
    for one in programs:
        lines.append(row(one.name, *(cell(one.ratio(under(way, malloc), PLAIN, "time")) for malloc in mallocs for way in (PLAIN, ADVISED))))
    for title, wanted in (("geometric mean", True), ("of those with advice", False)):
        means = [mean([one.ratio(under(way, malloc), PLAIN, "time") for one in programs if wanted or one.advice]) for malloc in mallocs for way in (PLAIN, ADVISED)]
        lines.append(row(title, *(f"**{cell(value)}**" for value in means)))
    return "\n".join(lines)


def costs_table(programs: list[Stages]) -> str:
    lines = [row("program", "page faults", "as advised", "size, kB", "as advised", "compiled in, s", "as advised"), "|---|---|---|---|---|---|---|"]
    for one in programs:
        values = [(one.of(name, metric), by) for metric, by in (("page_faults", 1), ("size", 1000), ("build_time", 1)) for name in (PLAIN, ADVISED)]
        lines.append(row(one.name, *(NONE if value is None else f"{value / by:,.0f}" for value, by in values)))
    return "\n".join(lines)


def measured() -> list[Stages]:
    found = reading.read(sets.files(REPORT))
    for machine in sorted(found.machines, key=lambda name: sets.age_rank(found.machines[name], 0), reverse=True):
        cells = [one for one in figures.cells(found.of_machine(machine)) if one.experiment == "whole-programs" and one.ok(PLAIN)]
        if cells:
            return sorted((Stages(one) for one in cells), key=lambda one: one.name)
    return []


def quotes() -> dict[str, str]:
    """For the other pages (docs/figures.json): the means, by name, and how many programs have advice."""
    programs = measured()
    found = {}
    for metric in ("time", "peak"):
        for key in COLUMNS:
            every = mean([one.ratios(metric)[key] for one in programs])
            those = mean([one.ratios(metric)[key] for one in programs if one.advice])
            found |= {f"{metric}_{key}": cell(every), f"{metric}_{key}_where_advised": cell(those)}
    with_advice = [one for one in programs if one.advice]
    gains = [gain for one in with_advice if (gain := one.ratios("time")["gain"]) is not None]
    return found | {"programs": str(len(programs)), "with_advice": str(len(with_advice)), "gained": str(sum(gain < 0.99 for gain in gains)),
                    "least_gain": cell(max(gains, default=None)), "most_gain": cell(min(gains, default=None))}


def made() -> str:
    programs = measured()
    return "\n\n".join(
        (
            "Processor time:",
            stages_table(programs, "time", "as it is, s", "{:.2f}".format),
            "Peak of resident memory:",
            stages_table(programs, "peak", "as it is, MiB", lambda value: f"{value / 2**20:.0f}"),
            "What the profiler advised first, with mimalloc 3.4 preloaded, and what became of it:",
            advice_table(programs),
            "Under each malloc:",
            mallocs_table(programs),
            "What else it costs, over glibc:",
            costs_table(programs),
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
