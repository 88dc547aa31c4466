"""One section for each experiment: pictures, our tables, the published tables beside ours."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import catalogue, charts, published, words
from .catalogue import Contest, Experiment
from .charts import Picture
from .figures import PAIRED, Cell, noise
from .style import arrange
from .tables import Column, Entry, Table

YARDSTICK = "std::vector"
PAGE_BY_PAGE = "headroom::settled_vector/page_by_page"
DEFAULT = "headroom::settled_vector"
# Who plays whose part when a document's table is laid beside ours.
PARTS = {"DynArray": PAGE_BY_PAGE, "std::vector": YARDSTICK}


@dataclass
class Section:
    experiment: Experiment
    cells: list[Cell]
    absent: dict[str, str]  # contender: why
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)  # in view
    beside: list[Table] = field(default_factory=list)  # published and here
    agreement: list[str] = field(default_factory=list)  # in words
    details: list[Table] = field(default_factory=list)  # folded away
    noise: dict[str, float] = field(default_factory=dict)  # contest metric: A/A
    command: str = ""

    @property
    def ran(self) -> bool:
        return any(cell.ok(contender) for cell in self.cells for contender in cell.contenders)


def build(experiment: Experiment, cells: list[Cell], absent: dict[str, str]) -> Section:
    own = sorted((cell for cell in cells if cell.experiment == experiment.id), key=lambda cell: words.order(cell.parameters))
    section = Section(experiment, own, absent, command=f"./dev lab --filter {experiment.id}")
    for contest in experiment.contests:
        apart = noise(own, contest.metric)
        if apart is not None:
            section.noise[contest.metric] = apart
    if section.ran:
        for contest in experiment.contests + (experiment.more if experiment.id == "commit-cost" else ()):
            table = contest_table(own, contest, section.noise.get(contest.metric), experiment.id != "commit-cost")
            if table.rows:
                section.tables.append(table)
        if experiment.id == "growth":
            section.tables.append(growth_table(own))
        section.pictures = [picture for picture in PICTURES.get(experiment.id, lambda cells: [])(own) if picture]
        section.details.append(every_figure(own, experiment))
        if experiment.id == "latency":
            section.details.append(decades_here(own))
    BESIDE.get(experiment.id, lambda section: None)(section)
    for table in published.of_experiment(experiment.id):
        section.details.append(published_table(table))
    return section


def contest_table(cells: list[Cell], contest: Contest, apart: float | None = None, compared: bool = True) -> Table:
    """A row for each configuration, a column for each contender: its median, and in brackets the ratio to std::vector's."""
    cells = [cell for cell in cells if any(contest.metric in run.metrics for name in cell.contenders for run in cell.ok(name))]
    names = arrange({name for cell in cells for name in cell.contenders})
    table = Table([Column("what")] + [Column(name, number=True, contender=name) for name in names],
                  caption=contest.title)
    for cell in cells:
        figures = {name: cell.figure(name, contest.metric) for name in names}
        known = [figure.median for figure in figures.values() if figure]
        yardstick = figures.get(YARDSTICK)
        row = [Entry(words.configuration(cell.parameters), sort=_rank(cells, cell))]
        for name in names:
            figure = figures[name]
            if figure is None:
                row.append(_ending(cell, name))
                continue
            text, mark = words.quantity(figure.median, figure.unit), ""
            if yardstick and name != YARDSTICK and yardstick.median:
                ratio = figure.median / yardstick.median
                text += f" ({words.ratio(ratio)})"
                if apart is not None and abs(ratio - 1) <= apart:
                    mark = "quiet"
            if compared and figure.median == min(known) and len(known) > 1 and min(known) < max(known):
                text, mark = text + " *", mark or "best"
            row.append(Entry(text, figure.median, mark, f"{words.figure(figure)}, {figure.rounds} rounds", name))
        table.rows.append(row)
    if not compared:
        return table    # these are different things, not different ways to do one
    table.notes.append(f"In brackets: divided by {YARDSTICK}'s. * marks the least of the row."
                       + (f" Grey: within {words.share(apart)}, which is how far two runs of the same contender lay apart."
                          if apart is not None else ""))
    return table


def _rank(cells: list[Cell], cell: Cell) -> float:
    return float(cells.index(cell))


