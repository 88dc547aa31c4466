"""What the report says of one experiment on one machine, before it takes a form."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..pictures.charts import Picture
from ..results.catalogue import Experiment
from ..results.figures import Cell, Noise
from .table import Table


@dataclass
class Section:
    experiment: Experiment
    cells: list[Cell]
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)  # in view
    beside: list[Table] = field(default_factory=list)  # published and here
    agreement: list[str] = field(default_factory=list)  # in words
    details: list[Table] = field(default_factory=list)  # folded away
    noise: dict[str, Noise] = field(default_factory=dict)  # contest metric: A/A

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
