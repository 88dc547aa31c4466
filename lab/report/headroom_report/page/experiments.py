"""The experiments, found by looking: every folder of lab/experiments with a show.py."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ..results.catalogue import Experiment
from ..results.published import EXPERIMENTS


def load(path: Path) -> Experiment:
    name = path.parent.name
    spec = importlib.util.spec_from_file_location(f"headroom_report_show_{name.replace('-', '_')}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return replace(module.EXPERIMENT, id=name)


@lru_cache
def every() -> tuple[Experiment, ...]:
    """In the order of the report."""
    found = [load(path) for path in EXPERIMENTS.glob("*/show.py")]
    return tuple(sorted(found, key=lambda experiment: (experiment.place, experiment.id)))


def names() -> list[str]:
    return [experiment.id for experiment in every()]


def by_id(name: str) -> Experiment | None:
    return next((experiment for experiment in every() if experiment.id == name), None)
