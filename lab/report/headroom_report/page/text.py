"""The report on the terminal: claims, promises, losses first and short; the tables of each experiment on request."""

from __future__ import annotations

from ..tables.table import Table, plain
from ..verdicts import claims
from . import model
from .model import Machine, Report

_SIGNS = {claims.HOLDS: "✓", claims.FAILS: "✗", claims.NOT_RUN: "·", claims.PARTLY: "✓"}


def _without(table: Table, *titles: str) -> Table:
    kept = [i for i, column in enumerate(table.columns) if column.title not in titles]
    return Table(
        [table.columns[i] for i in kept], [[row[i] for i in kept] for row in table.rows], table.caption, table.notes
    )


def _clip(table: Table, title: str, width: int) -> Table:
    """Shortens the texts of one column, so that the others keep their places."""
    index = next(i for i, column in enumerate(table.columns) if column.title == title)
    for row in table.rows:
        if len(row[index].text) > width:
            row[index] = type(row[index])(row[index].text[: width - 1] + "…", row[index].sort, row[index].mark)
    return table


def _heading(text: str) -> str:
    return f"\n{text}\n{'═' * len(text)}"


def machine_text(machine: Machine, width: int = 150, losses: int = 20, tables: bool = False) -> str:
    out = [_heading(machine.title)]
    facts = dict(machine.facts)
    out.append(
        "; ".join(
            f"{name} {facts[name]}"
            for name in ("compiler", "grid", "transparent huge pages", "overcommit mode", "commit")
            if name in facts
        )
    )
    counts: dict[str, int] = {}
    for verdict in machine.verdicts:
        counts[verdict.state] = counts.get(verdict.state, 0) + 1
    out.append(
        _heading(
            "Claims of the documents: " + (", ".join(f"{count} {state}" for state, count in counts.items()) or "none")
        )
    )
    decided = model.claims_table(machine)
    out.append(plain(_clip(_clip(_without(decided, "source"), "published", 33), "here", 36), width))
    out.append(_heading("Headroom's promises"))
    out.append(plain(model.promises_table(machine), width))
    out.append(_heading("Headroom's standing"))
    out.append(model.standing_words(machine))
    table = model.losses_table(machine)
    if table.rows:
        shown = Table(table.columns, table.rows[:losses])
        out.append(table.caption + ":")
        out.append(plain(shown, width))
        if len(table.rows) > losses:
            out.append(f"… and {len(table.rows) - losses} more, in the page and with --text=all")
    if tables:
        for section in machine.sections:
            out.append(_heading(f"{section.experiment.title}: {section.experiment.question}"))
            if not section.ran:
                why = f" ({section.why_not})" if section.why_not else ""
                out.append(f"Not run{why}. To run it: {section.command}")
                continue
            for table in section.tables + section.beside:
                out += ["", table.caption, plain(table)]
                out += table.notes
            out += section.agreement
    return "\n".join(line for line in out if line is not None)


def report_text(report: Report, width: int = 150, everything: bool = False) -> str:
    out = [f"! {warning}" for warning in report.warnings]
    for problem in report.results.problems[: None if everything else 10]:
        out.append(f"  {problem}")
    if len(report.results.problems) > 10 and not everything:
        out.append(f"  … and {len(report.results.problems) - 10} more")
    for machine in report.machines:
        out.append(machine_text(machine, width, 10**9 if everything else 20, everything))
    return "\n".join(out) + "\n"
