"""Which pictures each experiment gets, and what is drawn in them."""

from __future__ import annotations

from . import charts, charts_grid, words
from .catalogue import YARDSTICK
from .charts import Picture
from .figures import PAIRED, Cell
from .pictures_memory import MEMORY_PICTURES


def _per_element(cell: Cell, contender: str):
    figure = cell.figure(contender, "time")
    if figure is None:
        return None
    count = cell.parameters["elements"]
    return (
        figure.median / count,
        figure.low / count,
        figure.high / count,
        f"{words.seconds(figure.median / count)} an element; {words.figure(figure)}",
    )


def _element(cell: Cell) -> str:
    return str(cell.parameters.get("element"))


def _throughput(cells: list[Cell]) -> list[Picture | None]:
    fresh = [cell for cell in cells if not cell.parameters.get("warm")]
    warm = [cell for cell in cells if cell.parameters.get("warm")]
    pictures = []
    for level, title in (("O2", "optimised, -O2"), ("O1", "-O1"), ("O0", "not optimised, -O0")):
        chosen = [cell for cell in fresh if cell.parameters.get("optimisation") == level]
        rows = charts.rows_over(chosen, "elements", _per_element, _element, "time")
        pictures.append(
            charts.sweep(
                f"throughput-{level}",
                f"Time per appended element, {title}",
                rows,
                "elements",
                "elements",
                "time per element",
                "s",
                "panel",
            )
        )
    rows = charts.rows_over(warm, "elements", _per_element, None, "time")
    pictures.append(
        charts.sweep(
            "throughput-warm",
            "Time per appended int when the process is warm, -O2",
            rows,
            "elements",
            "elements",
            "time per element",
            "s",
        )
    )
    return pictures


def _memory(cells: list[Cell]) -> list[Picture | None]:
    def value(cell: Cell, contender: str):
        peak, base, payload = (cell.figure(contender, metric) for metric in ("peak_resident", "baseline", "payload"))
        if not (peak and base and payload) or not payload.median:
            return None
        low, middle, high = ((figure - base.median) / payload.median for figure in (peak.low, peak.median, peak.high))
        return middle, low, high, f"{words.ratio(middle)} bytes for each byte; peak {words.figure(peak)}"

    rows = charts.rows_over(cells, "elements", value, None, "peak_resident")
    return [
        charts.sweep(
            "memory",
            "Memory at the peak for each byte of elements",
            rows,
            "elements",
            "elements",
            "bytes of memory per byte",
            "",
            y_line=1.0,
        )
    ]


def _one_growth(cells: list[Cell]) -> list[Picture | None]:
    def value(cell: Cell, contender: str):
        ratio, figure = cell.ratio("time", contender, YARDSTICK), cell.figure(contender, "time")
        if ratio is None or figure is None:
            return None
        return ratio.median, ratio.low, ratio.high, words.figure(figure)

    rows = charts.rows_over(cells, "bytes", value, None, "time")
    return [
        charts.sweep(
            "one-growth",
            "Time of one life, divided by std::vector's",
            rows,
            "bytes",
            "size",
            "÷ std::vector",
            "",
            y_line=1.0,
        )
    ]


def _latency(cells: list[Cell]) -> list[Picture | None]:
    chosen = [
        cell
        for cell in cells
        if cell.parameters.get("optimisation") == "O2"
        and cell.parameters.get("element") == "int"
        and any(cell.histogram(name, "append_histogram") for name in cell.contenders)
    ]
    pictures = []
    if chosen:
        cell = max(chosen, key=lambda cell: cell.parameters["elements"])
        samples = {}
        for name in cell.contenders:
            found = cell.histogram(name, "append_histogram")
            if found and not name.endswith(PAIRED):
                samples[name] = (found.values, found.counts)
        pictures.append(
            charts.histograms(
                "latency-histogram",
                f"Appends by how long they took: {words.configuration(cell.parameters)}, all rounds",
                samples,
                "time of one append",
            )
        )

    def value(cell: Cell, contender: str):
        figure = cell.figure(contender, "append_max")
        return None if figure is None else (figure.median, figure.low, figure.high, words.figure(figure))

    optimised = [cell for cell in cells if cell.parameters.get("optimisation") == "O2"]
    rows = charts.rows_over(optimised, "elements", value, _element, "append_max")
    pictures.append(
        charts.sweep(
            "latency-longest",
            "Longest single append, -O2",
            rows,
            "elements",
            "elements",
            "longest append",
            "s",
            "panel",
        )
    )
    return pictures


def _commit_cost(cells: list[Cell]) -> list[Picture | None]:
    def value(cell: Cell, contender: str):
        figure = cell.figure(contender, "time_per_page")
        return None if figure is None else (figure.median, figure.low, figure.high, words.figure(figure))

    pictures = [
        charts.sweep(
            "commit-cost",
            "Time per page of each call",
            charts.rows_over(cells, "pages", value),
            "pages",
            "pages in one call",
            "time per page",
            "s",
        )
    ]
    one = next((cell for cell in cells if cell.parameters.get("pages") == 1), None)
    if one:
        samples = {}
        for name in one.contenders:
            found = one.histogram(name, "call_histogram")
            if found and not name.endswith(PAIRED):
                samples[name] = (found.values, found.counts)
        pictures.append(
            charts.histograms(
                "commit-cost-histogram", "Calls by how long they took: one page", samples, "time of one call"
            )
        )
    return pictures