def _ending(cell: Cell, name: str) -> Entry:
    outcome = cell.outcome(name)
    if outcome in (None, "ok"):
        return Entry("—", float("inf"), contender=name)
    return Entry(outcome, float("inf"), "bad" if outcome not in ("absent", "not_run") else "unknown", cell.detail(name), name)


def every_figure(cells: list[Cell], experiment: Experiment) -> Table:
    """The long form: a row for each contender in each configuration and measure, with its spread."""
    table = Table([Column("what"), Column("measure"), Column("contender"), Column("median", True), Column("lowest", True),
                   Column("highest", True), Column("rounds", True), Column(f"÷ {YARDSTICK}", True), Column("ended")],
                  caption="Every figure, with its spread")
    for cell in cells:
        for contest in experiment.contests + experiment.more:
            for name in arrange(set(cell.contenders)):
                figure = cell.figure(name, contest.metric)
                outcome = cell.outcome(name) or ""
                if figure is None:
                    if outcome not in ("ok", "") and contest == (experiment.contests + experiment.more)[0]:
                        table.rows.append([Entry(words.configuration(cell.parameters), sort=_rank(cells, cell)), Entry(contest.title),
                                           Entry(name, contender=name)] + [Entry("—", float("inf"))] * 3
                                          + [Entry("0", 0.0), Entry("—", float("inf")), Entry(outcome, mark="bad", hover=cell.detail(name))])
                    continue
                ratio = cell.ratio(contest.metric, name, YARDSTICK)
                table.rows.append([
                    Entry(words.configuration(cell.parameters), sort=_rank(cells, cell)), Entry(contest.title), Entry(name, contender=name),
                    Entry(words.quantity(figure.median, figure.unit), figure.median),
                    Entry(words.quantity(figure.low, figure.unit), figure.low),
                    Entry(words.quantity(figure.high, figure.unit), figure.high), Entry(str(figure.rounds), float(figure.rounds)),
                    Entry(words.ratio(ratio.median), ratio.median) if ratio else Entry("—", float("inf")),
                    Entry(outcome, mark="" if outcome == "ok" else "bad", hover=cell.detail(name))])
    return table


def growth_table(cells: list[Cell]) -> Table:
    table = Table([Column("contender"), Column("growths", True), Column("changes of address", True), Column("bytes moved", True),
                   Column("unused at its most", True), Column("unused at the end", True), Column("first sizes at growth")],
                  caption="What growing to 1,000,000 ints does")
    for cell in cells:
        for name in arrange(set(cell.contenders)):
            figures = [cell.figure(name, metric) for metric in ("growths", "address_changes", "bytes_moved", "unused_most", "unused")]
            sequence = cell.sequence(name, "grows_at")
            if sequence is None:
                continue
            numbers = [Entry(words.quantity(figure.median, figure.unit), figure.median) if figure else Entry("—", float("inf"))
                       for figure in figures]
            text = ", ".join(f"{value:,.0f}" for value in sequence[:8])
            if len(sequence) > 8:
                text += f" … {sequence[-1]:,.0f}"
            table.rows.append([Entry(name, contender=name)] + numbers + [Entry(text)])
    return table


def decades_here(cells: list[Cell]) -> Table:
    """Our appends in the document's own columns."""
    bounds = published.tables()["reserve_and_commit_latency"].columns[8:]
    table = Table([Column("what"), Column("contender"), Column("least", True), Column("longest", True)]
                  + [Column(_decade(name), True) for name in bounds], caption="Appends by how long they took, in the document's decades")
    for cell in cells:
        for name in arrange(set(cell.contenders)):
            counts = cell.sequence(name, "append_decades")
            least, longest = cell.figure(name, "append_min"), cell.figure(name, "append_max")
            if counts is None or least is None or longest is None:
                continue
            table.rows.append([Entry(words.configuration(cell.parameters), sort=_rank(cells, cell)), Entry(name, contender=name),
                               Entry(words.seconds(least.median), least.median), Entry(words.seconds(longest.median), longest.median)]
                              + [Entry(f"{count:,.0f}", count) for count in counts])
    return table


def _decade(column: str) -> str:
    return column.replace("_", " ").replace("below ", "< ").replace("at least ", "≥ ").replace("us", " µs").replace("ms", " ms").replace("  ", " ")


