"""Tables of the experiments whose contenders are implementations under P0089R0's strategies."""

from __future__ import annotations

from ..pictures.style import arrange
from ..results import words
from ..results.catalogue import Experiment
from ..results.figures import PAIRED, Cell, Noise
from ..results.strategies import GLOBAL, STRATEGIES, implementation, is_default, is_peer, least, of_cell, strategy
from ..verdicts.difference import LEVEL, UNDECIDED, between
from .measured import ending, measured, untold
from .table import NOTHING, Entry, Table, numbers, texts


def best_table(cells: list[Cell], experiment: Experiment, noise: Noise | None) -> Table:
    """Two rows for each configuration: the best of Headroom's resources under each strategy, and the best of the others."""
    metric = experiment.contests[0].metric
    cells = measured(cells, metric)
    columns = [name for name in STRATEGIES if any(name in of_cell(cell) for cell in cells)]
    table = Table(
        texts("what", "whose") + numbers(*(STRATEGIES[name].title for name in columns)),
        caption=f"{experiment.contests[0].title}, by strategy: the best of Headroom's resources and the best of the others",
    )
    for cell in cells:
        below = cell.figure(GLOBAL, metric)
        for who, admits in (("Headroom", is_default), ("others", is_peer)):
            row = [Entry(words.configuration(cell.parameters)), Entry(who)]
            for name in columns:
                both = [least(cell, name, metric, one) for one in (is_default, is_peer)]
                found = least(cell, name, metric, admits)
                if found is None:
                    row.append(NOTHING)
                    continue
                text = words.quantity(found[1].median, found[1].unit)
                if below and below.median and found[0] != GLOBAL:
                    text += f" ({words.ratio(found[1].median / below.median)})"
                mark = ""
                if all(both) and min(both, key=lambda pair: pair[1].median) == found:
                    text += " *"
                    mark = "quiet" if between(cell, metric, both[0][0], both[1][0], noise) in (LEVEL, *UNDECIDED) else "best"
                row.append(
                    Entry(text, mark, f"{implementation(found[0])}: {words.figure(found[1])}")
                )
            if any(entry.text != "—" for entry in row[2:]):
                table.rows.append(row)
    table.notes.append(
        "In brackets: divided by std::allocator's. * marks the lesser of the two. Which implementation it is shows on hovering, and in "
        f"the table of every implementation. Grey: level, or {untold(noise)}"
    )
    return table


def implementations_table(cells: list[Cell], metric: str, title: str) -> Table:
    """A row for each implementation in each configuration; the four ways to use it side by side."""
    cells = measured(cells, metric)
    used = {(one.bound, one.winked) for name in dict.fromkeys(name for cell in cells for name in cell.contenders) if (one := STRATEGIES.get(strategy(name)))}
    ways = [
        (("bound at compile time" if bound else "through an abstract base") + (", winked out" if winked else ""), bound, winked)
        for bound, winked in ((True, False), (True, True), (False, False), (False, True))
        if (bound, winked) in used
    ]
    table = Table(
        texts("what", "implementation", "kind") + numbers(*(text for text, _, _ in ways)),
        caption=f"Every implementation: {title}",
    )
    for cell in cells:
        below = cell.figure(GLOBAL, metric)
        by_kind: dict[tuple[str, str], dict[tuple[bool, bool], str]] = {}
        for name in cell.contenders:
            one = STRATEGIES.get(strategy(name))
            if one and not name.endswith(PAIRED):
                by_kind.setdefault((implementation(name), one.kind), {})[one.bound, one.winked] = name
        order = arrange({name for name, _ in by_kind})
        for (name, kind), found in sorted(by_kind.items(), key=lambda pair: order.index(pair[0][0])):
            row = [Entry(words.configuration(cell.parameters)), Entry(name, contender=name), Entry(kind)]
            for _, bound, winked in ways:
                contender = found.get((bound, winked))
                figure = cell.figure(contender, metric) if contender else None
                if figure is None:
                    row.append(ending(cell, contender) if contender else NOTHING)
                    continue
                text = words.quantity(figure.median, figure.unit)
                if below and below.median and contender != GLOBAL and figure.unit == "s":
                    text += f" ({words.ratio(figure.median / below.median)})"
                row.append(Entry(text, hover=words.figure(figure) if figure.rounds > 1 else ""))
            table.rows.append(row)
    return table
