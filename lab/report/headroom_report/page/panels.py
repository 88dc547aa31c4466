# SPDX-License-Identifier: MIT
"""The page's first three panels in words and pictures: one sentence, one number with its noise, one small picture, one line on
where it loses."""

from __future__ import annotations

import math

from markupsafe import Markup, escape

from ..results import words
from ..results.strategies import implementation
from ..tables.table import Table
from ..verdicts.answers import Line, Panel
from ..verdicts.difference import ONE_ROUND, TOO_NOISY, UNDECIDED

MOST = 6  # lines in a picture
OURS, OTHERS, YARDSTICK = "ours", "others", "yardstick"  # full, pale, hollow: told apart without colours too


def where(line: Line) -> str:
    """Which cells the line is from."""
    if line.cells > 1:
        return f"mean of {line.cells} cases"
    parameters = {name: value for name, value in line.parameters.items() if name != "optimisation"}
    return words.configuration(parameters)


def noise(line: Line) -> str:
    if line.undecided == ONE_ROUND:
        return "measured once" if line.ratio.rounds == 1 else f"{line.ratio.rounds} rounds only"
    text = f"±{words.share(line.noise)}" if line.ratio.timed else ""
    return f"{text}, too noisy to say" if line.undecided == TOO_NOISY else text


def number(line: Line) -> tuple[str, str]:
    """The panel's number, and what it is."""
    if line.quotients:
        return f"{words.ratio(line.quotients[0])}×", "the bytes of the elements"
    what = "time" if line.ratio.timed else "memory" if line.answer.panel == "memory" else line.answer.title
    return f"{words.ratio(line.ratio.median)}×", f"{implementation(line.yardstick)}'s {what}"


def best_other(line: Line) -> str:
    """Who stands for the best of the others."""
    name = implementation(line.other)
    return f"mostly {name}" if line.others_differ else name


def sentence(panel: Panel) -> str:
    line = panel.lines[0]
    ours, theirs = implementation(line.ours), implementation(line.yardstick)
    if panel.id == "growing":
        text = f"{ours} takes {words.ratio(line.ratio.median)} of {theirs}'s {line.answer.title} ({where(line)})"
        pause = next((one for one in panel.lines if one.answer.metric == "append_max"), None)
        if pause and pause.ratio.median > 0:
            share = pause.ratio.median
            times = f"{words.digits(1 / share, 2)} times shorter" if share < 1 else f"{words.digits(share, 2)} times longer"
            whose = "its" if pause.ours == line.ours else f"{implementation(pause.ours)}'s"
            sure = f", {UNDECIDED[pause.undecided]}" if pause.undecided else ""
            text += f"; {whose} longest single append is {times} ({where(pause)}{sure})"
        return text + "."
    if panel.id == "many":
        return (
            f"{ours} takes {words.ratio(line.ratio.median)} of the global allocator's time to build and destroy containers "
            f"({where(line)})."
        )
    if line.quotients:
        return (
            f"Building an array takes {ours} {words.ratio(line.quotients[0])} times the bytes of its elements at the peak, and {theirs} "
            f"{words.ratio(line.quotients[2])} times ({where(line)})."
        )
    return f"{ours} takes {words.ratio(line.ratio.median)} of {theirs}'s memory ({where(line)})."


def loses(panel: Panel) -> str:
    if panel.lost:
        worst = panel.lost[0]
        what = f"{words.ratio(worst.ratio)} times {implementation(worst.other)}'s {worst.measure}" if worst.figure else worst.why
        text = f"Loses in {len(panel.lost)} of {panel.places - panel.undecided} cells; worst: {what} ({words.configuration(worst.parameters)})."
    elif panel.places == panel.undecided:
        return f"None of {panel.places} cells is decided: fewer than three rounds, or differences within the noise."
    else:
        text = f"Loses in none of {panel.places - panel.undecided} cells."
    if panel.undecided:
        text += f" {panel.undecided} more are undecided: fewer than three rounds, or within the noise."
    return text


PURPOSE = (
    "Headroom is a C++20 library of growable memory, for arrays that grow large or whose elements others point to, and for many small "
    "objects that are built and dropped together."
)


def gains(machine_panels: list[Panel]) -> str:
    """What it brings, the first line of each panel in one sentence."""
    found = []
    for panel in machine_panels:
        if not panel.lines:
            continue
        line = panel.lines[0]
        ours, theirs, share = implementation(line.ours).removeprefix("headroom::"), implementation(line.yardstick), words.ratio(line.ratio.median)
        if panel.id == "growing":
            found.append(f"{ours} takes {share} of {theirs}'s {line.answer.title} ({where(line)})")
        elif panel.id == "many":
            found.append(f"{ours} takes {share} of the global allocator's to build and destroy containers ({where(line)})")
        else:
            found.append(f"at the peak, an array takes {share} of {theirs}'s memory ({where(line)})")
    return "What it gains here: " + "; ".join(found) + "." if found else "Nothing that it could be compared by was measured here."


