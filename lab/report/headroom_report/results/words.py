# SPDX-License-Identifier: MIT
"""Numbers and configurations in words: three significant digits, units a reader knows, powers of ten as powers."""

from __future__ import annotations

import math

from .figures import Figure
from .strategies import STRATEGIES

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_BINARY = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def digits(value: float, figures: int = 3) -> str:
    """Three significant digits, never in scientific notation, thousands separated."""
    if value == 0:
        return "0"
    places = figures - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    return f"{rounded:,.{max(places, 0)}f}"


def power(value: float) -> str:
    """10⁷ for powers of ten from a thousand, else digits with separators."""
    if value >= 1000 and float(value).is_integer():
        text = str(int(value))
        if text.strip("0") == "1":
            return "10" + str(len(text) - 1).translate(SUPERSCRIPT)
    return f"{value:,.0f}" if float(value).is_integer() else digits(value)


def seconds(value: float) -> str:
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(value) >= scale:
            return f"{digits(value / scale)} {unit}"
    return f"{digits(value * 1e9)} ns"


def size(value: float) -> str:
    for scale, unit in _BINARY:
        if abs(value) >= scale:
            return f"{digits(value / scale, 4)} {unit}" if value % scale else f"{value / scale:,.0f} {unit}"
    return f"{value:,.0f} B"


def quantity(value: float, unit: str) -> str:
    if unit == "s":
        return seconds(value)
    if unit == "B":
        return size(value)
    text = power(value) if float(value).is_integer() else digits(value)
    return f"{text} {unit}".strip()


def ratio(value: float) -> str:
    if math.isinf(value):
        return "∞"
    return f"{value:.2f}" if 0.095 <= value < 100 else digits(value, 2)


def figure(value: Figure) -> str:
    """The median, and the lowest and highest round where there were several."""
    text = quantity(value.median, value.unit)
    if value.rounds > 1 and value.low != value.high:
        text += f" ({quantity(value.low, value.unit)} … {quantity(value.high, value.unit)})"
    return text


def share(value: float) -> str:
    return f"{value:.1%}" if value < 0.0995 else f"{value:.0%}"


def power2(exponent: object) -> str:
    return "2" + str(exponent).translate(SUPERSCRIPT)


def count2(value: object) -> str:
    """2¹⁸ for powers of two from 1024, else as `power` has it."""
    if isinstance(value, int) and value >= 1024 and value & (value - 1) == 0:
        return power2(value.bit_length() - 1)
    return power(value) if isinstance(value, (int, float)) else str(value)


def counted(value: object, thing: str) -> str:
    """1 thread, 2 threads."""
    return f"{value} {thing}" + ("" if value == 1 else "s")


# Parameters that a reader should not meet by their names in the files.
_PHRASES = {
    "bytes": lambda value: size(value),
    "pages": lambda value: counted(value, "page"),
    "optimisation": lambda value: f"-{value}",
    "elements": lambda value: power(value),
    "element": str,
    "size_exponent": lambda value: f"{power2(value)} elements",
    "links": lambda value: f"{count2(value)} links",
    "subsystem_links": lambda value: f"in lists of {count2(value)}",
    "T_exponent": lambda value: f"{power2(value)} B in all",
    "A_exponent": lambda value: f"{power2(value)} B at once",
    "S_exponent": lambda value: f"blocks of {power2(value)} B",
    "N_exponent": lambda value: f"{power2(value)} times",
    "W": lambda value: counted(value, "thread"),
    "sharing": lambda value: {"private": "a resource each", "shared": "one resource for all"}.get(value, str(value)),
    "known_size": lambda value: "the size known to the compiler" if value else "the size known at run time only",
    "thp": lambda value: f"huge pages: {value}",
    "limit": lambda value: f"memory limited to {size(value)}",
    "objects": lambda value: f"{power(value)} objects",
    "states": lambda value: f"{value} states",
    "automata": lambda value: f"{value} automata",
    "iterations": lambda value: f"{value} iterations",
    "tests": lambda value: counted(value, "test"),
    "strategy": lambda value: STRATEGIES[value].title if value in STRATEGIES else str(value),
    "structure": str,
    "contents": str,
    "workload": str,
    "container": str,
    "order": lambda value: f"{value} order",
    "threads": lambda value: counted(value, "thread"),
    "processors": lambda value: counted(value, "processor"),
    "batch": lambda value: "one by one" if value == 1 else f"batches of {value}",
    "blocks": lambda value: f"{power(value)} blocks",
    "ring": lambda value: f"{value:,} under way",
    "turns": lambda value: f"{power(value)} turns",
    "each": lambda value: f"{power(value)} each",
    "commits": lambda value: counted(value, "commit"),
    "language": str,
    "af": lambda value: "each list read once" if value == 1 else f"each list read {value} times",
    "rf": lambda value: "once over" if value == 1 else f"{value} times over",
    "sf": lambda value: "not shuffled" if value == 0 else "shuffled once" if value == 1 else f"shuffled {value} times",
    "heap": lambda value: f"{value} heap",
    "trimming": lambda value: "malloc trims" if value else "malloc does not trim",
}
# What is the same everywhere, or says how long was measured and not what: left out of phrases.
_UNSAID = {"leaves_exponent": None, "heap": "clean", "trimming": True}