def published_table(table: published.Table) -> Table:
    """A document's table as printed."""
    source = table.source
    result = Table([Column(_title(name), number=any(isinstance(row[i], (int, float)) for row in table.rows))
                    for i, name in enumerate(table.columns)],
                   caption=f"As published: {source['document']}, {source['place']}",
                   notes=[f"{name}: {text}." for name, text in table.machines.items()] + table.notes)
    for row in table.rows:
        result.rows.append([_printed(name, value) for name, value in zip(table.columns, row)])
    return result


def _title(column: str) -> str:
    if column.startswith(("below_", "at_least_")) and column.endswith(("us", "ms")):
        return _decade(column)
    for ending, unit in (("_seconds", " (s)"), ("_bytes", " (B)"), ("_microseconds", " (µs)")):
        if column.endswith(ending):
            return column.removesuffix(ending).replace("_", " ") + unit
    return column.replace("_", " ")


def _printed(column: str, value: object) -> Entry:
    if value is None:
        return Entry("—", float("inf"))
    if isinstance(value, float):
        return Entry(f"{value:.6f}".rstrip("0").rstrip("."), value)
    if isinstance(value, int):
        return Entry(words.power(value) if column == "elements" else f"{value:,}", float(value))
    return Entry(str(value))


# --- published beside ours ------------------------------------------------------------------------------------------------

def _beside(section: Section, table_id: str, column: str, metric: str, unit: str, what: str, system: str = "Linux") -> None:
    """The document's ratio DynArray / std::vector beside ours, row by row, and in how many rows the order is the same."""
    source = published.tables()[table_id]
    keys = [name for name in ("optimisation", "elements", "element") if name in source.columns]
    table = Table([Column("what"), Column("DynArray, published", True), Column("std::vector, published", True),
                   Column("ratio, published", True), Column("page by page, here", True), Column("std::vector, here", True),
                   Column("ratio, here", True), Column("Headroom's default, ratio here", True), Column("same order?")],
                  caption=f"{what}: published ({system}) and here",
                  notes=[f"Published on: {source.machines[system]}. “Page by page” is {PAGE_BY_PAGE}, the document's DynArray."])
    agree, differ = [], []
    left_out = 0
    rows = [record for record in source.records({"system": system}) if record["contender"] == "DynArray"]
    rows.sort(key=lambda record: words.order({name: record[name] for name in keys}))
    for position, record in enumerate(rows):
        where = {name: record[name] for name in keys}
        (other,) = source.records({**where, "system": system, "contender": "std::vector"})
        cell = next((cell for cell in section.cells if not cell.parameters.get("warm")
                     and all(cell.parameters.get(name) == value for name, value in where.items())), None)
        there = record[column] / other[column] if record[column] is not None and other[column] else None
        here = cell.ratio(metric, PAGE_BY_PAGE, YARDSTICK) if cell else None
        ours = cell.ratio(metric, DEFAULT, YARDSTICK) if cell else None
        if cell is None:
            left_out += 1
            continue
        label = words.configuration(where)
        same, mark = "not run" if here is None else "—", "unknown"
        if there is not None and here is not None:
            if (there < 1) == (here.median < 1):
                same, mark = "yes", "good"
                agree.append(label)
            else:
                same, mark = "no", "bad"
                differ.append(f"{label}: {words.ratio(there)} published, {words.ratio(here.median)} here")
        figures = [cell.figure(name, metric) if cell else None for name in (PAGE_BY_PAGE, YARDSTICK)]
        table.rows.append([
            Entry(label, float(position)),
            _there(record, column, unit), _there(other, column, unit), Entry(words.ratio(there), there) if there is not None else Entry("—", float("inf")),
            *[Entry(words.quantity(figure.median, figure.unit), figure.median) if figure else
              (_ending(cell, name) if cell else Entry("—", float("inf"))) for figure, name in zip(figures, (PAGE_BY_PAGE, YARDSTICK))],
            Entry(words.ratio(here.median), here.median) if here else Entry("—", float("inf")),
            Entry(words.ratio(ours.median), ours.median) if ours else Entry("—", float("inf")),
            Entry(same, mark=mark)])
    if left_out:
        table.notes.append(f"{left_out} more configurations of the document were not run here; they stand in its table below.")
    if table.rows:
        section.beside.append(table)
    total = len(agree) + len(differ)
    if total:
        section.agreement.append(f"{what}: in {len(agree)} of {total} configurations that the document has for {system} and that were run here, the "
                                 f"page-by-page array and std::vector stand in the same order as in the document.")
        section.agreement += [f"Otherwise than published: {text}." for text in differ]


