"""One section for each experiment: pictures, our tables, the published tables beside ours."""

from __future__ import annotations

from ..results import published, words
from ..results.catalogue import Contest, Experiment
from ..results.figures import Cell, Noise
from ..results.strategies import implementation
from ..tables.by_strategy import best_table, implementation_tables
from ..tables.measured import contest_table, every_figure, published_table
from ..tables.section import Section
from . import experiments


def build(experiment: Experiment, cells: list[Cell], absent: dict[str, str]) -> Section:
    own = sorted(
        experiment.of(cells), key=lambda cell: words.order(cell.parameters)
    )
    section = Section(experiment, own, absent, command=f"./dev lab --filter {experiment.id}")
    for contest in experiment.contests:
        section.noise[contest.metric] = Noise(own, contest.metric)
    if section.ran:
        if experiment.by_strategy:
            if not experiment.tables:
                section.tables.append(best_table(own, experiment, section.noise.get(experiment.contests[0].metric)))
            section.details += implementation_tables(own, experiment)
        else:
            shown = experiment.more if experiment.more_in_view else ()
            for contest in experiment.contests + shown:
                noise = section.noise.get(contest.metric)
                table = contest_table(own, contest, noise, experiment.compared, experiment.yardstick, experiment.no_choice)
                if table.rows:
                    section.tables.append(table)
            section.details.append(every_figure(own, experiment))
        if experiment.tables:
            experiment.tables(section)
        if experiment.details:
            section.details += experiment.details(own)
        if experiment.pictures:
            section.pictures = [picture for picture in experiment.pictures(own) if picture]
    if experiment.beside:
        experiment.beside(section)
    for table in published.of_experiment(experiment.id):
        section.details.append(published_table(table))
    return section


def absent_contenders(runs) -> dict[str, str]:
    """Who was left out in every experiment, and why."""
    gone = {implementation(run.contender): run.detail for run in runs if run.outcome == "absent"}
    there = {implementation(run.contender) for run in runs if run.outcome != "absent"}
    return {name: why for name, why in gone.items() if name not in there}


def every_experiment(cells: list[Cell], absent: dict[str, str]) -> list[Section]:
    known = [build(experiment, cells, absent) for experiment in experiments.every()]
    extra = []
    for name in dict.fromkeys(cell.experiment for cell in cells):
        if experiments.by_id(name) is None:
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
        name.replace("-", " ").capitalize(),
        f"Results of the experiment “{name}”.",
        "not known to this report",
        "This report has no picture for this experiment; its figures stand below.",
        name,
        more=measures,
    )
    section = Section(experiment, own, absent, command=f"./dev lab --filter {name}")
    section.details.append(every_figure(own, experiment))
    return section
