# SPDX-License-Identifier: MIT
"""One colour for each contender, the same in every picture; dash and shape count the contenders of a picture, so that any two of them
are told apart without colours.

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


# By how a name begins: of Headroom's vectors each has a colour of its own, of the others each library.
COLOURS = {
    "headroom::vector": "#b5438e",
    "headroom::": "#d55e00",
    "std::pmr::": "#8a78d6",
    "std::": "#7d7d7d",
    "boost::": "#2f7fd1",
    "mimalloc": "#c0629a",
    "floor/": "#5b8c8c",
    "foonathan::": "#009e73",
    "BloombergLP::": "#a8792b",
    "tbb::": "#a8792b",
}
OTHERS = ("#009e73", "#8f6fb0", "#e0442e", "#3f90b8", "#7a8f2a", "#b5705a", "#5b8c8c")  # for policies, and for libraries that have none
DASHES = ((), (6, 3), (2, 2), (8, 2), (4, 2, 1, 2), (1, 2), (3, 1))
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "triangle-left", "triangle-right")

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
    """Under an allocator that was preloaded a contender keeps its colour."""
    found = {}
    for number, name in enumerate(arrange(contenders)):
        plain = name.removesuffix(PAIRED).partition(PRELOADED)[0]
        own = next((colour for start, colour in COLOURS.items() if plain.startswith(start)), "")
        policy = "/" in plain.removeprefix("floor/")
        colour = own if own and not policy else OTHERS[number % len(OTHERS)]
        found[name] = Look(colour, DASHES[number % len(DASHES)], SHAPES[number % len(SHAPES)])
    return found