def _there(record: dict, column: str, unit: str) -> Entry:
    if record[column] is None:
        return Entry(str(record["outcome"]), float("inf"), "bad")
    return Entry(words.quantity(record[column], unit), float(record[column]))


def _memory_beside(section: Section) -> None:
    _beside(section, "reserve_and_commit_memory", "peak_resident_bytes", "peak_resident", "B", "Peak resident memory")


def _throughput_beside(section: Section) -> None:
    _beside(section, "reserve_and_commit_throughput", "seconds", "time", "s", "Time to build")


def _latency_beside(section: Section) -> None:
    _beside(section, "reserve_and_commit_latency", "max_seconds", "append_max", "s", "Longest append")


def _growth_beside(section: Section) -> None:
    source = published.tables()["vector_reallocation_sequences"]
    pairs = (("libstdc++ (GCC 4.6.1)", YARDSTICK), ("MSVC (Visual Studio 2010)", "headroom::geometric<3,2>"))
    columns = [source.column("elements", {"implementation": name}) for name, _ in pairs]
    here = [next((cell.sequence(contender, "grows_at") for cell in section.cells if cell.sequence(contender, "grows_at")), None)
            for _, contender in pairs]
    table = Table([Column("growth", True)] + [Column(title, True) for (name, contender) in pairs
                                              for title in (f"{name}, published", f"{contender}, here")],
                  caption="Elements held at each growth: published and here")
    for i in range(max(len(column) for column in columns)):
        row = [Entry(str(i + 1), float(i))]
        for column, ours in zip(columns, here):
            for values in (column, ours):
                row.append(Entry(f"{values[i]:,.0f}", float(values[i])) if values and i < len(values) else Entry("—", float("inf")))
        table.rows.append(row)
    section.beside.append(table)
    for (name, contender), column, ours in zip(pairs, columns, here):
        if ours is None:
            continue
        if list(ours) == column:
            section.agreement.append(f"{contender} grows here exactly as {name} is printed: {len(column)} times, last at {column[-1]:,}.")
        else:
            section.agreement.append(f"{contender} grows here {len(ours)} times, last at {ours[-1]:,.0f}; {name} is printed with "
                                     f"{len(column)}, last at {column[-1]:,}.")


def _one_growth_beside(section: Section) -> None:
    ratios = [(cell.parameters.get("bytes"), cell.ratio("time", DEFAULT, YARDSTICK)) for cell in section.cells]
    ratios = [(size, ratio) for size, ratio in ratios if ratio and isinstance(size, int)]
    table = Table([Column("size"), Column("published"), Column("here, settled_vector ÷ std::vector")], caption="Published and here")
    for row in published.tables()["4gb_per_vector"].records():
        low, high = row["from_bytes"], row["below_bytes"]
        inside = [(size, ratio) for size, ratio in ratios if size >= low and (high is None or size < high)]
        if inside:
            best, worst = min(ratio.median for _, ratio in inside), max(ratio.median for _, ratio in inside)
            text = f"{words.ratio(best)} to {words.ratio(worst)} over {len(inside)} sizes, {words.size(inside[0][0])} to {words.size(inside[-1][0])}"
            if high is not None:
                section.agreement.append(f"Under {words.size(high)} the document has std::vector ahead; here settled_vector takes {text.split(' over')[0]} times "
                                         f"its time" + (": it is ahead at every size." if worst < 1 else "."))
            else:
                section.agreement.append(f"From {words.size(low)} the document has settled_vector up to 35% faster (0.65); here its best is {words.ratio(best)}.")
        else:
            text = "not run"
        table.rows.append([Entry(f"under {words.size(high)}" if high else f"from {words.size(low)}"), Entry(row["statement"]), Entry(text)])
    section.beside.append(table)


