# SPDX-License-Identifier: MIT
"""All that a report says, before it takes a form: one Report for the page and the terminal alike."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from ..results import sets, strategies, words
from ..results.figures import Cell, cells
from ..results.reading import ResultSet, Run
from ..tables.section import Section
from ..tables.table import Entry, Table, numbers, quantity, quotient, texts
from ..verdicts import claims, losing, standing
from ..verdicts.claims import Verdict
from ..verdicts.answers import Panel, panels
from ..verdicts.difference import ONE_ROUND, TOO_NOISY, UNDECIDED
from ..verdicts.standing import Standing
from . import experiments, sections


_FACTS = {"compiler": "compiler", "thp": "transparent huge pages", "overcommit": "overcommit mode", "headroom": "Headroom",
          "commit": "commit", "grid": "grid", "started": "started"}


@dataclass
class Machine:
    """What one machine showed. Each part is reckoned when somebody asks for it."""

    description: dict
    runs: list[Run]

    @cached_property
    def cells(self) -> list[Cell]:
        return cells(self.runs)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return [claims.decide(claim, self.cells) for claim in claims.documents_claims(experiments.names())]

    @cached_property
    def promises(self) -> list[Verdict]:
        return [claims.decide(claim, self.cells) for claim in claims.promises(experiments.names())]

    @cached_property
    def standing(self) -> Standing:
        return standing.of(self.cells, experiments.every())

    @cached_property
    def panels(self) -> list[Panel]:
        return panels(self.cells, experiments.every(), self.standing)

    @cached_property
    def sections(self) -> list[Section]:
        return sections.every_experiment(self.cells)

    @cached_property
    def absent(self) -> dict[str, str]:
        """Who was left out in every experiment, and why."""
        gone = {strategies.implementation(run.contender): run.detail for run in self.runs if run.outcome == "absent"}
        there = {strategies.implementation(run.contender) for run in self.runs if run.outcome != "absent"}
        return {name: why for name, why in gone.items() if name not in there}

    @property
    def id(self) -> str:
        return self.description.get("id", "?")

    @property
    def set(self) -> str:
        """The name of the result set that a repository keeps for this processor."""
        return sets.name_of(self.description)

    @property
    def name(self) -> str:
        """The processor, for a column's title."""
        return " ".join(re.sub(r"\((R|TM)\)|@.*| processor", "", str(self.description.get("cpu", self.id)), flags=re.I).split())

    @property
    def measured(self) -> str:
        """When, and of which commit."""
        day = str(self.description.get("started", ""))[:10]
        return ", ".join(part for part in (day, f"commit {self.description.get('commit', 'unknown')}") if part)

    @property
    def title(self) -> str:
        if self.description.get("missing"):
            return f"machine {self.id} (its description is missing from the files)"
        memory = self.description.get("memory_bytes")
        parts = [str(self.description.get("cpu", "unknown processor")), f"{self.description.get('cores', '?')} cores"]
        if isinstance(memory, (int, float)):
            parts.append(words.size(memory))
        parts.append(str(self.description.get("kernel", "")))
        return ", ".join(part for part in parts if part)

    @property
    def facts(self) -> list[tuple[str, str]]:
        sized = {"page_size": "page", "huge_page_size": "huge page"}
        found = [(title, str(self.description[name])) for name, title in _FACTS.items() if self.description.get(name) not in (None, "")]
        found[1:1] = [(title, words.size(value)) for name, title in sized.items() if isinstance(value := self.description.get(name), int)]
        flags = self.description.get("flags")
        if isinstance(flags, dict):
            found += [(f"flags {level}", str(text)) for level, text in sorted(flags.items())]
        libraries = self.description.get("libraries")
        if isinstance(libraries, dict) and libraries:
            # A version for each contender; a library has one for all of its own.
            # What is measured under a preloaded allocator has that allocator's version.
            versions = {
                (name.partition(strategies.PRELOADED)[2] or name.split("::")[0].split("/")[0].split(" AS")[0], str(text))
                for name, text in libraries.items()
            }
            found.append(("libraries", ", ".join(f"{name} {text}" for name, text in sorted(versions) if name != "floor")))
        return found

    @property
    def busy(self) -> str:
        """Whether something else ran while this was measured; empty where it did not, or where older results do not say."""
        # The system counts in hundredths of a second.
        long = [run.metrics for run in self.runs if "elapsed" in run.metrics and sum(run.metrics["elapsed"].values) >= 0.05]
        told = []
        for name, text in (
            ("others_cpu", "other programs kept {middle} processors busy (in the median run; {worst} in the worst tenth)"),
            ("stolen", "the host of this virtual machine took {middle} processors away ({worst} in the worst tenth)"),
        ):
            found = sorted(sum(metrics[name].values) / sum(metrics["elapsed"].values) for metrics in long if name in metrics)
            if not found:
                continue
            middle, worst = found[len(found) // 2], found[int(0.9 * (len(found) - 1))]
            if middle > 0.1 or worst > 0.3:
                told.append(text.format(middle=f"{middle:.1f}", worst=f"{worst:.1f}"))
        return "This machine was busy: while the lab measured, " + ", and ".join(told) + "." if told else ""


@dataclass
class Report:
    results: ResultSet
    machines: list[Machine]
    troubles: list[str] = field(default_factory=list)  # what a reader must know before reading on, in words
    notes: list[str] = field(default_factory=list)  # about the files and what was not run, in words


def choose(results: ResultSet) -> tuple[list[str], list[str]]:
    """Which machines to show, and which are left out: of several builds on one machine, the newest of those that ran the most
    experiments."""
    ran: dict[str, set[str]] = {}
    for run in results.runs:
        ran.setdefault(run.machine, set()).add(run.experiment)
    builds: dict[tuple, list[str]] = {}
    for name in ran:
        description = results.machines[name]
        parts = ("id",) if description.get("missing") else ("cpu", "cores", "memory_bytes", "kernel")
        builds.setdefault(tuple(str(description.get(part)) for part in parts), []).append(name)
    best = [
        max(names, key=lambda name: (len(ran[name]), str(results.machines[name].get("started", ""))))
        for names in builds.values()
    ]
    return best, [name for name in ran if name not in best]


def build(results: ResultSet) -> Report:
    shown, left_out = choose(results)
    machines = [Machine(results.machines[name], results.of_machine(name)) for name in shown]
    machines.sort(key=lambda machine: sets.age_rank(machine.description, len(machine.runs)), reverse=True)
    report = Report(results, machines, *_warnings(results, machines))
    if left_out:
        builds = ", ".join(f"{name} (commit {results.machines[name].get('commit', '?')})" for name in left_out)
        report.notes.append(
            f"Left out: results of other builds on the same machine: {builds}. To see one, give its files alone; to lay two side by side: compare."
        )
    return report


def _warnings(results: ResultSet, machines: list[Machine]) -> tuple[list[str], list[str]]:
    found: list[str] = []
    notes: list[str] = []
    if not results.files:
        found.append("No result file was given.")
    elif not machines:
        found.append("The files hold no run that could be read, so there is nothing to show.")
    if results.problems:
        found.append(
            f"{len(results.problems)} {'place' if len(results.problems) == 1 else 'places'} in the files could not be read: the command names them, and the page at its end."
        )
    if results.repeated:
        notes.append(f"{results.repeated} runs came more than once; the last of each counts.")
    for machine in machines:
        on = f" on {machine.id}" if len(machines) > 1 else ""
        if machine.busy:
            found.append(machine.busy)
        ran = {run.experiment for run in machine.runs if run.outcome != "absent"}
        if missing := [name for name in experiments.names() if name not in ran]:
            notes.append(f"Not run{on}: {', '.join(missing)}.")
        bad = Counter(run.outcome for run in machine.runs if run.outcome not in ("ok", "absent"))
        if bad:
            counted = ", ".join(f"{count} {outcome}" for outcome, count in bad.items())
            notes.append(f"Runs that did not end well{on}: {counted}. They stand in the tables as such.")
        if machine.absent:
            notes.append(f"Absent{on}: " + ", ".join(f"{name} ({why})" for name, why in machine.absent.items()) + ".")
    return found, notes


# --- the tables of the first screen ------------------------------------------------------------------------------------------


def _told(text: str, found: claims.Finding, verdict: Verdict) -> str:
    """With as many digits as it takes to see on which side of each limit it lies."""

    def sides(value: float) -> list[tuple[bool, bool]]:
        return [(value < at, value > at) for at in verdict.limits]

    for digits in range(4, 10):
        if "∞" in text or sides(float(text.replace(",", ""))) == sides(found.figure.median):
            break
        text = words.digits(found.figure.median, digits)
    return text


def here(verdict: Verdict) -> str:
    found = verdict.decisive
    if found is None:
        failed = next((finding.why for finding in verdict.findings if finding.why), "")
        return failed or "—"
    if found.figure is None:
        return found.why + (f" ({words.configuration(found.parameters)})" if found.parameters else "")
    value = found.figure.median
    if found.figure.unit:
        text = words.quantity(value, found.figure.unit)
    elif found.second != claims.limit(1) or not found.figure.exact:  # a quotient; counts have no unit either
        text = f"{_told(words.ratio(value), found, verdict)}×"
    else:
        text = _told(words.digits(value), found, verdict)
    cell = [words.configuration(found.parameters)] if found.parameters else []
    where = "; ".join([*cell, *([found.why] if found.why else [])])
    most = "the middle of " if verdict.how == "most" and len(verdict.findings) > 1 else ""
    return f"{text} ({f'{most}{len(verdict.findings)} cells' if most else where})"


FEW = 6


def _cells(verdict: Verdict) -> str:
    """Each cell of a verdict; where there are many, how many are as claimed, and the farthest of the others."""
    found = [one for one in verdict.findings if one.parameters]  # a mean of all cells stands in the verdict
    if len(found) <= FEW:
        return "; ".join(_cell(one, verdict) for one in found)
    bad = sorted((one for one in found if not one.good and not one.unsure), key=verdict.badness, reverse=True)
    undecided = sum(bool(one.unsure) for one in found)
    text = f"{len(found) - len(bad) - undecided} of {len(found)} cells"
    farthest = [f"{words.configuration(one.parameters)} ({words.digits(one.figure.median) if one.figure else one.why})" for one in bad[:FEW]]
    text += f"; not {', '.join(farthest)}" if bad else ""
    text += f" and {len(bad) - FEW} more" if len(bad) > FEW else ""
    return text + (f"; {undecided} undecided" if undecided else "")


def _cell(finding: claims.Finding, verdict: Verdict) -> str:
    value = finding.why
    if finding.figure and finding.figure.unit:
        value = words.quantity(finding.figure.median, finding.figure.unit)
    elif finding.figure:
        value = _told(words.digits(finding.figure.median), finding, verdict)
    sign = f" ({finding.unsure})" if finding.unsure else "" if finding.good else " ✗"
    return f"{words.configuration(finding.parameters)}: {value}{sign}"


OVERTURNED = "overturned"
# The words for a verdict, and its colour. Somebody else's sentence that does not hold here is no fault of Headroom's: only its own
# promises can be red.
_CLAIM = {claims.HOLDS: (claims.HOLDS, "good"), claims.FAILS: (claims.FAILS, "other"), claims.PARTLY: (claims.PARTLY, "partly")}
_PROMISE = {claims.HOLDS: ("met", "good"), claims.FAILS: ("missed", "bad"), claims.PARTLY: ("met where run", "partly")}


def told(verdict: Verdict) -> tuple[str, str]:
    if verdict.claim.overturn and verdict.state == claims.FAILS:
        return OVERTURNED, "good"
    known = _PROMISE if verdict.claim.document == claims.PROMISES else _CLAIM
    return known.get(verdict.state, (verdict.state, "unknown"))


def counted(verdicts: list[Verdict]) -> list[tuple[int, str, str]]:
    """How many verdicts of each word, with its colour."""
    order = ("good", "bad", "other", "partly", "unknown")
    found = Counter(map(told, verdicts))
    return [(count, *key) for key, count in sorted(found.items(), key=lambda pair: order.index(pair[0][1]))]


def claims_tables(machines: list[Machine]) -> list[tuple[Table, list[Verdict]]]:
    """One for each document, with the machines side by side, and the first machine's verdicts in it."""
    by_document: dict[str, list[tuple[Verdict, ...]]] = {}
    for verdicts in zip(*(machine.verdicts for machine in machines)):
        by_document.setdefault(verdicts[0].claim.document, []).append(verdicts)
    return [(claims_table(rows, name, machines), [row[0] for row in rows]) for name, rows in by_document.items()]


def _columns(machines: list[Machine], here_title: str) -> tuple[str, ...]:
    """Titles of a verdict and its figure for each machine."""
    if len(machines) == 1:
        return "verdict", here_title
    return tuple(title for machine in machines for title in (f"on {machine.name}", here_title))


def _row(verdicts: tuple[Verdict, ...], small: str, hovers: list[str], *more: str) -> list[Entry]:
    claim = verdicts[0].claim
    row = [Entry(claim.sentence, hover=claim.id, small=small)]
    for verdict, hover in zip(verdicts, hovers):
        word, mark = told(verdict)
        row += [Entry(word, mark=mark), Entry(here(verdict), hover=hover)]
    return [*row, *map(Entry, more)]


def _not_run(verdict: Verdict) -> list[str]:
    return ["not run: " + ", ".join(words.parameter(*one) for one in verdict.missing)] if verdict.missing else []


def claims_table(rows: list[tuple[Verdict, ...]], caption: str, machines: list[Machine]) -> Table:
    table = Table(texts("claim", *_columns(machines, "here"), "published", "where"), caption=caption)
    for verdicts in rows:
        claim = verdicts[0].claim
        overturned = ["Headroom was built so that this no longer holds"] if OVERTURNED in (told(one)[0] for one in verdicts) else []
        found = [remark for verdict in verdicts for remark in (*verdict.remarks, *_not_run(verdict))]
        remarks = [*overturned, *found, *([claim.note] if claim.note else [])]
        table.rows.append(_row(verdicts, ". ".join(dict.fromkeys(remarks)), [_cells(one) for one in verdicts], claim.published, claim.place))
    return table


def losing_table(machines: list[Machine]) -> Table:
    table = Table(texts(*losing.TITLES), caption="Where it loses")
    standings, cells = {machine.name: machine.standing for machine in machines}, {machine.name: machine.cells for machine in machines}
    for loss in losing.of(standings, experiments.every(), cells):
        table.rows.append([Entry(text) for text in loss.cells])
    return table


def promises_table(machines: list[Machine]) -> Table:
    table = Table(texts("Headroom's promise", *_columns(machines, "here, at its worst"), "asked"), caption="Headroom's promises")
    for verdicts in zip(*(machine.promises for machine in machines)):
        first = verdicts[0]
        remarks = [_cells(first), *_not_run(first), *dict.fromkeys(first.remarks)]
        table.rows.append(_row(verdicts, "; ".join(filter(None, remarks)), [""] * len(verdicts), first.claim.asked))
    return table


def losses_table(machine: Machine) -> Table:
    table = Table(
        numbers("÷ the best") + texts("experiment", "what", "measure", "who is best") + numbers("the best", "Headroom's default"),
        caption="Every cell where Headroom's default is not the best, worst first",
    )
    for place in machine.standing.losses:
        table.rows.append(
            [
                Entry(
                    words.ratio(place.ratio) if place.figure else place.why,
                    "quiet" if place.undecided else "partly" if place.close else "bad",
                    UNDECIDED.get(place.undecided, ""),
                    small=place.undecided,
                ),
                Entry(place.experiment),
                Entry(words.configuration(place.parameters)),
                Entry(place.measure),
                Entry(strategies.implementation(place.other), contender=strategies.implementation(place.other)),
                quantity(place.other_figure),
                quantity(place.figure) if place.figure else Entry(place.why),
            ]
        )
    return table


def standing_words(machine: Machine) -> str:
    total = len(machine.standing.places)
    if not total:
        return "Headroom was not compared with anything in these results."
    best, close, behind, _ = standing.counted(machine.standing.places)
    text = (
        f"Headroom's default was compared with the best of the others in {total:,} cells. In {best:,} it is the best or level with it, in "
        f"{close:,} within 5% of the best, in {behind:,} farther behind."
    )
    once = sum(place.undecided == ONE_ROUND for place in machine.standing.places)
    noisy = sum(place.undecided == TOO_NOISY for place in machine.standing.places)
    if once:
        text += f" {once:,} were measured in fewer than three rounds, which decides nothing."
    if noisy:
        text += f" In {noisy:,} the difference is no larger than the noise."
    return text


def standing_by_experiment(machine: Machine) -> Table:
    table = Table(
        texts("experiment", "measure") + numbers("cells", "best", "within 5%", "behind", "undecided", "median ÷ the best of the others"),
        caption="Headroom's default against the best of the others",
    )
    groups: dict[tuple[str, str], list] = {}
    for place in machine.standing.places:
        groups.setdefault((place.experiment, place.measure), []).append(place)
    for (experiment, measure), places in groups.items():
        counts = (len(places), *standing.counted(places))
        middle = statistics.median(place.ratio for place in places)
        table.rows.append([Entry(experiment), Entry(measure), *(Entry(str(count)) for count in counts), quotient(middle)])
    return table

