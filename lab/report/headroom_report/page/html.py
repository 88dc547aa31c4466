"""The report as one HTML file that loads nothing: scripts, style, pictures and numbers are all inside."""

from __future__ import annotations

import base64
import json
import math
import zlib
from functools import lru_cache
from pathlib import Path

import jinja2
import vl_convert
from markupsafe import Markup, escape

from ..pictures.style import arrange
from ..results import words
from ..results.documents import CITATIONS
from ..results.strategies import implementation
from ..tables.table import Entry, Table, texts
from ..verdicts import claims
from . import chooser, experiments, model, panels
from .beside import beside
from .model import Machine, Report

ASSETS = Path(__file__).parent / "assets"
VEGA_LITE = "6.4"  # the version that Altair writes for; a test compares
MOST_PROBLEMS = 200


@lru_cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, safe inside a page."""
    return (
        vl_convert.javascript_bundle(vl_version=VEGA_LITE).replace("</script", "<\\/script").replace("<!--", "<\\!--")
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _sort_key(value: float | str, digits: int = 10) -> str:
    if isinstance(value, str):
        return value
    return "inf" if math.isinf(value) else f"{value:.{digits}g}"


def _breakable(name: str) -> Markup:
    """A contender's name that may be broken where a reader would: after :: and before a policy."""
    return Markup(str(escape(name)).replace("::", "::<wbr>").replace("/", "/<wbr>").replace("_", "_<wbr>"))


def environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS), autoescape=True, trim_blocks=False, undefined=jinja2.StrictUndefined
    )
    environment.globals["sort_key"] = _sort_key
    environment.globals["superscript"] = lambda number: str(number).translate(words.SUPERSCRIPT)
    environment.globals["breakable"] = _breakable
    return environment


WORST = 100  # losses in view; the rest, which are smaller, behind the fold
LONG = 24  # rows from which a table is folded and packed away, and laid out when it is opened
WIDE = 100  # cells from which it is, too


class Packed:
    """What most readers never open, and what only the script reads: as text it would be most of the page."""

    def __init__(self) -> None:
        self._tables: list[dict] = []

    def add(self, table: Table) -> int:
        """The table's number in the pack, or -1 for a small one, which is in the page as it is."""
        if len(table.rows) <= LONG and len(table.rows) * len(table.columns) <= WIDE:
            return -1
        self._tables.append(
            {
                "caption": table.caption,
                "columns": [[column.title, int(column.number), column.contender] for column in table.columns],
                "rows": [[self._cell(entry) for entry in row] for row in table.rows],
                "notes": table.notes,
            }
        )
        return len(self._tables) - 1

    @staticmethod
    def _cell(entry: Entry):
        sort = "" if entry.sort is None else _sort_key(entry.sort, 4)
        hover = entry.hover if entry.hover != entry.text else ""
        more = [sort, entry.mark, hover, entry.contender]
        while more and not more[-1]:
            more.pop()
        return [entry.text, *more] if more else entry.text

    def packed(self, **others) -> str:
        """The tables, and what else the script reads, by its name."""
        return pack(_json({"tables": self._tables, **others}))


