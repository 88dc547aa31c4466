# SPDX-License-Identifier: MIT
"""Two result sets side by side (two commits, two compilers, two machines): what changed by more than the noise.

What is compared is each contender's figure divided by the yardstick's (std::vector's, std::allocator's) in the same cell, because ratios within one run survive
a change of machine and of weather; the yardstick itself, and what has none beside it, is compared by its own figure, and only
if both sets are of one processor. Whether a change is more than an accident is for verdicts/difference.py to say.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

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
    measure: str
    contender: str
    relative: str  # the contender that both figures are divided by; none: the figures themselves
    before: Figure
    after: Figure
    outcome: str  # of the later to the earlier; less is better

    @property
    def factor(self) -> float:
        return over(self.after.median, self.before.median)


@dataclass
class Comparison:
    machines: list[Machine]
    changes: list[Change]
    verdicts: list[tuple[Verdict, Verdict]]  # of one claim, whose state differs
    missing: list[list[Cell]]  # cells only in B, only in A
    warnings: list[str]

    @property
    def better(self) -> list[Change]:
        return sorted((one for one in self.changes if one.outcome == BETTER), key=lambda one: one.factor)

    @property
    def worse(self) -> list[Change]:
        return sorted((one for one in self.changes if one.outcome == WORSE), key=lambda one: -one.factor)


def _key(cell: Cell) -> tuple:
    return (cell.experiment, tuple(sorted(cell.parameters.items(), key=lambda pair: pair[0])))


def compare(first: Report, second: Report) -> Comparison:
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
                    by, before, after = _figures(cell, other, contest.metric, name, experiment.yardstick)
                    if before and after and not name.endswith(PAIRED) and (by or same):
                        outcome = difference(after, before, max(noise[0].between(cell, name), noise[1].between(other, name)))
                        changes.append(Change(experiment.id, cell.parameters, contest.title, name, by, before, after, outcome))
    warnings = [f"{name}: {trouble}" for name, report in zip("AB", reports) for trouble in report.troubles]
    if all(machine.runs for machine in machines) and not same:
        warnings.append("The two sets are of different machines: only ratios within each are compared.")
    verdicts = zip(*(machine.verdicts + machine.promises for machine in machines))
    missing = [[cell for key, cell in one.items() if key not in other] for one, other in ((there, here), (here, there))]
    return Comparison(machines, changes, [both for both in verdicts if both[0].state != both[1].state], missing, warnings)


def _figures(cell: Cell, other: Cell, metric: str, name: str, by: str) -> tuple[str, Figure | None, Figure | None]:
    if name != by and cell.figure(by, metric) and other.figure(by, metric):
        return by, cell.ratio(metric, name, by), other.ratio(metric, name, by)
    return "", cell.figure(name, metric), other.figure(name, metric)


def _changes_table(caption: str, found: list[Change], names: list[str]) -> Table:
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


def text(comparison: Comparison, names: list[str]) -> str:
    worse, better, total = comparison.worse, comparison.better, len(comparison.changes)
    verdicts = Table(texts("claim or promise", *names), caption="Verdicts that differ")
    verdicts.rows = [[Entry(both[0].claim.sentence), *(Entry(told(one)[0]) for one in both)] for both in comparison.verdicts]
    out = [f"! {warning}" for warning in comparison.warnings]
    out += [f"{letter} is {name} ({machine.title})." for letter, name, machine in zip("AB", names, comparison.machines)]
    out.append(
        f"Of {total} figures in both, {len(worse)} are worse in B and {len(better)} better by more than the noise; "
        f"{total - len(worse) - len(better)} are the same within it."
    )
    for table in (verdicts, _changes_table("Worse in B", worse, names), _changes_table("Better in B", better, names)):
        out += ["", f"{table.caption}:", plain(table) if table.rows else "none"]
    out += [f"\nOnly in {name}: {len(cells)} cells" for name, cells in zip(reversed(names), comparison.missing) if cells]
    return "\n".join(out) + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="headroom_report compare", description="Shows what changed between two result sets."
    )
    parser.add_argument("a", metavar="A", help="result file, or a folder of them")
    parser.add_argument("b", metavar="B", help="result file, or a folder of them")
    options = parser.parse_args(arguments)
    results = [reading.read(expand([name])) for name in (options.a, options.b)]
    for problem in (problem for one in results for problem in one.problems):
        print(f"headroom_report: {problem}", file=sys.stderr)
    found = compare(*map(build, results))
    sys.stdout.write(text(found, [options.a, options.b]))
    return 0 if found.changes else 1
