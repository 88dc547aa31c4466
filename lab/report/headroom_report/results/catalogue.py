# SPDX-License-Identifier: MIT
"""What an experiment tells the report about itself. Each lab/experiments/NAME/show.py defines one of these, called EXPERIMENT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

YARDSTICK = "std::vector"
DEFAULT = "headroom::settled_vector"
VECTOR = "headroom::vector"
PAGE_BY_PAGE = "headroom::settled_vector/page_by_page"  # plays the part of the documents' DynArray


@dataclass(frozen=True)
class Limit:
    """What the system itself takes for what a measure cannot do without: the median of a cell of another experiment."""

    what: str  # in words, as the subject of "takes"
    experiment: str
    where: dict
    contender: str
    metric: str


@dataclass(frozen=True)
class Contest:
    """A measure that contenders are compared by; less is better."""

    metric: str
    title: str
    lost: str = ""  # the work at which Headroom loses by it, and why, in a clause
    instead: str = ""  # what to use there
    limit: Limit | None = None  # why it can be no less


@dataclass(frozen=True)
class Matter:
    """Something that may matter to a reader who chooses, and the cells of the experiment that speak of it."""

    id: str
    title: str
    metric: str
    size: str  # the parameter that is the size; none: the cells have no size in elements
    where: dict
    strategies: tuple[str, ...] = ()  # of P0089R0's strategies these alone
    together: tuple[str, ...] = ()  # and these, where all dies together
    element: Callable[[dict[str, object]], str] = lambda parameters: str(parameters.get("element", "int"))
    place: int = 1000  # among all that may matter: the least comes first


@dataclass(frozen=True)
class Answer:
    """A line of one of the page's first three panels: Headroom's default against the yardstick and the best of the others."""

    panel: str  # "growing", "many" or "memory"
    title: str  # what is compared: "time to append"
    metric: str
    where: dict
    sizes: tuple[str, ...] = ("large",)  # of the cells by `size` the smallest, the largest; "all": their geometric mean
    size: str = "elements"
    strategy: str = ""  # of P0089R0's this one alone
    less: str = ""  # a metric that is subtracted
    over: str = ""  # and one that is divided by: then the panel's number is this quotient, not the ratio
    place: int = 1000


@dataclass(frozen=True)
class Experiment:
    """The functions take the cells that were measured. They may use what stands left of the page: results, verdicts, pictures, tables."""

    title: str
    question: str
    document: str
    method: str
    id: str = ""  # the folder's name
    place: int = 1000  # in the report: the least comes first, equals by name
    limits: str = ""
    contests: tuple[Contest, ...] = ()
    more: tuple[Contest, ...] = ()  # shown in tables, folded away, and not counted
    reading: str = ""  # how to read the picture
    yardstick: str = YARDSTICK  # the contender that figures are divided by
    by_strategy: bool = False  # contenders are implementations under P0089R0's strategies
    alike: bool = True  # and each is compared with those under the same one; else all with all, as one who wants an allocator would
    compared: bool = True  # contenders are different ways to do one thing; else different things
    no_choice: frozenset[str] = frozenset()  # contenders that nobody could take: they win and lose nothing
    matters: tuple[Matter, ...] = ()
    answers: tuple[Answer, ...] = ()
    in_readme: tuple[str, ...] = ()  # pictures that are published beside the page
    pictures: Callable | None = None
    beside: Callable | None = None  # tables of its own: the document's figures beside ours

    def of(self, cells: list) -> list:
        return [cell for cell in cells if cell.experiment == self.id]
