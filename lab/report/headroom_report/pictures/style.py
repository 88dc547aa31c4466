"""One look for each contender, the same in every picture: colour, dash and shape, any one of which tells them apart.

The colours are Okabe and Ito's, darkened or lightened until they stand out (3 : 1) from white and from near-black alike, so
that one picture serves the light page, the dark page and paper.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..results.figures import PAIRED
from ..results.strategies import PRELOADED


@dataclass(frozen=True)
class Look:
    colour: str
    dash: tuple[int, ...]
    shape: str


_KNOWN = {
    "headroom::settled_vector": Look("#d55e00", (), "circle"),
    "headroom::vector": Look("#b5438e", (), "diamond"),
    "std::vector": Look("#7d7d7d", (), "square"),
    "boost::container::vector": Look("#2f7fd1", (6, 3), "triangle-up"),
    "headroom::settled_vector/page_by_page": Look("#a8792b", (2, 2), "cross"),
    "headroom::settled_vector/huge_pages": Look("#009e73", (8, 2), "diamond"),
    "headroom::settled_vector/prefault_ahead": Look("#c0629a", (4, 2, 1, 2), "triangle-down"),
    "headroom::settled_vector/open": Look("#8a78d6", (1, 2), "triangle-left"),
    "headroom::settled_vector/open unchecked": Look("#3f90b8", (3, 1), "triangle-right"),
    "headroom::settled_vector/warm": Look("#e0442e", (5, 2, 2, 2), "circle"),
    "headroom::vector/heap": Look("#8f6fb0", (3, 2, 1, 2), "triangle-right"),
    "headroom::small_vector": Look("#5b8c8c", (2, 3), "circle"),
    "headroom::vector/page_by_page": Look("#b08a3c", (1, 1), "square"),
    "boost::container::vector/doubling": Look("#4a9ad4", (2, 4), "triangle-down"),
    "boost::container::stable_vector": Look("#2f7fd1", (1, 3), "cross"),
    "boost::container::devector": Look("#2f7fd1", (7, 2, 1, 2), "square"),
    "absl::InlinedVector": Look("#009e73", (3, 3), "triangle-up"),
    "tbb::concurrent_vector": Look("#a8792b", (6, 2, 2, 2), "triangle-left"),
    "eastl::vector": Look("#8a78d6", (5, 2), "cross"),
    "folly::fbvector": Look("#3f90b8", (9, 3), "circle"),
    "rvector": Look("#c0629a", (1, 1), "triangle-right"),
    "amc::vector": Look("#5b8c8c", (4, 1), "square"),
    "sfl::vector": Look("#7a8f2a", (2, 1), "triangle-down"),
    "gch::small_vector": Look("#9a6fb0", (3, 1, 1, 1), "triangle-up"),
    "SettledVector": Look("#b5705a", (10, 3), "diamond"),
}

# Memory resources: a colour and a shape for each library, a dash for each of its resources.
_LIBRARIES = (
    ("headroom::", "#d55e00", "circle"),
    ("std::allocator", "#7d7d7d", "square"),
    ("std::shared_ptr", "#7d7d7d", "square"),
    ("std::", "#8a78d6", "triangle-up"),
    ("boost::", "#2f7fd1", "diamond"),
    ("BloombergLP::", "#a8792b", "triangle-down"),
    ("foonathan::", "#009e73", "cross"),
    ("mimalloc", "#c0629a", "triangle-right"),
    ("floor/", "#5b8c8c", "triangle-left"),
)
_VARIANTS = (
    ("over arena", (4, 2, 1, 2)),
    ("over monotonic", (3, 1)),
    ("/buffer", (2, 2)),
    ("/fresh", (1, 2)),
    ("arena", (8, 2)),
    ("synchronized_pool", (6, 3)),
    ("synchronized_multipool", (6, 3)),
    ("pool_collection", (6, 3)),
    ("make_shared", (6, 3)),
)


def _resource(name: str) -> Look | None:
    for start, colour, shape in _LIBRARIES:
        if name.startswith(start) and name not in _KNOWN and ("resource" in name or start not in ("headroom::", "boost::")):
            ending = name.replace("unsynchronized", "")
            return Look(colour, next((dash for text, dash in _VARIANTS if text in ending), ()), shape)
    return None


# The same contender under an allocator that was preloaded keeps its colour; dash and shape are the allocator's.
_PRELOADED = {
    "jemalloc": ((1, 2), "triangle-up"),
    "tcmalloc": ((3, 2), "diamond"),
    "mimalloc": ((5, 2), "triangle-down"),
    "mimalloc 2.4": ((2, 1, 6, 1), "cross"),
    "mimalloc 3.4": ((7, 3), "triangle-left"),
    "hugetlb": ((4, 1, 1, 1), "triangle-right"),
}

_YARDSTICKS = ("std::vector", "std::allocator", "std::shared_ptr", "std::make_shared")
_FIRST = ("headroom::settled_vector", "headroom::vector")


def arrange(contenders: set[str] | list[str]) -> list[str]:
    """Headroom's defaults first, then the peers, then Headroom's other policies; each by name, but the yardstick leads."""

    def place(name: str) -> tuple:
        base = name.removesuffix(PAIRED)
        ours = base.startswith("headroom::")
        groups = (
            base in _FIRST or (ours and "/" not in base and "resource" in base),
            base.startswith(_YARDSTICKS),
            not ours and not base.startswith("floor/"),
            ours,
            True,
        )
        return (name.endswith(PAIRED), groups.index(True), _FIRST.index(base) if base in _FIRST else 0, name)

    return sorted(set(contenders), key=place)


def looks(contenders: list[str]) -> dict[str, Look]:
    """Known contenders keep their look everywhere; others, and allocators that are not known, take in order one that is not used here."""
    result = {}
    spare = iter([look for name, look in _KNOWN.items() if name not in contenders] * (1 + len(contenders)))
    unused = (look for name, look in _KNOWN.items() if name not in contenders and look.dash and (look.dash, look.shape) not in _PRELOADED.values())
    allocators = {name.removesuffix(PAIRED).partition(PRELOADED)[2] for name in contenders} - {""}
    preloads = _PRELOADED | {name: (look.dash, look.shape) for name, look in zip(sorted(allocators - set(_PRELOADED)), unused)}
    for name in contenders:
        base = name.removesuffix(PAIRED)
        plain, _, preloaded = base.partition(PRELOADED)
        known = _KNOWN.get(plain) or _resource(plain)
        result[name] = Look(known.colour, *preloads[preloaded]) if known and preloaded else known or next(spare)
    return result
