# SPDX-License-Identifier: MIT
"""One section for each experiment: pictures, our tables, the documents'."""

from __future__ import annotations

from ..results import published, words
from ..results.catalogue import Contest, Experiment
from ..results.figures import Cell
from ..tables import by_strategy
from ..tables.measured import contest_table, published_table
from ..tables.section import Section
from . import experiments

MOST_CELLS = 150  # of the documents' own grids what does not count is in the files alone, or the page would be theirs


def build(experiment: Experiment, cells: list[Cell]) -> Section:
    own = sorted(experiment.of(cells), key=lambda cell: words.order(cell.parameters))
    section = Section(experiment, own)
    if section.ran:
        for contest in experiment.contests + (experiment.more if len(own) <= MOST_CELLS else ()):
            found = by_strategy.tables(own, contest, experiment) if experiment.by_strategy else [contest_table(own, contest, experiment)]
            (section.tables if contest in experiment.contests else section.details).extend(table for table in found if table.rows)
        if experiment.pictures:
            section.pictures = [picture for picture in experiment.pictures(own) if picture]
    if experiment.beside:
        section.tables += [table for table in experiment.beside(own) if table.rows]
    section.details += [published_table(table) for table in published.tables().values() if table.experiment == experiment.id]
    return section


def every_experiment(cells: list[Cell]) -> list[Section]:
    unknown = [name for name in dict.fromkeys(cell.experiment for cell in cells) if name not in experiments.names()]
    return [build(experiment, cells) for experiment in (*experiments.every(), *(_unknown(name, cells) for name in unknown))]


def _unknown(name: str, cells: list[Cell]) -> Experiment:
    """An experiment that this report was not written for still gets its figures shown, measure by measure."""
    runs = [run for cell in cells if cell.experiment == name for contender in cell.contenders for run in cell.ok(contender)]
    metrics = dict.fromkeys(metric for run in runs for metric, value in run.metrics.items() if not value.counts and len(value.values) == 1)
    return Experiment(
        name.replace("-", " ").capitalize(),
        f"Results of the experiment “{name}”.",
        "not known to this report",
        "This report has no picture for this experiment; its figures stand below.",
        name,
        contests=tuple(Contest(metric, metric.replace("_", " ")) for metric in metrics if metric != "checksum"),
    )
