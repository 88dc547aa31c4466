# SPDX-License-Identifier: MIT
"""Heat maps, and bars in panels: the pictures of experiments whose answer is a grid and no curve."""

from __future__ import annotations

import math

import altair as alt

from .charts import _FILTER, Picture, _encodings, _finished, faceted, tips
from .style import arrange

# Blue is less, red is more, and either stands out from light and dark without telling green from red.
DIVERGING = ["#08519c", "#4292c6", "#c6dbef", "#f4f4f4", "#fdcc8a", "#e6652d", "#8f1d0c"]
RISING = ["#f4f4f4", "#fdd49e", "#fc8d59", "#d7301f", "#7f0000"]


def heat(
    name: str,
    title: str,
    rows: list[dict],
    across: list[str],
    down: list[str],
    x_title: str,
    y_title: str,
    limits: tuple[float, float],
    diverging: bool,
    what: str,
    columns: int = 2,
    step: tuple[int, int] = (29, 18),
    angle: int = 0,
) -> Picture | None:
    """A row: x, y, panel, value, text (in the cell), hover. Colours are by the logarithm of the value; panels share them."""
    rows = [row for row in rows if row["value"] > 0]
    if not rows:
        return None
    low, high = limits
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    for row in rows:
        place = (math.log(row["value"]) - math.log(low)) / (math.log(high) - math.log(low))
        row["pale"] = bool((place < 0.13 and diverging) or place > (0.88 if diverging else 0.7))
        row["value"] = float(f"{row['value']:.4g}")
    scale = alt.Scale(type="log", domain=_spread(low, high, 7 if diverging else 5), range=DIVERGING if diverging else RISING, clamp=True)
    base = alt.Chart().encode(
        alt.X("x:N", sort=across, title=x_title, axis=alt.Axis(labelAngle=angle, orient="bottom", labelOverlap=False, labelLimit=260)),
        alt.Y("y:N", sort=down, title=y_title, axis=alt.Axis(labelLimit=320)),
    )
    hover = [alt.Tooltip("y:N", title=y_title or "what"), alt.Tooltip("x:N", title=x_title), alt.Tooltip("hover:N", title="here")]
    boxes = base.mark_rect(stroke="#88888833").encode(
        alt.Color(
            "value:Q",
            scale=scale,
            title=None,
            legend=alt.Legend(
                orient="top", direction="horizontal", gradientLength=280, values=_spread(low, high, 5), labelExpr="format(datum.value, '.2~g') + '×'"
            ),
        ),
        tooltip=hover,
    )
    # These two inks belong to the cells, and not to the page's light or dark: its style sheet leaves them alone.
    ink = alt.condition("datum.pale", alt.value("#fffffe"), alt.value("#1b1f24"))
    text = base.mark_text(fontSize=11).encode(alt.Text("text:N"), color=ink, tooltip=hover)
    chart = alt.layer(boxes, text, data=alt.Data(values=rows)).properties(width=alt.Step(step[0]), height=alt.Step(step[1]))
    chart = faceted(chart, rows, columns) if len(panels) > 1 else chart.properties(title=panels[0])
    return _finished(name, title, chart, [], what)


def _spread(low: float, high: float, count: int) -> list[float]:
    return [float(f"{low * (high / low) ** (i / (count - 1)):.3g}") for i in range(count)]


def panel_bars(name: str, title: str, rows: list[dict], x_title: str, line: float | None) -> Picture | None:
    """A bar for each contender, one panel for each configuration. A row: contender, panel, y, label, text."""
    if not rows:
        return None
    names = arrange({row["contender"] for row in rows})
    base = alt.Chart().transform_filter(_FILTER)
    colour, _, _ = _encodings(names)
    colour.legend = None  # each contender has its own line
    y_axis = alt.Y("contender:N", sort=names, title=None, axis=alt.Axis(labelLimit=330))
    most = max(row["y"] for row in rows)  # and room for the words after the longest bar
    x_axis = alt.X("y:Q", title=x_title, scale=alt.Scale(domain=[0, most * 1.25 or 1], nice=False), axis=alt.Axis(tickCount=5))
    layers = [
        base.mark_bar(height=12).encode(x_axis, y_axis, colour, tooltip=tips(text="median (range)")),
        base.mark_text(align="left", dx=4, fontSize=11).encode(x_axis, y_axis, alt.Text("label:N"), tooltip=tips(text="median (range)")),
    ]
    if line is not None:
        layers.append(alt.Chart().mark_rule(strokeDash=[2, 3], color="#888888").encode(x=alt.datum(line)))
    chart = alt.layer(*layers, data=alt.Data(values=rows)).properties(width=320, height=alt.Step(18))
    return _finished(name, title, faceted(chart, rows), names, f"{title}: a bar for each of {', '.join(names)}.")
