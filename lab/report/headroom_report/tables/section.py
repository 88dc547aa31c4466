# SPDX-License-Identifier: MIT
"""What the report says of one experiment on one machine, before it takes a form."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..pictures.charts import Picture
from ..results.catalogue import Experiment
from ..results.figures import Cell
from .table import Table


@dataclass
class Section:
    experiment: Experiment
    cells: list[Cell]
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)  # in view
    details: list[Table] = field(default_factory=list)  # folded away

    @property
    def command(self) -> str:
        return f"./dev lab --filter {self.experiment.id}"

    @property
    def why_not(self) -> str:
        """The reason that the first run gave for not being made, where none was."""
        details = (cell.detail(name) for cell in self.cells for name in cell.contenders if not cell.ok(name))
        return next((detail for detail in details if detail), "")

    @property
    def ran(self) -> bool:
        return any(cell.ok(contender) for cell in self.cells for contender in cell.contenders)
