"""The page's first three panels in words and pictures: one sentence, one number with its noise, one small picture, one line on
where it loses."""

from __future__ import annotations

from markupsafe import Markup, escape

from ..results import words
from ..results.strategies import implementation
from ..verdicts.answers import Line, Panel
from ..verdicts.difference import ONE_ROUND, TOO_NOISY

MOST = 4  # lines in a picture
OURS, OTHERS, YARDSTICK = "ours", "others", "yardstick"  # full, pale, hollow: told apart without colours too


def where(line: Line) -> str:
    """Which cells the line is from."""
    if line.cells > 1:
        return f"mean of {line.cells} cases"
    parameters = {name: value for name, value in line.parameters.items() if name != "optimisation"}
    return words.configuration(parameters)


_OPEN = {ONE_ROUND: "fewer than three rounds", TOO_NOISY: "within the noise"}


def noise(line: Line) -> str:
    if line.undecided == ONE_ROUND:
        return "measured once" if line.ratio.rounds == 1 else f"{line.ratio.rounds} rounds only"
    text = f"±{words.share(line.noise)}" if line.ratio.timed else ""
    return f"{text}, too noisy to say" if line.undecided == TOO_NOISY else text


def number(line: Line) -> tuple[str, str]:
    """The panel's number, and what it is."""
    if line.quotient is not None:
        return f"{words.ratio(line.quotient)}×", "the bytes of the elements"
    what = "time" if line.ratio.timed else "memory" if line.answer.panel == "memory" else line.answer.title
    return f"{words.ratio(line.ratio.median)}×", f"{implementation(line.yardstick)}'s {what}"


def best_other(line: Line) -> str:
    """Who stands for the best of the others."""
    name = implementation(line.other)
    return f"mostly {name}" if line.others_differ else f"{name}, the only one" if line.alone else name


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
            sure = f", {_OPEN[pause.undecided]}" if pause.undecided else ""
            text += f"; {whose} longest single append is {times} ({where(pause)}{sure})"
        return text + "."
    if panel.id == "many":
        return (
            f"{ours} takes {words.ratio(line.ratio.median)} of the global allocator's time to build and destroy containers "
            f"({where(line)})."
        )
    if line.quotient is not None and line.yardstick_quotient is not None:
        return (
            f"Building an array takes {ours} {words.ratio(line.quotient)} times the bytes of its elements at the peak, and {theirs} "
            f"{words.ratio(line.yardstick_quotient)} times ({where(line)})."
        )
    return f"{ours} takes {words.ratio(line.ratio.median)} of {theirs}'s memory ({where(line)})."


def loses(panel: Panel) -> str:
    if panel.lost:
        worst = panel.lost[0]
        text = (
            f"Loses in {len(panel.lost)} of {panel.places - panel.undecided} cells; worst: {words.ratio(worst.ratio)} times {implementation(worst.other)}'s "
            f"{worst.measure} ({words.configuration(worst.parameters)})."
            if worst.figure
            else f"Loses in {len(panel.lost)} of {panel.places - panel.undecided} cells; worst: {worst.why} ({words.configuration(worst.parameters)})."
        )
    elif panel.places == panel.undecided:
        return f"None of {panel.places} cells is decided: fewer than three rounds, or differences within the noise."
    else:
        text = f"Loses in none of {panel.places - panel.undecided} cells."
    if panel.undecided:
        text += f" {panel.undecided} more are undecided: fewer than three rounds, or within the noise."
    return text


def picture(panel: Panel) -> Markup:
    """Bars: Headroom's default, the best of the others, and the yardstick, which is 1. Drawn without the large scripts, so that it is
    there at once."""
    lines = panel.lines[:MOST]
    width, bar, gap, label, left = 340, 9, 4, 15, 4
    values = [value for line in lines for value in (line.ratio.median, line.other_ratio) if value]
    most_value = min(max([1.0, *values]), 2.0)
    scale = (width - 62) / most_value
    height = 0
    parts = []
    for line in lines:
        height += label
        title = line.answer.title if line.cells > 1 else f"{line.answer.title}, {where(line)}"
        parts.append(f'<text x="{left}" y="{height - 4}" class="what">{escape(title)}</text>')
        shown = [(OURS, line.ratio.median, implementation(line.ours))]
        if line.other_ratio is not None:
            shown.append((OTHERS, line.other_ratio, best_other(line)))
        shown.append((YARDSTICK, 1.0, implementation(line.yardstick)))
        for kind, value, name in shown:
            length = max(1.5, min(value, most_value) * scale)
            more = "…" if value > most_value else ""
            parts.append(
                f'<rect x="{left}" y="{height}" width="{length:.1f}" height="{bar}" class="{kind}">'
                f"<title>{escape(name)}: {words.ratio(value)}</title></rect>"
                f'<text x="{left + length + 4:.1f}" y="{height + bar - 1}" class="value">{words.ratio(value)}{more}</text>'
            )
            height += bar + 2
        height += gap
    text = "; ".join(
        f"{line.answer.title}, {where(line)}: {implementation(line.ours)} {words.ratio(line.ratio.median)}"
        + (f", {best_other(line)} {words.ratio(line.other_ratio)}" if line.other_ratio is not None else "")
        for line in lines
    )
    return Markup(
        f'<svg class="bars" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(text)}">{"".join(parts)}</svg>'
    )


def legend(panel: Panel) -> list[tuple[str, str]]:
    lines = panel.lines[:MOST]
    others = list(dict.fromkeys(best_other(line) for line in lines if line.other))
    ours = list(dict.fromkeys(implementation(line.ours) for line in lines))
    theirs = list(dict.fromkeys(implementation(line.yardstick) for line in lines))
    named = [(OURS, " / ".join(ours)), (OTHERS, "best of the others: " + " / ".join(others)), (YARDSTICK, " / ".join(theirs))]
    return [pair for pair in named if not pair[1].endswith(": ")]


def shown(panel: Panel) -> dict:
    if not panel.lines:
        return {"id": panel.id, "title": panel.title, "empty": True}
    big, of = number(panel.lines[0])
    return {
        "id": panel.id,
        "title": panel.title,
        "empty": False,
        "sentence": sentence(panel),
        "number": big,
        "of": of,
        "noise": noise(panel.lines[0]),
        "picture": picture(panel),
        "legend": legend(panel),
        "loses": loses(panel),
    }