def _commit_beside(section: Section) -> None:
    """The document's histograms of its system's commit call, and of our commit and first touch at one page."""
    source = published.tables()["reserve_and_commit_system_calls"]
    cell = next((cell for cell in section.cells if cell.parameters.get("pages") == 1), None)
    theirs = [("bench2.exe", "NtAllocateVirtualMemory"), ("bench0.exe", "VirtualAlloc"), ("bench0.exe", "DynArray<int>::Append")]
    ours = [name for name in ("commit", "first_touch", "populate") if cell and cell.histogram(name, "call_histogram")]
    table = Table([Column("from (µs)", True)] + [Column(f"{function}, published", True) for _, function in theirs]
                  + [Column(f"{name}, here", True) for name in ours], caption="How many calls took how long: published (Windows) and here (one page)",
                  notes=["A row counts the calls from its time up to the next row's."])
    counts = []
    for program, function in theirs:
        counts.append({row["at_least_microseconds"]: row["count"] for row in source.records({"program": program, "function": function})})
    for name in ours:
        found = cell.histogram(name, "call_histogram")
        bins: dict[int, float] = {}
        for value, count in zip(found.values, found.counts):
            micro = int(value * 1e6)
            low = 1 << (micro.bit_length() - 1) if micro else 0
            bins[low] = bins.get(low, 0) + count
        counts.append(bins)
    for low in [0] + [1 << power for power in range(20)]:
        if any(column.get(low) for column in counts):
            table.rows.append([Entry(f"{low:,}", float(low))] + [Entry(f"{column.get(low, 0):,.0f}", float(column.get(low, 0))) for column in counts])
    section.beside.append(table)


BESIDE = {"memory": _memory_beside, "throughput": _throughput_beside, "latency": _latency_beside, "growth": _growth_beside,
          "one-growth": _one_growth_beside, "commit-cost": _commit_beside}


# --- pictures ---------------------------------------------------------------------------------------------------------------

def _per_element(cell: Cell, contender: str):
    figure = cell.figure(contender, "time")
    if figure is None:
        return None
    count = cell.parameters["elements"]
    return figure.median / count, figure.low / count, figure.high / count, f"{words.seconds(figure.median / count)} an element; {words.figure(figure)}"


def _throughput(cells: list[Cell]) -> list[Picture | None]:
    fresh = [cell for cell in cells if not cell.parameters.get("warm")]
    warm = [cell for cell in cells if cell.parameters.get("warm")]
    pictures = []
    for level, title in (("O2", "optimised, -O2"), ("O1", "-O1"), ("O0", "not optimised, -O0")):
        chosen = [cell for cell in fresh if cell.parameters.get("optimisation") == level]
        rows = charts.rows_over(chosen, "elements", _per_element, lambda cell: str(cell.parameters.get("element")), "time")
        pictures.append(charts.sweep(f"throughput-{level}", f"Time per appended element, {title}", rows, "elements", "elements",
                                     "time per element", "s", "panel"))
    rows = charts.rows_over(warm, "elements", _per_element, None, "time")
    pictures.append(charts.sweep("throughput-warm", "Time per appended int when the process is warm, -O2", rows, "elements", "elements",
                                 "time per element", "s"))
    return pictures


def _memory(cells: list[Cell]) -> list[Picture | None]:
    def value(cell: Cell, contender: str):
        peak, base, payload = (cell.figure(contender, metric) for metric in ("peak_resident", "baseline", "payload"))
        if not (peak and base and payload) or not payload.median:
            return None
        low, middle, high = ((figure - base.median) / payload.median for figure in (peak.low, peak.median, peak.high))
        return middle, low, high, f"{words.ratio(middle)} bytes for each byte; peak {words.figure(peak)}"
    rows = charts.rows_over(cells, "elements", value, None, "peak_resident")
    return [charts.sweep("memory", "Memory at the peak for each byte of elements", rows, "elements", "elements", "bytes of memory per byte",
                         "", y_line=1.0)]


def _one_growth(cells: list[Cell]) -> list[Picture | None]:
    def value(cell: Cell, contender: str):
        ratio, figure = cell.ratio("time", contender, YARDSTICK), cell.figure(contender, "time")
        if ratio is None or figure is None:
            return None
        return ratio.median, ratio.low, ratio.high, words.figure(figure)
    rows = charts.rows_over(cells, "bytes", value, None, "time")
    return [charts.sweep("one-growth", "Time of one life, divided by std::vector's", rows, "bytes", "size", "÷ std::vector", "", y_line=1.0)]


