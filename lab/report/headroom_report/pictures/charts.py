# SPDX-License-Identifier: MIT
"""The pictures: Vega-Lite specifications made through Altair, one or more for an experiment.

Every picture takes the parameter `shown`, the list of contenders that are not filtered away; the page sets it. Text, axes
and grid get their colours from the page's style sheet, so that light, dark and print need no second drawing.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

import altair as alt

from ..results import words
from .style import arrange, looks

WIDTH, HEIGHT = 460, 260

# Altair can check each specification against Vega-Lite's schema, which takes most of its time: for the tests.
CHECKED = False


@dataclass(frozen=True)
class Picture:
    id: str
    title: str
    spec: dict
    description: str  # for those who do not see it


def _encodings(names: list[str]):
    look = looks(names)
    # Two names that are cut where they begin to differ would be one.
    wide = max(map(len, names), default=0) > 44
    columns, limit = (2, 450) if wide else (3, 300)

    def by(kind, values: list, **legend):
        shown = alt.Legend(orient="bottom", columns=columns, labelLimit=limit, **legend)
        return kind("contender:N", sort=names, title=None, scale=alt.Scale(domain=names, range=values), legend=shown)

    return (
        by(alt.Color, [look[name].colour for name in names], symbolSize=90, symbolStrokeWidth=2),
        by(alt.StrokeDash, [list(look[name].dash) or [1, 0] for name in names]),
        by(alt.Shape, [look[name].shape for name in names]),
    )


def _logarithmic(low: float, high: float, **more) -> alt.Scale:
    return alt.Scale(type="log", domain=[low, high], nice=False, **more)


def ticks(low: float, high: float, base: float = 10, fine: bool = False) -> list[float]:
    """Powers of the base, and no more than ten; `fine`: 1, 2, 5 a decade where the span is short."""
    steps = (1, 2, 5) if fine and math.log10(high / low) < 2.5 else (1,)
    powers = range(math.floor(math.log(low, base)), math.ceil(math.log(high, base)) + 1)
    found = [float(f"{step * base**power:.12g}") for power in powers for step in steps]
    found = [value for value in found if low <= value <= high]
    return found[:: -(-len(found) // 10) or 1]


def _finished(name: str, title: str, chart, names: list[str], what: str) -> Picture:
    spec = chart.add_params(alt.param(name="shown", value=names)).to_dict(validate=CHECKED)
    # The page sets fonts and colours; what is left here keeps lines thin and numbers readable.
    spec["config"] = {
        "view": {"stroke": None},
        "axis": {"gridOpacity": 1, "domain": True, "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"},
        "legend": {"labelFontSize": 11, "symbolSize": 80, "symbolOpacity": 1},
        "header": {"labelFontSize": 12, "titleFontSize": 12},
        "background": None,
        "font": "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif",
    }
    return Picture(name, title, spec, what)


def faceted(chart, rows: list[dict], columns: int = 2):
    """One panel for each, in the order in which they come."""
    return chart.facet(facet=alt.Facet("panel:N", title=None, sort=list(dict.fromkeys(row["panel"] for row in rows))), columns=columns)


def tips(**titles: str) -> list:
    """What shows on hovering: the contender, and these fields by these titles."""
    return [alt.Tooltip("contender:N"), *(alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items())]


_FILTER = "indexof(shown, datum.contender) >= 0"


def _axis(values: list[float], unit: str, **more) -> alt.Axis:
    """These values, in the words that all figures are told in, without zeros behind the point."""
    said = [re.sub(r"\.0+(?!\d)|(\.\d+?)0+(?!\d)", r"\1", words.quantity(value, unit)) for value in values]
    return alt.Axis(values=values, labelExpr=f"{json.dumps(said, ensure_ascii=False)}[indexof({values}, datum.value)]", **more)


def sweep(
    name: str,
    title: str,
    rows: list[dict],
    x: str,
    x_title: str,
    y_title: str,
    unit: str,
    y_line: float | None = None,
) -> Picture | None:
    """Lines over a size, both axes logarithmic, in panels where the rows have a `panel`. A row: contender, x, y, low, high, text."""
    rows = [row for row in rows if row["y"] > 0 and row["x"] > 0]
    if not rows:
        return None
    names = arrange({row["contender"] for row in rows})
    colour, dash, shape = _encodings(names)
    base = 2 if x in ("bytes", "pages", "threads") else 10
    xs = [row["x"] for row in rows]
    ys = [value for row in rows for value in (row["y"], row["low"], row["high"], y_line) if value and value > 0]
    low, high = min(ys) / 1.25, max(ys) * 1.25
    x_axis = alt.X(
        "x:Q",
        title=x_title,
        scale=_logarithmic(min(xs) / 1.3, max(xs) * 1.3, base=base),
        axis=_axis(ticks(min(xs) / 1.3, max(xs) * 1.3, base), {"bytes": "B", "seconds": "s"}.get(x, ""), grid=False),
    )
    y_axis = alt.Y(
        "y:Q",
        title=y_title,
        scale=_logarithmic(low, high),
        axis=_axis(ticks(low, high, fine=True), unit),
    )
    base_chart = alt.Chart().transform_filter(_FILTER)
    spread = alt.Y("low:Q", title=y_title), alt.Y2("high:Q")
    hover = tips(where="what", text="median (range)")
    layers = [
        base_chart.mark_line(strokeWidth=2).encode(x_axis, y_axis, colour, dash),
        base_chart.mark_rule(strokeWidth=1, opacity=0.6).encode(x_axis, *spread, colour),
        base_chart.mark_point(filled=True, size=60, opacity=1).encode(x_axis, y_axis, colour, shape, tooltip=hover),
    ]
    if y_line is not None:
        layers.insert(0, alt.Chart().mark_rule(strokeDash=[2, 3], strokeWidth=1.5, color="#888888").encode(y=alt.datum(y_line)))
    chart = alt.layer(*layers, data=alt.Data(values=rows))
    panels = {row.get("panel") for row in rows}
    chart = chart.properties(width=2 * WIDTH if len(panels) == 1 else WIDTH, height=HEIGHT)
    if panels != {None}:
        chart = faceted(chart, rows)
    return _finished(name, title, chart, names, f"{title}: lines over {x_title}, one for each of {', '.join(names)}.")


def short(value: float) -> float:
    """Five digits are enough to draw, and keep the page small."""
    return float(f"{value:.5g}")