def _growth(cells: list[Cell]) -> list[Picture | None]:
    sequences = {}
    for cell in cells:
        for name in cell.contenders:
            found = cell.sequence(name, "grows_at")
            if found and not name.endswith(PAIRED):
                sequences[name] = found
    return [charts.marks("growth", "Sizes at which each vector grows", sequences, "elements held")]


def _one_bar_each(cells: list[Cell], metric: str, name: str, title: str, unit: str) -> list[Picture | None]:
    values = {}
    for cell in cells:
        for contender in cell.contenders:
            figure = cell.figure(contender, metric)
            if figure and not contender.endswith(PAIRED):
                values[contender] = figure.median
    return [charts.bars(name, title, values, unit)]


def _instructions(cells: list[Cell]) -> list[Picture | None]:
    return _one_bar_each(cells, "instructions", "instructions", "Instructions of one append", "instructions")


def _compile_time(cells: list[Cell]) -> list[Picture | None]:
    return _one_bar_each(cells, "time", "compile-time", "Processor time to compile a file with one vector", "s")


def _push_back(cells: list[Cell]) -> list[Picture | None]:
    counted = [cell for cell in cells if cell.parameters.get("elements")]
    rows = charts.rows_over(counted, "elements", _per_element, _element, "time")
    return [
        charts.sweep(
            "push-back",
            "A vector's life divided by its elements: made, filled by push_back, destroyed",
            rows,
            "elements",
            "elements",
            "time per element",
            "s",
            "panel",
        )
    ]


ACTIONS = ["construct", "push_back", "pop_back", "copy", "insert", "erase"]


def _by_action(cells: list[Cell], panel) -> list[dict]:
    rows = []
    for cell in cells:
        for name in cell.contenders:
            for action in ACTIONS:
                figure = cell.figure(name, action)
                if figure is None or name.endswith(PAIRED):
                    continue
                against = cell.ratio(action, name, YARDSTICK)
                rows.append(
                    {
                        "contender": name,
                        "panel": panel(cell),
                        "part": action,
                        "value": charts.short(figure.median),
                        "text": words.figure(figure),
                        "against": words.ratio(against.median) if against else "—",
                    }
                )
    return rows


def _simulation(cells: list[Cell]) -> list[Picture | None]:
    rows = _by_action(cells, _element)
    lines = []
    for cell in cells:
        for name in cell.contenders:
            if name.endswith(PAIRED):
                continue
            until = cell.sequence(name, "time_by_iteration")
            iterations = cell.parameters.get("iterations")
            if until and isinstance(iterations, int):
                for stretch, seconds in enumerate(until, start=1):
                    if seconds > 0 and stretch % 2 == 0:
                        lines.append(
                            {
                                "contender": name,
                                "panel": str(cell.parameters.get("element")),
                                "x": iterations * stretch // len(until),
                                "y": charts.short(seconds),
                                "text": words.seconds(seconds),
                            }
                        )
    iterations = {cell.parameters.get("iterations") for cell in cells}
    after = f", {iterations.pop()} iterations" if len(iterations) == 1 else ""
    return [
        charts_grid.stacked(
            "simulation",
            f"Seconds in each action{after}, by element type",
            rows,
            ACTIONS,
            "Stacked bars: one bar for each vector, made of the seconds in each of six actions; one panel for each element type.",
        ),
        charts_grid.lines(
            "simulation-iterations",
            "Seconds in all actions up to an iteration",
            lines,
            "iterations",
            "seconds so far",
            "Lines over iterations, one for each vector; one panel for each element type.",
        ),
    ]


def _pressure(cells: list[Cell]) -> list[Picture | None]:
    found = charts_grid.stacked(
        "pressure",
        "Seconds in each action while memory is short",
        _by_action(cells, lambda cell: words.parameter("limit", cell.parameters.get("limit", 0))),
        ACTIONS,
        "Stacked bars: one bar for each vector, made of the seconds in each of six actions.",
    )
    return [found]


def _reset_words(cells: list[Cell]) -> list[Picture | None]:
    rows = []
    for cell in cells:
        for name in cell.contenders:
            ratio, figure = cell.ratio("time", name, YARDSTICK), cell.figure(name, "time")
            if ratio is None or figure is None or name.endswith(PAIRED):
                continue
            rows.append(
                {
                    "contender": name,
                    "panel": words.configuration(cell.parameters),
                    "value": charts.short(ratio.median),
                    "text": f"{words.ratio(ratio.median)}  ({words.quantity(figure.median, figure.unit)})",
                    "hover": words.figure(figure),
                }
            )
    return [
        charts_grid.panel_bars(
            "reset-words",
            "Time of all searches, divided by std::vector's",
            rows,
            "÷ std::vector",
            "A bar for each vector, one panel for each number of states.",
            1.0,
            340,
        )
    ]


PICTURES = {
    "throughput": _throughput,
    "memory": _memory,
    "latency": _latency,
    "one-growth": _one_growth,
    "commit-cost": _commit_cost,
    "growth": _growth,
    "instructions": _instructions,
    "compile-time": _compile_time,
    "push-back": _push_back,
    "simulation": _simulation,
    "pressure": _pressure,
    "reset-words": _reset_words,
    **MEMORY_PICTURES,
}
