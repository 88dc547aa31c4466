# SPDX-License-Identifier: MIT
"""The experiments, found by looking: every folder of lab/experiments with a show.py."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ..results.catalogue import Experiment
from ..results.published import EXPERIMENTS, module


@lru_cache
def every() -> tuple[Experiment, ...]:
    """In the order of the report."""
    found = [replace(module(path).EXPERIMENT, id=path.parent.name) for path in EXPERIMENTS.glob("*/show.py")]
    return tuple(sorted(found, key=lambda experiment: (experiment.place, experiment.id)))


def names() -> list[str]:
    return [experiment.id for experiment in every()]
