"""“Choose yours”: the data behind the part of the page where a reader says what they need and gets the measured winner.

What can be asked is what was measured: element, size, what matters, and whether elements may move. The page's script looks
up the nearest cell; this module lays out the cells, so that tests can look them up too.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import words
from .figures import PAIRED, Cell
from .catalogue import YARDSTICK


@dataclass(frozen=True)
class Matter:
    """Something that may matter to a reader, and the cells that speak of it."""

    id: str
    title: str
    experiment: str
    metric: str
    size: str  # the parameter that is the size
    where: dict


MATTERS = (
    Matter("build", "the time to build one", "throughput", "time", "elements", {"optimisation": "O2", "warm": False}),
    Matter("again", "the time to build, read and drop one, again and again", "one-growth", "time", "bytes", {}),
    Matter("stall", "the longest single append", "latency", "append_max", "elements", {"optimisation": "O2"}),
    Matter("memory", "the peak of memory", "memory", "peak_resident", "elements", {}),
)

_POLICY = """struct policy : headroom::settled_policy {{
    static constexpr headroom::commit_policy commit = {commit};
}};
headroom::settled_vector<T, policy> v;"""

CODE = {
    "std::vector": "std::vector<T> v;",
    "boost::container::vector": "boost::container::vector<T> v;",
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

# Containers whose elements never move.
STAYS = ("headroom::settled_vector",)

ELEMENT_BYTES = {"int": 4, "unique_ptr<int>": 8}


def stays(contender: str) -> bool:
    return contender.split("/")[0] in STAYS


def cells_for_choice(cells: list[Cell]) -> list[dict]:
    """A row for each cell: what matters, element, size in elements, and each contender's figure, best first."""
    from .claims import matches

    rows = []
    for matter in MATTERS:
        for cell in cells:
            size = cell.parameters.get(matter.size)
            element = str(cell.parameters.get("element", "int"))
            if (
                cell.experiment != matter.experiment
                or not matches(cell.parameters, matter.where)
                or not isinstance(size, int)
                or size <= 0
            ):
                continue
            found = []
            for name in cell.contenders:
                figure = cell.figure(name, matter.metric)
                if figure is not None and not name.endswith(PAIRED):
                    ratio = cell.ratio(matter.metric, name, YARDSTICK)
                    found.append(
                        {
                            "name": name,
                            "value": figure.median,
                            "low": figure.low,
                            "high": figure.high,
                            "text": words.figure(figure),
                            "ratio": words.ratio(ratio.median) if ratio else "",
                            "stays": stays(name),
                        }
                    )
            if found:
                found.sort(key=lambda one: one["value"])
                elements = size // ELEMENT_BYTES.get(element, 1) if matter.size == "bytes" else size
                rows.append(
                    {
                        "matter": matter.id,
                        "element": element,
                        "elements": elements,
                        "where": words.configuration(cell.parameters),
                        "found": found,
                    }
                )
    return rows


def choice(rows: list[dict], matter: str, element: str, elements: float, must_stay: bool) -> dict | None:
    """The answer the page gives: the nearest cell by size, and in it the contenders that may be, best first."""
    import math

    near = [row for row in rows if row["matter"] == matter and row["element"] == element]
    if not near:
        return None
    row = min(near, key=lambda row: abs(math.log(row["elements"]) - math.log(elements)))
    return {"where": row["where"], "found": [one for one in row["found"] if one["stays"] or not must_stay]}


def elements(rows: list[dict]) -> list[str]:
    return list(dict.fromkeys(row["element"] for row in rows))


def matters(rows: list[dict]) -> list[tuple[str, str]]:
    there = {row["matter"] for row in rows}
    return [(matter.id, matter.title) for matter in MATTERS if matter.id in there]
