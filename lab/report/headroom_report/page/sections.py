"""One section for each experiment: pictures, our tables, the published tables beside ours."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import catalogue, published, words
from .beside import BESIDE
from .catalogue import Contest, Experiment
from .charts import Picture
from .experiment_tables import contest_table, decades_here, every_figure, growth_table, published_table
from .figures import Cell, Noise
from .pictures import PICTURES
from .strategies import implementation
from .strategy_tables import best_table, by_contender, implementation_tables
from .tables import Table


@dataclass
class Section:
    experiment: Experiment
    cells: list[Cell]
    absent: dict[str, str]  # contender: why
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)  # in view
    beside: list[Table] = field(default_factory=list)  # published and here
    agreement: list[str] = field(default_factory=list)  # in words
    details: list[Table] = field(default_factory=list)  # folded away
    noise: dict[str, Noise] = field(default_factory=dict)  # contest metric: A/A
    command: str = ""

    @property
    def why_not(self) -> str:
        """The reason that the first run gave for not being made, where none was."""
        details = (cell.detail(name) for cell in self.cells for name in cell.contenders if not cell.ok(name))
        return next((detail for detail in details if detail), "")

    @property
    def ran(self) -> bool:
        return any(cell.ok(contender) for cell in self.cells for contender in cell.contenders)


def build(experiment: Experiment, cells: list[Cell], absent: dict[str, str]) -> Section:
    own = sorted(
        (cell for cell in cells if cell.experiment == experiment.id), key=lambda cell: words.order(cell.parameters)
    )
    section = Section(experiment, own, absent, command=f"./dev lab --filter {experiment.id}")
    for contest in experiment.contests:
        found = Noise(own, contest.metric)
        if found:
            section.noise[contest.metric] = found
    if section.ran:
        if experiment.id in catalogue.BY_STRATEGY:
            _by_strategy(section)
        else:
            shown = experiment.more if experiment.id in ("commit-cost", "make-shared") else ()
            for contest in experiment.contests + shown:
                noise = section.noise.get(contest.metric)
                table = contest_table(own, contest, noise, experiment.id != "commit-cost", experiment.yardstick)
                if table.rows:
                    section.tables.append(table)
        if experiment.id == "growth":
            section.tables.append(growth_table(own))
        section.pictures = [picture for picture in PICTURES.get(experiment.id, lambda cells: [])(own) if picture]
        if experiment.id not in catalogue.BY_STRATEGY:
            section.details.append(every_figure(own, experiment))
        if experiment.id == "latency":
            section.details.append(decades_here(own))
    BESIDE.get(experiment.id, lambda section: None)(section)
    for table in published.of_experiment(experiment.id):
        section.details.append(published_table(table))
    return section


def _by_strategy(section: Section) -> None:
    experiment, own = section.experiment, section.cells
    if experiment.id == "locality":
        with_local = [cell for cell in own if len({name.removesuffix("#2") for name in cell.contenders}) > 1]
        for contest in experiment.contests[::-1]:
            table = by_contender(with_local, contest.metric, contest.title, section.noise.get(contest.metric))
            if table.rows:
                section.tables.append(table)
    else:
        section.tables.append(best_table(own, experiment, section.noise.get(experiment.contests[0].metric)))
    section.details += implementation_tables(own, experiment)


def absent_contenders(runs) -> dict[str, str]:
    """Who was left out in every experiment, and why."""
    gone = {implementation(run.contender): run.detail for run in runs if run.outcome == "absent"}
    there = {implementation(run.contender) for run in runs if run.outcome != "absent"}
    return {name: why for name, why in gone.items() if name not in there}


def every_experiment(cells: list[Cell], absent: dict[str, str]) -> list[Section]:
    known = [build(experiment, cells, absent) for experiment in catalogue.EXPERIMENTS]
    extra = []
    for name in dict.fromkeys(cell.experiment for cell in cells):
        if catalogue.by_id(name) is None:
            extra.append(unknown(name, cells, absent))
    return known + extra


def unknown(name: str, cells: list[Cell], absent: dict[str, str]) -> Section:
    """An experiment that this report was not written for still gets its figures shown, measure by measure."""
    own = [cell for cell in cells if cell.experiment == name]
    metrics: dict[str, None] = {}
    for cell in own:
        for contender in cell.contenders:
            for run in cell.ok(contender):
                metrics.update(
                    (metric, None)
                    for metric, value in run.metrics.items()
                    if not value.counts and len(value.values) == 1
                )
    measures = tuple(Contest(metric, metric.replace("_", " ")) for metric in metrics if metric != "checksum")
    experiment = Experiment(
        name,
        name.replace("-", " ").capitalize(),
        f"Results of the experiment “{name}”.",
        catalogue.OTHERS.get(name, "not known to this report"),
        "This report has no picture for this experiment; its figures stand below.",
        more=measures,
    )
    section = Section(experiment, own, absent, command=f"./dev lab --filter {name}")
    section.details.append(every_figure(own, experiment))
    return section