def parameter(name: str, value: object) -> str:
    if name in _PHRASES and value is not None:
        try:
            return _PHRASES[name](value)
        except (TypeError, ValueError):
            return f"{name} {value}"
    return f"{name} {value}" if not isinstance(value, bool) else name if value else f"not {name}"


def structure(label: object, contents: object) -> str:
    """A data structure in C++; the document's label of it where that is all there is."""
    return str(contents or label)


# Workloads of many vectors: how many, and how many elements of each.
_MANY = {
    "short": "{elements} short vectors of {each}",
    "nested": "a vector of {elements} vectors of {each}",
    "in-turn": "{elements} vectors that grow in turn to {each} each",
    "random-turn": "{elements} vectors that grow in random turn to {each} each",
    "dead-large": "a vector of {elements} dropped, then {each} nodes",
}


def configuration(parameters: dict[str, object]) -> str:
    """A cell's parameters as a phrase: "10⁷ int, -O2"."""
    rest = {
        name: value
        for name, value in parameters.items()
        if name not in _UNSAID or (_UNSAID[name] is not None and value != _UNSAID[name])
    }
    parts = []
    if "structure" in rest:
        parts.append(structure(rest.pop("structure"), rest.pop("contents", "")))
    element = rest.pop("element", None)
    if rest.get("workload") in _MANY and {"elements", "each"} <= rest.keys():
        counts = {name: parameter("elements", rest.pop(name)) for name in ("elements", "each")}
        parts.append(_MANY[rest.pop("workload")].format(**counts))
    elif "elements" in rest:
        of = "of " if str(element).endswith(" bytes") else ""
        parts.append(f"{parameter('elements', rest.pop('elements'))} {of}{element or 'elements'}")
    elif element:
        parts.append(str(element))
    for name in _PHRASES:
        if name in rest:
            parts.append(parameter(name, rest.pop(name)))
    parts += [parameter(name, value) for name, value in sorted(rest.items()) if value is not False]
    return ", ".join(parts) or "—"


# What does not lead when cells are sorted.
_LATE = ("automata", "limit", "tests", "leaves_exponent", "af", "rf")


def order(parameters: dict[str, object]) -> tuple:
    """For sorting cells as a reader expects them: -O2 before -O1 before -O0, then sizes from small to large."""
    level = str(parameters.get("optimisation", ""))
    structure = str(parameters.get("structure", ""))
    digits_of = "".join(letter for letter in structure if letter.isdigit())
    rest = tuple(
        sorted(
            (name, int(digits_of) if name == "structure" and digits_of else 0, str(value))
            for name, value in parameters.items()
            if name not in ("optimisation", "element", "contents") and (isinstance(value, (str, bool)))
        )
    )
    numbers = tuple(
        (name, value)
        for name, value in sorted(parameters.items(), key=lambda pair: (pair[0] in _LATE, pair[0]))
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    )
    descending = tuple(-ord(letter) for letter in level)
    return (descending, rest, str(parameters.get("element", "")), numbers)
