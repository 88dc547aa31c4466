"""Two result sets side by side (two commits, two compilers, two machines): what changed by more than the noise.

What is compared is each contender's figure divided by the yardstick's (std::vector's, std::allocator's) in the same cell, because ratios within one run survive
a change of machine and of weather; the yardstick itself, and what has none beside it, is compared by its own figure, and only
if both sets are of one processor. Whether a change is more than an accident is for verdicts/difference.py to say.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ..pictures.style import arrange
from ..results import reading, words
from ..results.figures import PAIRED, Cell, Figure, Noise
from ..tables.table import Entry, Table, numbers, plain, texts
from ..verdicts.claims import Verdict
from ..verdicts.difference import BETTER, WORSE, difference, over
from . import experiments
from .files import expand
from .model import Machine, Report, build, told


@dataclass(frozen=True)
class Change:
    experiment: str
    parameters: dict[str, object] = field(hash=False)
    measure: str = ""
    contender: str = ""
    relative: str = ""  # the contender that both figures are divided by; none: the figures themselves
    before: Figure | None = None
    after: Figure | None = None
    factor: float = 1.0  # after / before; less is better
    certain: bool = False


@dataclass
class Comparison:
    names: tuple[str, str]
    machines: list[str]
    changes: list[Change]
    verdicts: list[tuple[Verdict, Verdict]]  # of one claim, whose state differs
    missing: list[list[str]]  # cells only in B, only in A
    warnings: list[str]
    problems: list[str]

    @property
    def better(self) -> list[Change]:
        return sorted((one for one in self.changes if one.certain and one.factor < 1), key=lambda one: one.factor)

    @property
    def worse(self) -> list[Change]:
        return sorted((one for one in self.changes if one.certain and one.factor > 1), key=lambda one: -one.factor)


def _title(machine: Machine) -> str:
    built = [str(machine.description.get(name, "")) for name in ("compiler", "headroom", "commit")]
    return ", ".join([machine.title, *filter(None, built)])


def _key(cell: Cell) -> tuple:
    return (cell.experiment, tuple(sorted(cell.parameters.items(), key=lambda pair: pair[0])))


def compare(first: Report, second: Report, names: tuple[str, str] = ("A", "B")) -> Comparison:
    """Of each the machine with the most runs."""
    reports = first, second
    machines = [report.machines[0] if report.machines else Machine({}, []) for report in reports]
    places = [(machine.description.get("cpu"), machine.description.get("cores")) for machine in machines]
    same = places[0] == places[1]
    here, there = ({_key(cell): cell for cell in machine.cells} for machine in machines)
    changes = []
    for experiment in experiments.every():
        own = [experiment.of(machine.cells) for machine in machines]
        for contest in experiment.contests:
            noise = [Noise(cells, contest.metric) for cells in own]
            for cell in own[0]:
                other = there.get(_key(cell))
                if other is None or cell.uncountable(contest.metric):
                    continue
                for name in arrange(set(cell.contenders) & set(other.contenders)):
                    if name.endswith(PAIRED):
                        continue
                    apart = max(noise[0].between(cell, name), noise[1].between(other, name))
                    change = _change(cell, other, contest.metric, name, apart, same, experiment.yardstick)
                    if change:
                        changes.append(Change(experiment.id, cell.parameters, contest.title, name, *change))
    warnings = [f"{name}: {trouble}" for name, report in zip(names, reports) for trouble in report.troubles]
    if all(machine.runs for machine in machines) and not same:
        warnings.append("The two sets are of different machines: only ratios within each are compared.")
    return Comparison(
        names,
        [_title(machine) for machine in machines],
        changes,
        [both for both in zip(*(machine.verdicts + machine.promises for machine in machines)) if both[0].state != both[1].state],
        [
            [f"{cell.experiment}: {words.configuration(cell.parameters)}" for key, cell in one.items() if key not in other]
            for one, other in ((there, here), (here, there))
        ],
        warnings,
        [str(problem) for report in reports for problem in report.results.problems],
    )


def _change(cell: Cell, other: Cell, metric: str, name: str, apart: float, same: bool, by: str):
    there = cell.figure(by, metric) is not None and other.figure(by, metric) is not None
    relative = by if name != by and there else ""
    if relative:
        before, after = cell.ratio(metric, name, by), other.ratio(metric, name, by)
    elif same:
        before, after = cell.figure(name, metric), other.figure(name, metric)
    else:
        return None
    if before is None or after is None:
        return None
    return relative, before, after, over(after.median, before.median), difference(after, before, apart) in (BETTER, WORSE)


def _changes_table(caption: str, found: list[Change], names: tuple[str, str]) -> Table:
    columns = texts("what", "experiment", "measure", "contender") + numbers(f"A: {names[0]}", f"B: {names[1]}", "B ÷ A")
    table = Table(columns, caption=caption)
    for change in found:
        where = words.configuration(change.parameters), change.experiment, change.measure, change.contender
        figures = [_figure(figure, change.relative) for figure in (change.before, change.after)]
        table.rows.append([*map(Entry, (*where, *figures, words.ratio(change.factor)))])
    return table


def _figure(figure: Figure, relative: str) -> str:
    if not relative:
        return words.figure(figure)
    text = f"{words.ratio(figure.median)}× {relative}"
    return f"{text} ({words.ratio(figure.low)} … {words.ratio(figure.high)})" if figure.rounds > 1 else text


def _verdicts_table(comparison: Comparison) -> Table:
    table = Table(texts("claim or promise", *comparison.names), caption="Verdicts that differ")
    for both in comparison.verdicts:
        table.rows.append([Entry(both[0].claim.sentence), *(Entry(told(one)[0]) for one in both)])
    return table


def summary(comparison: Comparison) -> str:
    total = len(comparison.changes)
    return (
        f"A is {comparison.names[0]} ({comparison.machines[0]}); B is {comparison.names[1]} ({comparison.machines[1]}). Of {total} figures in both, "
        f"{len(comparison.worse)} are worse in B and {len(comparison.better)} better by more than the noise; "
        f"{total - len(comparison.worse) - len(comparison.better)} are the same within it."
    )


def text(comparison: Comparison) -> str:
    names = comparison.names
    out = [f"! {warning}" for warning in comparison.warnings] + [f"  {problem}" for problem in comparison.problems[:10]]
    out.append(summary(comparison))
    worse, better = _changes_table("Worse in B", comparison.worse, names), _changes_table("Better in B", comparison.better, names)
    for table in (_verdicts_table(comparison), worse, better):
        out += ["", f"{table.caption}:", plain(table) if table.rows else "none"]
    for name, cells in zip(reversed(names), comparison.missing):
        if cells:
            out += ["", f"Only in {name}: {len(cells)} cells"]
    return "\n".join(out) + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="headroom_report compare", description="Shows what changed between two result sets."
    )
    parser.add_argument("a", metavar="A", help="result file, or a folder of them")
    parser.add_argument("b", metavar="B", help="result file, or a folder of them")
    options = parser.parse_args(arguments)
    reports = (build(reading.read(expand([name]))) for name in (options.a, options.b))
    found = compare(*reports, (_short(options.a, options.b), _short(options.b, options.a)))
    sys.stdout.write(text(found))
    return 0 if found.changes else 1


def _short(name: str, other: str) -> str:
    """The file's name, with its folder where both are called the same."""
    path = Path(name)
    return path.name if path.name != Path(other).name else str(path)
