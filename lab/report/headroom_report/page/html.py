# SPDX-License-Identifier: MIT
"""The report as one HTML file that loads nothing: scripts, style, pictures and numbers are all inside."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import jinja2
import vl_convert
from markupsafe import Markup, escape

from .. import SCHEMA_VERSION
from ..pictures.charts import Picture
from ..pictures.style import arrange
from ..results import words
from ..results.documents import CITATIONS
from ..results.strategies import implementation
from ..tables.table import Table
from . import chooser, experiments, model, panels
from .model import Machine, Report

ASSETS = Path(__file__).parent / "assets"
VEGA_LITE = "6.4"  # the version that Altair writes for; a test compares
MOST_PROBLEMS = 200


@lru_cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, packed."""
    return pack(vl_convert.javascript_bundle(vl_version=VEGA_LITE))


def _breakable(name: str) -> Markup:
    """A contender's name that may be broken where a reader would: after :: and before a policy."""
    return Markup(str(escape(name)).replace("::", "::<wbr>").replace("/", "/<wbr>").replace("_", "_<wbr>"))


LONG = 24  # rows from which a table is folded and packed away, and laid out when it is opened
WIDE = 100  # cells from which it is, too


class Packed:
    """What most readers never open, and what only the script reads: as text it would be most of the page."""

    def __init__(self) -> None:
        self._tables: list[str] = []

    @staticmethod
    def small(table: Table) -> bool:
        """Then it is in the page as it is."""
        return len(table.rows) <= LONG and len(table.rows) * len(table.columns) <= WIDE

    def add(self, table: Markup) -> int:
        """The table's number in the pack."""
        self._tables.append(table)
        return len(self._tables) - 1

    def packed(self, **others) -> str:
        """The tables, and what else the script reads, by its name."""
        return pack(json.dumps({"tables": self._tables, **others}, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def pack(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _verdicts(machines: list[Machine]) -> dict:
    """Claims and promises, the machines side by side."""
    if not machines:
        return {}
    promises = model.promises_table(machines)
    missed = [row for row in promises.rows if "bad" in (cell.mark for cell in row)]
    return {
        "claims": [(table, model.counted(verdicts)) for table, verdicts in model.claims_tables(machines)],
        "missed": Table(promises.columns, missed, "Promises that are missed"),
        "promises": replace(promises, rows=[row for row in promises.rows if row not in missed]),
        "promises_counted": model.counted(machines[0].promises),
    }


def _tables(machine: Machine) -> dict:
    """Those of one machine."""
    return {
        "lost": sum(place.lost for place in machine.standing.places),
        "losses": model.losses_table(machine),
        "standing": model.standing_by_experiment(machine),
        "standing_words": model.standing_words(machine),
    }


def _contenders(report: Report) -> list[str]:
    """Those that can be filtered away: who can be chosen between."""
    known = {experiment.id: experiment for experiment in experiments.every()}
    found = set()
    for run in (run for machine in report.machines for run in machine.runs if run.outcome == "ok"):
        experiment = known.get(run.experiment)
        if experiment is None or (experiment.compared and run.contender not in experiment.no_choice):
            found.add(implementation(run.contender) if experiment and experiment.by_strategy else run.contender)
    return arrange(found)


def render(report: Report) -> str:
    pictures = {
        f"chart-{number}-{picture.id}": picture.spec
        for number, machine in enumerate(report.machines)
        for section in machine.sections
        for picture in section.pictures
    }
    style, script = ((ASSETS / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(ASSETS), autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.get_template("page.html.j2").render(
        style=style,
        script=script,
        packed=Packed(),
        title="Headroom lab report" + (f": {report.machines[0].title}" if report.machines else ""),
        vega=vega(),
        pictures=pictures,
        choices=[chooser.Choices(machine.cells).answers() for machine in report.machines],
        report=report,
        tables=[_tables(machine) for machine in report.machines],
        verdicts=_verdicts(report.machines),
        losing=model.losing_table(report.machines),
        panels=panels,
        most_problems=MOST_PROBLEMS,
        contenders=_contenders(report),
        breakable=_breakable,
        power_of_ten=words.power,
        citations=CITATIONS,
        schema=SCHEMA_VERSION,
    )


def as_svg(picture: Picture) -> str:
    """A file of its own, on white."""
    # A picture in a page has one description, not one for each of its marks.
    more = {"background": "#ffffff", "aria": False, "font": "DejaVu Sans, Helvetica, Arial, sans-serif"}
    spec = {**picture.spec, "config": picture.spec["config"] | more}
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