def losses(losing: Table) -> str:
    """Where it loses most, in one sentence."""
    if not losing.rows:
        return "It loses nowhere by more than a twentieth in these results."
    most = [f"{row[0].text} ({row[2].text}, against {row[1].text})" for row in losing.rows[:2]]
    return "Where it loses most: " + "; ".join(most) + "."


def summary(machine_panels: list[Panel]) -> Panel:
    """The lines that the first screen's picture shows: two of each panel."""
    return Panel("summary", "", [line for panel in machine_panels for line in panel.lines[:2]])


LEAST, MOST_TIMES = 1 / 8, 8  # the ends of the scale, unless a bar needs more
TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.25, 0.5, 1, 2, 4, 10, 100, 1000, 1e4)


def bars(line: Line) -> list[tuple[str, float, str]]:
    """What is drawn of a line, each with its name: divided by the yardstick's; where the answer is a quotient, the quotients."""
    names = implementation(line.ours), best_other(line), implementation(line.yardstick)
    found = zip((OURS, OTHERS, YARDSTICK), line.quotients or (line.ratio.median, line.other_ratio), names)
    return [one for one in found if one[1] is not None]


def scale(panels: list[Panel]) -> tuple[float, float]:
    """One for all panels, so that bars of one length mean the same, and none is cut."""
    values = [value for panel in panels for line in panel.lines[:MOST] for _, value, _ in bars(line) if value > 0]
    return min([LEAST, *(value / 1.2 for value in values)]), max([MOST_TIMES, *(value * 1.2 for value in values)])


def picture(panel: Panel, ends: tuple[float, float]) -> Markup:
    """Bars from the line at 1, which is the yardstick (or the bytes of the elements), to the left (less) or to the right (more), on a logarithmic scale: Headroom's
    default, and the best of the others. Drawn without the large scripts, so that it is there at once."""
    lines = panel.lines[:MOST]
    width, bar, gap, label, side = 340, 10, 5, 15, 44
    low, high = map(math.log, ends)

    def place(value: float) -> float:
        return side + (width - 2 * side) * (math.log(value) - low) / (high - low)

    height, parts, one = 0, [], place(1.0)
    for line in lines:
        height += label
        title = line.answer.title if line.cells > 1 else f"{line.answer.title}, {where(line)}"
        parts.append(f'<text x="2" y="{height - 4}" class="what">{escape(title)}</text>')
        for kind, value, name in bars(line):
            at = place(value) if value > 0 else side
            x, anchor = (at - 4, "end") if at < one else (at + 4, "start")
            parts.append(
                f'<rect x="{min(at, one):.1f}" y="{height}" width="{max(abs(at - one), 1):.1f}" height="{bar}" class="{kind}">'
                f"<title>{escape(name)}: {words.ratio(value)}</title></rect>"
                f'<text x="{x:.1f}" y="{height + bar - 1}" text-anchor="{anchor}" class="value">{words.ratio(value)}</text>'
            )
            height += bar + 3
        height += gap
    ticks: list[float] = []
    for tick in sorted((tick for tick in TICKS if ends[0] <= tick <= ends[1]), key=lambda tick: abs(math.log(tick))):
        if all(abs(place(tick) - place(other)) > 34 for other in ticks):
            ticks.append(tick)
    for tick in ticks:
        parts.insert(
            0,
            f'<line x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="0" y2="{height}" class="{YARDSTICK if tick == 1 else "tick"}"/>'
            f'<text x="{place(tick):.1f}" y="{height + 11}" text-anchor="middle" class="value">{tick:,.6g}</text>',
        )
    text = "; ".join(
        f"{line.answer.title}, {where(line)}: " + ", ".join(f"{name} {words.ratio(value)}" for _, value, name in bars(line)) for line in lines
    )
    return Markup(
        f'<svg class="bars" viewBox="0 0 {width} {height + 15}" role="img" aria-label="Divided by the yardstick, logarithmic: {escape(text)}">{"".join(parts)}</svg>'
    )


def legend(panel: Panel) -> list[tuple[str, str]]:
    lines = panel.lines[:MOST]
    others = list(dict.fromkeys(best_other(line) for line in lines if line.other))
    ours = list(dict.fromkeys(implementation(line.ours) for line in lines))
    theirs = list(dict.fromkeys(implementation(line.yardstick) for line in lines))
    if lines[0].quotients:
        theirs = ["the bytes of the elements; hollow: " + " / ".join(theirs)]
    named = [(OURS, " / ".join(ours)), (OTHERS, "best of the others: " + " / ".join(others)), (YARDSTICK, "the line at 1: " + " / ".join(theirs))]
    return [pair for pair in named if not pair[1].endswith(": ")]
