"""“Choose yours”: the data behind the part of the page where a reader says what they need and gets the measured winner.

What can be asked is what was measured: element, size, what matters, and whether elements may move. The page's script looks
up the nearest cell; this module lays out the cells, so that tests can look them up too.
"""

from __future__ import annotations

import math

from ..results import strategies, words
from ..results.catalogue import Experiment, Matter
from ..results.figures import PAIRED, Cell
from ..verdicts.claims import matches
from . import code, experiments


MOST = 5  # allocators that an answer can name

# Containers whose elements never move.
STAYS = ("headroom::settled_vector", "boost::container::stable_vector", "tbb::concurrent_vector", "SettledVector")

ELEMENT_BYTES = {"int": 4, "unique_ptr<int>": 8}


NEAR = 3.2  # a cell of so many times more or fewer elements is not the case asked about, and the answer says so


def stays(contender: str) -> bool:
    return contender.split(strategies.PRELOADED)[0].split("/")[0] in STAYS


def _admitted(matter: Matter, cell: Cell) -> list[str]:
    names = [name for name in cell.contenders if not name.endswith(PAIRED) and not strategies.is_floor(name)]
    names = [name for name in names if not cell.failed(name)]  # nobody is advised to take what did not end well each time
    if not matter.strategies:
        return names
    # What needs to know beforehand how much it will take is no answer for a reader.
    return [name for name in names if strategies.strategy(name) in matter.strategies and "/" not in name]


def every_matter() -> list[tuple[Experiment, Matter]]:
    found = [(experiment, matter) for experiment in experiments.every() for matter in experiment.matters]
    return sorted(found, key=lambda pair: pair[1].place)


def _elements(matter: Matter, cell: Cell, element: str) -> int | None:
    """How many, where that is what a cell is of."""
    if not matter.size:
        return 1
    size = cell.parameters.get(matter.size)
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        return None
    if matter.size == "bytes":
        return max(1, size // ELEMENT_BYTES.get(element, 1))
    return 1 << size if matter.size == "size_exponent" and size < 60 else size


def cells_for_choice(cells: list[Cell]) -> list[dict]:
    """A row for each cell: what matters, element, size in elements, and each contender's figure, best first."""
    rows = []
    for experiment, matter in every_matter():
        by = experiment.yardstick
        for cell in experiment.of(cells):
            if not matches(cell.parameters, matter.where):
                continue
            element = matter.element(cell.parameters)
            elements = _elements(matter, cell, element)
            if elements is None:
                continue
            found = []
            for name in _admitted(matter, cell):
                figure = cell.figure(name, matter.metric)
                if figure is not None:
                    ratio = cell.ratio(matter.metric, name, by)
                    shown = strategies.implementation(name)
                    found.append(
                        {
                            "name": shown,
                            "value": float(f"{figure.median:.6g}"),
                            "low": float(f"{figure.low:.6g}"),
                            "high": float(f"{figure.high:.6g}"),
                            "text": words.figure(figure) + (" a leaf" if matter.size == "size_exponent" else ""),
                            "ratio": words.ratio(ratio.median) if ratio else "",
                            "by": strategies.implementation(by),
                            "rounds": figure.rounds,
                            "stays": bool(matter.strategies) or stays(name),
                            "safe": code.safety(shown),
                            **code.of(shown, element if not matter.strategies else "int"),
                        }
                    )
            if found:
                found.sort(key=lambda one: one["value"])
                if matter.strategies:
                    found = found[:MOST]  # nothing that can be asked for puts another one first
                rows.append(
                    {
                        "matter": matter.id,
                        "element": element,
                        "elements": elements,
                        "sized": bool(matter.size),
                        "where": words.configuration(cell.parameters),
                        "found": found,
                    }
                )
    return rows


def choice(rows: list[dict], matter: str, element: str, elements: float, must_stay: bool) -> dict | None:
    """The answer the page gives: the nearest cell by size, in it the contenders that may be, best first, how far the cell is
    from what was asked, and the code."""
    near = [row for row in rows if row["matter"] == matter and row["element"] == element]
    if not near:
        return None
    row = min(near, key=lambda row: abs(math.log(row["elements"]) - math.log(elements)))
    found = [one for one in row["found"] if one["stays"] or not must_stay]
    return {
        "where": row["where"],
        "found": found,
        "far": distance_words(row, near, elements),
        "code": code.text(found[0], elements) if found else "",
    }


def distance_words(row: dict, near: list[dict], elements: float) -> str:
    if not row["sized"]:
        return ""
    if elements > NEAR * max(one["elements"] for one in near):
        return "Nothing so large was measured here: this is the largest."
    if elements * NEAR < min(one["elements"] for one in near):
        return "Nothing so small was measured here: this is the smallest."
    if max(elements / row["elements"], row["elements"] / elements) > NEAR:
        return "This size was not measured here: this is the nearest."
    return ""


def elements(rows: list[dict]) -> list[str]:
    """What the form offers at first; its script offers what the matter that is chosen was measured with."""
    return list(dict.fromkeys(row["element"] for row in rows if row["matter"] == rows[0]["matter"]))


def matters(rows: list[dict]) -> list[tuple[str, str]]:
    there = {row["matter"] for row in rows}
    return [(matter.id, matter.title) for _, matter in every_matter() if matter.id in there]
