# SPDX-License-Identifier: MIT
"""The report on the terminal: the ten lines that matter, or, asked for all, every claim, promise, loss and table, in the page's
order. Readable at 80 columns: what is a sentence comes first and is broken at words."""

from __future__ import annotations

import textwrap

from ..tables.table import plain
from ..verdicts import claims
from ..verdicts.claims import Verdict
from . import model, panels
from .model import Machine, Report

WORST = 3


def _heading(text: str, width: int) -> str:
    lines = textwrap.wrap(text, width)
    return "\n" + "\n".join(lines) + "\n" + "═" * max(len(line) for line in lines)


def _hanging(title: str, text: str, width: int, indent: int = 12) -> str:
    return textwrap.fill(
        text, width, initial_indent=title.ljust(indent), subsequent_indent=" " * indent, break_on_hyphens=False
    )


def _counts(verdicts: list[Verdict]) -> str:
    return ", ".join(f"{count} {word}" for count, word, _ in model.counted(verdicts)) or "none"


def summary(machine: Machine, width: int) -> list[str]:
    """The ten lines that matter."""
    out = []
    for title, panel in zip(("Growing", "Allocating", "Memory"), machine.panels):
        if not panel.lines:
            out.append(_hanging(title, "not measured in these results", width))
            continue
        noise = panels.noise(panel.lines[0])
        out.append(_hanging(title, panels.sentence(panel) + (f" ({noise})" if noise else "") + " " + panels.loses(panel), width))
    out.append(_hanging("Claims", _counts(machine.verdicts) + ".", width))
    missed = [verdict for verdict in machine.promises if verdict.state == claims.FAILS]
    out.append(_hanging("Promises", _counts(machine.promises) + ".", width))
    for verdict in missed[:WORST]:
        out.append(_hanging("  missed", f"{verdict.claim.sentence}: {model.here(verdict)}; asked {verdict.claim.asked}", width))
    out.append(_hanging("Losses", model.standing_words(machine), width))
    return out


def _verdict(verdict: Verdict, asked: str, width: int) -> str:
    lines = [_hanging(model.told(verdict)[0], verdict.claim.sentence, width, 22)]
    lines.append(_hanging("", f"here {model.here(verdict)}; {asked}", width, 22))
    for remark in dict.fromkeys(verdict.remarks):
        lines.append(_hanging("", remark + ".", width, 22))
    return "\n".join(lines)


def machine_text(machine: Machine, width: int = 80, everything: bool = False) -> str:
    out = [_heading(machine.title, width), *summary(machine, width)]
    if not everything:
        return "\n".join(out)
    losing = model.losing_table([machine])
    if losing.rows:
        out += [_heading(losing.caption, width), plain(losing, width)]
    for table, verdicts in model.claims_tables([machine]):
        out.append(_heading(f"What “{table.caption}” claims", width))
        for verdict in verdicts:
            out.append(_verdict(verdict, f"published {verdict.claim.published}", width))
    out.append(_heading("What Headroom promises", width))
    for verdict in machine.promises:
        out.append(_verdict(verdict, f"asked {verdict.claim.asked}", width))
    table = model.losses_table(machine)
    if table.rows:
        out += [_heading(table.caption, width), plain(table, width)]
    for section in machine.sections:
        out.append(_heading(f"{section.experiment.title}: {section.experiment.question}", width))
        if not section.ran:
            why = f" ({section.why_not})" if section.why_not else ""
            out.append(textwrap.fill(f"Not run{why}. To run it: {section.command}", width, break_on_hyphens=False))
            continue
        for table in section.tables:
            out += ["", textwrap.fill(table.caption, width), plain(table, width)]
            out += [textwrap.fill(note, width) for note in table.notes]
    facts = [_hanging(f"{name}: ", value, width, 2) for name, value in machine.facts]
    out += [_heading("The machine", width), *facts]
    return "\n".join(out)


def report_text(report: Report, width: int = 80, everything: bool = False) -> str:
    out = []
    for warning in report.troubles:
        out.append(_hanging("!", warning, width, 2))
    for machine in report.machines:
        out.append(machine_text(machine, width, everything))
    if everything and report.notes:
        out += [_heading("About these results", width), *(_hanging("", note, width, 2) for note in report.notes)]
    if report.machines and not everything:
        out.append("")
        out.append("All claims, losses and tables: the page, or --text=all.")
    return "\n".join(out).lstrip("\n") + "\n"
