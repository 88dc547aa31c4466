# SPDX-License-Identifier: MIT
"""“Choose yours”: every answer to everything that the form can ask. The page's script only looks the answer up.

What can be asked is what was measured: what matters, the elements, how many, whether they may move, whether all of them die together.
An answer is first of all safe for the task: what frees nothing before the end is for what dies together, and nobody is advised to take
what checks nothing, what did not end well, or what cannot be had; such contenders are named beside. Of the rest the least median wins,
or what `difference` does not tell from it and asks less of the reader.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Iterator

from ..results import strategies, words
from ..results.catalogue import Experiment, Matter
from ..results.figures import PAIRED, Cell, Noise
from ..verdicts.claims import matches
from ..verdicts.difference import LEVEL, ONE_ROUND, TOO_NOISY, UNDECIDED, between
from . import code, experiments

POWERS = range(0, 11)  # of ten: the numbers of elements that the form offers
NEAR = 3.2  # a cell of so many times more or fewer elements is not the case asked about, and the answer says so
SAID = 5  # contenders that an answer names at most, of each kind

# Containers whose elements never move.
STAYS = ("headroom::settled_vector", "boost::container::stable_vector", "tbb::concurrent_vector", "std::deque", "plf::colony", "SettledVector")
# What is never used again while the resource lives: a program that runs on takes more and more.
FREES_NOTHING = ("monotonic", "arena", "memory_stack", "Sequential")
UNSAFE = "unchecked"


@dataclass(frozen=True)
class Setting:
    """What the form asks."""

    matter: str
    element: str
    power: int = 0
    stay: bool = False
    together: bool = False

    @property
    def key(self) -> str:
        return f"{self.matter}|{self.element}|{self.power}|{int(self.stay)}|{int(self.together)}"


@dataclass
class Answer:
    name: str = ""
    sentences: list[str] = field(default_factory=list)
    safe: str = ""
    code: str = ""
    cell: str = ""
    beside: list[str] = field(default_factory=list)


def stays(contender: str) -> bool:
    return contender.split(strategies.PRELOADED)[0].split("/")[0] in STAYS


def frees_nothing(contender: str) -> bool:
    return any(word in contender.split(" over ")[0] for word in FREES_NOTHING)


def _elements(matter: Matter, cell: Cell, element: str) -> int | None:
    """How many, where that is what a cell is of."""
    if not matter.size:
        return 1
    size = cell.parameters.get(matter.size)
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        return None
    if matter.size == "bytes":
        return max(1, size // code.BYTES.get(element, 1))
    return 1 << size if matter.size == "size_exponent" and size < 60 else size


class Choices:
    """Of one machine."""

    def __init__(self, cells: list[Cell]):
        self.found: dict[tuple[str, str], list[tuple[int, Cell]]] = {}
        self.of: dict[str, tuple[Experiment, Matter]] = {}
        self.noise: dict[str, Noise] = {}
        every = [(experiment, matter) for experiment in experiments.every() for matter in experiment.matters]
        for experiment, matter in sorted(every, key=lambda pair: pair[1].place):
            self.of[matter.id] = (experiment, matter)
            self.noise[matter.id] = Noise(experiment.of(cells), matter.metric)
            for cell in experiment.of(cells):
                element = matter.element(cell.parameters)
                elements = _elements(matter, cell, element)
                if matches(cell.parameters, matter.where) and elements is not None and self._measured(matter, cell, True):
                    self.found.setdefault((matter.id, element), []).append((elements, cell))

    def matters(self) -> list[Matter]:
        there = {matter for matter, _ in self.found}
        return [matter for name, (_, matter) in self.of.items() if name in there]

    def asks(self) -> list[dict]:
        """For each matter what the form offers."""
        return [
            {
                "id": matter.id,
                "title": matter.title,
                "elements": [element for name, element in self.found if name == matter.id],
                "sized": bool(matter.size),
                "stay": not matter.strategies,
                "together": bool(matter.together),
            }
            for matter in self.matters()
        ]

    def settings(self) -> Iterator[Setting]:
        for ask in self.asks():
            for element in ask["elements"]:
                for power in POWERS if ask["sized"] else (0,):
                    for stay in (False, True) if ask["stay"] else (False,):
                        for together in (False, True) if ask["together"] else (False,):
                            yield Setting(ask["id"], element, power, stay, together)

    def answers(self) -> dict:
        """For the page: every different answer once, and its number for each setting."""
        numbers: dict[str, int] = {}
        different: list[dict] = []
        known: dict[str, int] = {}
        for setting in self.settings():
            made = vars(self.answer(setting))
            text = repr(made)
            if text not in known:
                known[text] = len(different)
                different.append(made)
            numbers[setting.key] = known[text]
        return {"asks": self.asks(), "answers": different, "numbers": numbers}

    def _measured(self, matter: Matter, cell: Cell, together: bool) -> list[str]:
        """Who was, and under a strategy that the matter is of; the lab's own bounds and what must know the future apart."""
        wanted = matter.strategies + (matter.together if together else ())
        names = [name for name in cell.contenders if not name.endswith(PAIRED) and not strategies.is_floor(name)]
        names = [name for name in names if not matter.strategies or (strategies.strategy(name) in wanted and "/" not in name)]
        return [name for name in names if cell.figure(name, matter.metric) is not None]

    def answer(self, setting: Setting) -> Answer:
        experiment, matter = self.of[setting.matter]
        near = self.found[setting.matter, setting.element]
        wanted = 10**setting.power
        size, cell = min(near, key=lambda one: abs(math.log(one[0]) - math.log(wanted))) if matter.size else near[-1]
        answer = Answer(cell=f"From the cell {words.configuration(cell.parameters)}. {_far(matter, size, [one for one, _ in near], wanted)}".rstrip())
        admitted, beside = [], {}
        for name in sorted(self._measured(matter, cell, True), key=lambda name: cell.figure(name, matter.metric).median):
            why = self._why_not(setting, matter, cell, name)
            if not why:
                admitted.append(name)
            elif why != "-":
                beside.setdefault(why, []).append(name)
        if not admitted:
            answer.sentences.append("No contender measured there keeps its elements in place." if setting.stay else "Nobody can be advised from these results.")
            return answer
        best = self._plainest(matter, cell, admitted)
        figure = cell.figure(best, matter.metric)
        answer.name, answer.safe = strategies.plain(best), code.safety(strategies.implementation(best))
        answer.code = self._code(matter, setting, best)
        ratio, by = cell.ratio(matter.metric, best, experiment.yardstick), strategies.implementation(experiment.yardstick)
        unit = " a leaf (an innermost element)" if matter.size == "size_exponent" else ""
        than = f", {words.ratio(ratio.median)} times {by}'s" if ratio and best != experiment.yardstick else ""
        answer.sentences.append(f"{words.figure(figure)}{unit}{than}.")
        self._rivals(answer, matter, cell, best, [name for name in admitted if name != best])
        for why, names in beside.items():
            faster = [name for name in names if cell.figure(name, matter.metric).median < figure.median][:SAID]
            if faster:
                told = ", ".join(f"{strategies.plain(name)} ({words.ratio(cell.figure(name, matter.metric).median / figure.median)})" for name in faster)
                answer.beside.append(f"{why}: {told}.")
        if not any(strategies.PRELOADED in name for name in cell.contenders):
            answer.beside.append("No allocator to preload was measured in this cell.")
        return answer

    def _why_not(self, setting: Setting, matter: Matter, cell: Cell, name: str) -> str:
        """Why it is no answer; "-" where that needs no word."""
        if cell.failed(name) or (setting.stay and not stays(name)):
            return "-"
        if matter.strategies and not setting.together and frees_nothing(name):
            return "Less time, but nothing is freed before the end, so only where all dies together"
        if not setting.together and strategies.strategy(name) in matter.together and strategies.strategy(name) not in matter.strategies:
            return "-"
        if UNSAFE in name:
            return "Less, but checks nothing"
        return "" if self._code(matter, setting, name) else "Less, but to be had as sources only, or with code of its own"

    def _code(self, matter: Matter, setting: Setting, name: str) -> str:
        return code.text(name, setting.element, 10**setting.power, bool(matter.strategies))

    def _plainest(self, matter: Matter, cell: Cell, admitted: list[str]) -> str:
        """The least, or what cannot be told from it and asks less of a reader: no other allocator for the program, no policy."""
        alike = [name for name in admitted[1:] if between(cell, matter.metric, admitted[0], name, self.noise[matter.id]) in (LEVEL, TOO_NOISY)]
        return min([admitted[0], *alike], key=lambda name: (strategies.PRELOADED in name, "/" in name))

    def _rivals(self, answer: Answer, matter: Matter, cell: Cell, best: str, others: list[str]) -> None:
        found = {name: between(cell, matter.metric, best, name, self.noise[matter.id]) for name in others}
        for outcomes, text in (
            ((LEVEL,), "Level with it"),
            ((TOO_NOISY,), "Not told apart from it"),
            ((ONE_ROUND,), "Measured in fewer than three rounds, so that the order may be accident, were also"),
        ):
            names = [strategies.plain(name) for name in others if found[name] in outcomes]
            if names:
                more = f" and {len(names) - SAID} more" if len(names) > SAID else ""
                answer.sentences.append(f"{text}: {', '.join(names[:SAID])}{more}.")
        after = next((name for name in others if found[name] not in (LEVEL, *UNDECIDED)), None)
        if after:
            times = cell.figure(after, matter.metric).median / (cell.figure(best, matter.metric).median or 1)
            answer.sentences.append(f"Next is {strategies.plain(after)} at {words.ratio(times)} times as much.")


def _far(matter: Matter, size: int, sizes: list[int], wanted: float) -> str:
    if not matter.size:
        return ""
    if wanted > NEAR * max(sizes):
        return "Nothing so large was measured here: this is the largest."
    if wanted * NEAR < min(sizes):
        return "Nothing so small was measured here: this is the smallest."
    return "This size was not measured here: this is the nearest." if max(wanted / size, size / wanted) > NEAR else ""
