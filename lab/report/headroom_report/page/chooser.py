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
from . import experiments


_POLICY = """struct policy : headroom::settled_policy {{
    static constexpr headroom::commit_policy commit = {commit};
}};
headroom::settled_vector<T, policy> v;"""

CODE = {
    "std::vector": "std::vector<T> v;",
    "boost::container::vector": "boost::container::vector<T> v;",
    "boost::container::stable_vector": "boost::container::stable_vector<T> v;    // a node for each element",
    "boost::container::devector": "boost::container::devector<T> v;",
    "absl::InlinedVector": "absl::InlinedVector<T, 8> v;",
    "tbb::concurrent_vector": "tbb::concurrent_vector<T> v;",
    "headroom::vector": "headroom::vector<T> v;",
    "headroom::settled_vector": "headroom::settled_vector<T> v;",
    "headroom::settled_vector/page_by_page": _POLICY.format(commit="headroom::page_by_page()"),
    "headroom::settled_vector/huge_pages": _POLICY.format(commit="headroom::huge_pages()"),
    "headroom::settled_vector/prefault_ahead": _POLICY.format(commit="headroom::prefault_ahead()"),
    "headroom::settled_vector/open": _POLICY.format(commit="headroom::commit_policy{}.held(headroom::holding::open)"),
    "headroom::settled_vector/open unchecked": _POLICY.format(
        commit="headroom::commit_policy{}.held(headroom::holding::open)"
    )
    + "\nv.unchecked_push_back(value);    // no check at all; the guard region meets an overrun",
    "headroom::settled_vector/warm": "headroom::set_cache_limit(bytes);    // once: what dead vectors may keep warm\nheadroom::settled_vector<T> v;",
}

_BOUND = """{type} memory;{more}
using allocator = headroom::resource_allocator<int, {type}>;    // bound at compile time: no virtual call
std::vector<int, allocator> v(&memory);"""
CODE |= {
    f"headroom::{name}": _BOUND.format(type=f"headroom::{name}", more="")
    for name in ("monotonic_resource", "arena_resource", "multipool_resource", "synchronized_multipool_resource")
}
CODE |= {
    f"headroom::multipool_resource over {below}": _BOUND.format(
        type="headroom::multipool_resource", more=f"    // made as multipool_resource memory(&below), below being {what}"
    )
    for below, what in (("monotonic", "a monotonic_resource"), ("arena", "an arena_resource"))
}
CODE["std::allocator"] = "std::vector<int> v;"

MOST = 5  # allocators that an answer can name

# Containers whose elements never move.
STAYS = ("headroom::settled_vector", "boost::container::stable_vector", "tbb::concurrent_vector", "SettledVector")

ELEMENT_BYTES = {"int": 4, "unique_ptr<int>": 8}


def stays(contender: str) -> bool:
    return contender.split("/")[0] in STAYS


def _admitted(matter: Matter, cell: Cell) -> list[str]:
    names = [name for name in cell.contenders if not name.endswith(PAIRED) and not strategies.is_floor(name)]
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
                            "stays": bool(matter.strategies) or stays(name),
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
    """The answer the page gives: the nearest cell by size, and in it the contenders that may be, best first."""
    near = [row for row in rows if row["matter"] == matter and row["element"] == element]
    if not near:
        return None
    row = min(near, key=lambda row: abs(math.log(row["elements"]) - math.log(elements)))
    return {"where": row["where"], "found": [one for one in row["found"] if one["stays"] or not must_stay]}


def elements(rows: list[dict]) -> list[str]:
    """What the form offers at first; its script offers what the matter that is chosen was measured with."""
    return list(dict.fromkeys(row["element"] for row in rows if row["matter"] == rows[0]["matter"]))


def matters(rows: list[dict]) -> list[tuple[str, str]]:
    there = {row["matter"] for row in rows}
    return [(matter.id, matter.title) for _, matter in every_matter() if matter.id in there]