def _latency(cells: list[Cell]) -> list[Picture | None]:
    chosen = [cell for cell in cells if cell.parameters.get("optimisation") == "O2" and cell.parameters.get("element") == "int"
              and any(cell.histogram(name, "append_histogram") for name in cell.contenders)]
    pictures = []
    if chosen:
        cell = max(chosen, key=lambda cell: cell.parameters["elements"])
        samples = {}
        for name in cell.contenders:
            found = cell.histogram(name, "append_histogram")
            if found and not name.endswith(PAIRED):
                samples[name] = (found.values, found.counts)
        pictures.append(charts.histograms("latency-histogram", f"Appends by how long they took: {words.configuration(cell.parameters)}, all rounds",
                                          samples, "time of one append"))

    def value(cell: Cell, contender: str):
        figure = cell.figure(contender, "append_max")
        return None if figure is None else (figure.median, figure.low, figure.high, words.figure(figure))
    optimised = [cell for cell in cells if cell.parameters.get("optimisation") == "O2"]
    rows = charts.rows_over(optimised, "elements", value, lambda cell: str(cell.parameters.get("element")), "append_max")
    pictures.append(charts.sweep("latency-longest", "Longest single append, -O2", rows, "elements", "elements", "longest append", "s", "panel"))
    return pictures


def _commit_cost(cells: list[Cell]) -> list[Picture | None]:
    def value(cell: Cell, contender: str):
        figure = cell.figure(contender, "time_per_page")
        return None if figure is None else (figure.median, figure.low, figure.high, words.figure(figure))
    pictures = [charts.sweep("commit-cost", "Time per page of each call", charts.rows_over(cells, "pages", value), "pages", "pages in one call",
                             "time per page", "s")]
    one = next((cell for cell in cells if cell.parameters.get("pages") == 1), None)
    if one:
        samples = {}
        for name in one.contenders:
            found = one.histogram(name, "call_histogram")
            if found and not name.endswith(PAIRED):
                samples[name] = (found.values, found.counts)
        pictures.append(charts.histograms("commit-cost-histogram", "Calls by how long they took: one page", samples, "time of one call"))
    return pictures


def _growth(cells: list[Cell]) -> list[Picture | None]:
    sequences = {}
    for cell in cells:
        for name in cell.contenders:
            found = cell.sequence(name, "grows_at")
            if found and not name.endswith(PAIRED):
                sequences[name] = found
    return [charts.marks("growth", "Sizes at which each vector grows", sequences, "elements held")]


def _instructions(cells: list[Cell]) -> list[Picture | None]:
    values = {}
    for cell in cells:
        for name in cell.contenders:
            figure = cell.figure(name, "instructions")
            if figure and not name.endswith(PAIRED):
                values[name] = figure.median
    return [charts.bars("instructions", "Instructions of one append", values, "instructions")]


PICTURES = {"throughput": _throughput, "memory": _memory, "latency": _latency, "one-growth": _one_growth,
            "commit-cost": _commit_cost, "growth": _growth, "instructions": _instructions}


def absent_contenders(runs) -> dict[str, str]:
    """Who was left out in every experiment, and why."""
    gone = {run.contender: run.detail for run in runs if run.outcome == "absent"}
    there = {run.contender for run in runs if run.outcome != "absent"}
    return {name: why for name, why in gone.items() if name not in there}


def every_experiment(cells: list[Cell], absent: dict[str, str]) -> list[Section]:
    known = [build(experiment, cells, absent) for experiment in catalogue.EXPERIMENTS]
    extra = []
    for name in dict.fromkeys(cell.experiment for cell in cells):
        if catalogue.by_id(name) is None:
            extra.append(unknown(name, cells, absent))
    return known + extra


def unknown(name: str, cells: list[Cell], absent: dict[str, str]) -> Section:
    """An experiment that this report was not written for still gets its figures shown, measure by measure."""
    own = [cell for cell in cells if cell.experiment == name]
    metrics: dict[str, None] = {}
    for cell in own:
        for contender in cell.contenders:
            for run in cell.ok(contender):
                metrics.update((metric, None) for metric, value in run.metrics.items() if not value.counts and len(value.values) == 1)
    measures = tuple(Contest(metric, metric.replace("_", " ")) for metric in metrics if metric != "checksum")
    experiment = Experiment(name, name.replace("-", " ").capitalize(), f"Results of the experiment “{name}”.", catalogue.OTHERS.get(name, "not known to this report"),
                            "This report has no picture for this experiment; its figures stand below.", more=measures)
    section = Section(experiment, own, absent, command=f"./dev lab --filter {name}")
    section.details.append(every_figure(own, experiment))
    return section
