# SPDX-License-Identifier: MIT
"""P0089R0's allocation strategies (its table 1), and who plays which part in them.

A contender of its experiments is an implementation under a strategy: "headroom::multipool_resource AS7". Pictures, tables and
the filter speak of implementations; comparisons are made within one strategy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .figures import PAIRED

GLOBAL = "std::allocator AS1"  # what all is divided by
MONOTONIC = "headroom::monotonic_resource AS3"
POOL = "headroom::multipool_resource AS7"
SHARED_POOL = "headroom::synchronized_multipool_resource AS7"
HEADROOM, FLOOR = "headroom::", "floor/"
PRELOADED = " under "  # "std::vector under jemalloc": in a process that was started with that allocator


@dataclass(frozen=True)
class Strategy:
    id: str
    kind: str
    bound: bool  # at compile time; else through an abstract base
    winked: bool

    @property
    def way(self) -> str:
        """How it is used, where that is not the usual."""
        base = "" if self.bound else "through std::pmr::memory_resource"
        return ", ".join(part for part in (base, "winked out" if self.winked else "") if part)

    @property
    def title(self) -> str:
        """In a reader's words; the document's number stands in brackets once."""
        if self.kind == "global":
            return "global allocator" if self.bound else "global allocator, through an abstract base"
        bound = "bound at compile time" if self.bound else "through an abstract base"
        return f"{self.kind}, {bound}{', winked out' if self.winked else ''}"


KINDS = ("global", "monotonic", "multipool", "multipool over monotonic")
STRATEGIES = {
    one.id: one
    for one in [Strategy("AS1", "global", True, False), Strategy("AS2", "global", False, False)]
    + [
        Strategy(f"AS{3 + 4 * k + 2 * base + winked}", kind, not base, bool(winked))
        for k, kind in enumerate(KINDS[1:])
        for base in (0, 1)
        for winked in (0, 1)
    ]
}
_SPLIT = re.compile(rf" (AS\d+)(?=$|{PAIRED}$|{PRELOADED})")


def implementation(contender: str) -> str:
    """Without strategy, and without the mark of a second run."""
    return _SPLIT.sub("", contender).removesuffix(PAIRED)


def strategy(contender: str) -> str:
    """ "AS7", or nothing for contenders of other experiments."""
    found = _SPLIT.search(contender)
    return found[1] if found and found[1] in STRATEGIES else ""


def plain(contender: str) -> str:
    """As a reader knows it: the implementation, and how it is used."""
    used = STRATEGIES.get(strategy(contender))
    return implementation(contender) + (f", {used.way}" if used and used.way else "")


def is_floor(contender: str) -> bool:
    """The lab's own bound on what can be had (a free list or a pointer over warm memory), and no allocator to use."""
    return contender.startswith(FLOOR)


def is_default(contender: str) -> bool:
    return contender.startswith(HEADROOM) and not any(mark in contender for mark in ("/", PRELOADED, PAIRED))


def is_peer(contender: str) -> bool:
    return not contender.startswith((HEADROOM, FLOOR)) and not contender.endswith(PAIRED)