def pack(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(text: str) -> dict:
    return json.loads(zlib.decompress(base64.b64decode(text)))


def _counted(verdicts, state, mark) -> list[tuple[int, str, str]]:
    """How many verdicts of each state, with its colour."""
    found: dict[tuple[str, str], int] = {}
    for verdict in verdicts:
        key = (state(verdict), mark(verdict))
        found[key] = found.get(key, 0) + 1
    order = ("good", "bad", "other", "partly", "unknown")
    return [(count, *key) for key, count in sorted(found.items(), key=lambda pair: order.index(pair[0][1]))]


def _noise_words(machine: Machine) -> str:
    apart = [
        f"{section.experiment.id} {words.share(noise.typical)} (at worst {words.share(noise.worst)})"
        for section in machine.sections
        for noise in list(section.noise.values())[:1]
        if noise.worst > 0
    ]
    if apart:
        return f"Noise: the same contender run twice lay apart typically by: {', '.join(apart)}. Such differences are grey."
    return "Noise: no contender was run twice in these results, so the range of the rounds beside each figure is the only measure of it."


def _machine(machine: Machine, packed: Packed) -> dict:
    choice = chooser.Choices(machine.cells).answers()
    losses = model.losses_table(machine)
    promises = model.promises_table(machine)
    missed = Table(promises.columns, [row for row in promises.rows if row[1].mark == "bad"], "Promises that are missed here")
    promises.rows = [row for row in promises.rows if row[1].mark != "bad"]
    rest = Table(losses.columns, losses.rows[WORST:], "The smaller of Headroom's losses")
    losses.rows = losses.rows[:WORST]
    return {
        "choice": choice,
        "title": machine.title,
        "facts": machine.facts,
        "what_was_run": machine.what_was_run,
        "panels": [panels.shown(panel, panels.scale(machine.panels)) for panel in machine.panels],
        "claims_counted": _counted(machine.verdicts, model.claim_state, model.claim_mark),
        "promises_counted": _counted(machine.promises, model.promise_state, model.promise_mark),
        "promises_missed": sum(verdict.state == claims.FAILS for verdict in machine.promises),
        "lost": sum(place.lost for place in machine.standing.places),
        "busy": machine.busy,
        "absent": list(machine.absent.items()),
        "standing_words": model.standing_words(machine),
        "noise_words": _noise_words(machine),
        "claims": [
            (table, _counted(own, model.claim_state, model.claim_mark))
            for table in model.claims_tables(machine)
            for own in [[verdict for verdict in machine.verdicts if verdict.claim.document == table.caption]]
        ],
        "missed": missed,
        "promises": promises,
        "standing": model.standing_by_experiment(machine),
        "losses": losses,
        "smaller_losses": (rest, packed.add(rest)),
        "sections": [
            {
                "id": section.experiment.id,
                "title": section.experiment.title,
                "question": section.experiment.question,
                "document": section.experiment.document,
                "ran": section.ran,
                "why_not": "" if section.ran else section.why_not,
                "pictures": section.pictures,
                "reading": section.experiment.reading,
                "tables": [(table, packed.add(table)) for table in section.tables],
                "beside": [(table, packed.add(table)) for table in section.beside],
                "agreement": section.agreement,
                "details": [(table, packed.add(table)) for table in section.details],
                "method": section.experiment.method,
                "limits": section.experiment.limits,
                "command": section.command,
            }
            for section in machine.sections
        ],
    }


def _bare_claims() -> Table:
    return Table(
        texts("claim", "source", "published"),
        [[Entry(claim.sentence), Entry(claim.document), Entry(claim.published)] for claim in claims.documents_claims()],
        "Claims of the documents",
    )


def render(report: Report) -> str:
    pictures = {
        f"chart-{number}-{picture.id}": picture.spec
        for number, machine in enumerate(report.machines)
        for section in machine.sections
        for picture in section.pictures
    }
    contenders = arrange(
        {
            implementation(run.contender) if known and known.by_strategy else run.contender
            for machine in report.machines
            for run in machine.runs
            for known in [experiments.by_id(run.experiment)]
            if run.outcome == "ok" and not (known and (not known.compared or run.contender in known.no_choice))
        }
    )
    packed = Packed()
    machines = [_machine(machine, packed) for machine in report.machines]
    problems = [str(problem) for problem in report.results.problems]
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            title="Headroom lab report" + (f": {report.machines[0].title}" if report.machines else ""),
            style=(ASSETS / "page.css").read_text(encoding="utf-8"),
            script=(ASSETS / "page.js").read_text(encoding="utf-8"),
            vega=pack(vega()),
            packed=packed.packed(pictures=pictures, choices=[machine["choice"] for machine in machines]),
            machines=machines,
            beside=beside(report),
            troubles=report.troubles,
            notes=report.notes,
            problems=problems[:MOST_PROBLEMS],
            more_problems=max(0, len(problems) - MOST_PROBLEMS),
            contenders=contenders,
            files=report.results.files,
            lines=report.results.lines,
            runs=len(report.results.runs),
            bare_claims=_bare_claims(),
            citations=CITATIONS,
            made=f"Headroom's report, schema version {model.SCHEMA_VERSION}.",
        )
    )


def pictures_as_svg(report: Report, only: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Each picture of the first machine (or those named) as an SVG file of its own, on white."""
    result = []
    for machine in report.machines[:1]:
        for section in machine.sections:
            for picture in section.pictures:
                if only and picture.id not in only:
                    continue
                spec = json.loads(json.dumps(picture.spec))
                spec["config"]["background"] = "#ffffff"
                spec["config"]["aria"] = False  # a picture in a page has one description, not one for each of its marks
                spec["config"]["font"] = "DejaVu Sans, Helvetica, Arial, sans-serif"
                result.append((picture.id, vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)))
    return result
