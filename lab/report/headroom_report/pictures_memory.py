"""Pictures of the experiments on memory resources: P0089R0's four benchmarks, and shared objects."""

from __future__ import annotations

from . import charts, charts_grid, published, words
from .catalogue import by_id
from .charts import Picture
from .figures import PAIRED, Cell
from .strategies import GLOBAL, STRATEGIES, implementation, is_default, is_floor, is_peer, least, strategy

MOST_PANELS = 3  # sizes in one picture
COLUMNS = list(STRATEGIES)


def plain(cell: Cell) -> bool:
    """A clean heap, and malloc as it comes: the state that every picture shows."""
    return cell.parameters.get("heap", "clean") == "clean" and cell.parameters.get("trimming", True) is not False


def number(structure: object) -> int:
    return int("".join(letter for letter in str(structure) if letter.isdigit()) or 0)


def label(cell: Cell) -> str:
    return f"{cell.parameters.get('structure')} {cell.parameters.get('contents', '')}".strip()


def sizes(cells: list[Cell]) -> dict[int, list[Cell]]:
    """Cells by their rank among the sizes of their structure: the smallest, the middle one, the largest."""
    of: dict[str, list[Cell]] = {}
    for cell in cells:
        if plain(cell) and isinstance(cell.parameters.get("size_exponent"), int):
            of.setdefault(str(cell.parameters.get("structure")), []).append(cell)
    ranks: dict[int, list[Cell]] = {}
    for own in of.values():
        own.sort(key=lambda cell: cell.parameters["size_exponent"])
        chosen = own if len(own) <= MOST_PANELS else [own[0], own[len(own) // 2], own[-1]]
        for rank, cell in enumerate(chosen):
            ranks.setdefault(rank, []).append(cell)
    return ranks


def panel_title(cells: list[Cell]) -> str:
    exponents = sorted({cell.parameters["size_exponent"] for cell in cells}, reverse=True)
    text = f"{words.power2(exponents[0])} elements"
    return text if len(exponents) == 1 else f"{text} (nested: {words.power2(exponents[-1])})"


def _structures(cells: list[Cell]) -> list[Picture | None]:
    rows = []
    ranks = sizes(cells)
    order = [label(cell) for cell in sorted(cells, key=lambda cell: number(cell.parameters.get("structure")))]
    for rank in sorted(ranks):
        title = panel_title(ranks[rank])
        for who, admits in (("Headroom", is_default), ("the best of the others", is_peer)):
            for cell in ranks[rank]:
                below = cell.figure(GLOBAL, "time")
                if below is None or not below.median:
                    continue
                for name in COLUMNS:
                    found = least(cell, name, "time", admits if not name in ("AS1", "AS2") else is_peer)
                    if found is None:
                        continue
                    value = found[1].median / below.median
                    rows.append(
                        {
                            "x": name.removeprefix("AS"),
                            "y": label(cell),
                            "panel": f"{who}, {title}",
                            "value": value,
                            "text": words.ratio(value).lstrip("0") or "0",
                            "hover": f"{implementation(found[0])}: {words.figure(found[1])} a leaf, {words.ratio(value)} × AS1",
                        }
                    )
    here = charts_grid.heat(
        "data-structures",
        "Time of a leaf divided by std::allocator's, by data structure and allocation strategy (AS)",
        rows,
        [name.removeprefix("AS") for name in COLUMNS],
        list(dict.fromkeys(order)),
        "AS",
        "",
        (0.1, 10),
        True,
        "Heat maps: a row for each data structure, a column for each allocation strategy, once for Headroom's resources and once "
        "for the best of the others, at each size.",
        step=(24, 17),
    )
    return [here, _published_structures(ranks)]


def swapped(table: published.Table, record: dict[str, object]) -> dict[str, object]:
    """A printed row with the monotonic and multipool columns put back where they belong."""
    result = dict(record)
    for first, second in table.extra["erratum"]["swapped_columns"]:
        result[first], result[second] = record[second], record[first]
    return result


def _published_structures(ranks: dict[int, list[Cell]]) -> Picture | None:
    """The document's own tables at the sizes measured here, in both readings and the same colours."""
    table = published.tables()["p0089_data_structures"]
    wanted = {cell.parameters["size_exponent"] for cells in ranks.values() for cell in cells}
    there = sorted({record["size exponent"] for record in table.records()} & wanted) or [6, 16]
    rows = []
    for size in ([there[0], there[-1]] if len(there) > 1 else there):
        for reading in ("columns put right", "as printed"):
            for record in table.records({"size exponent": size}):
                cells = swapped(table, record) if reading == "columns put right" else record
                for name in COLUMNS:
                    if cells[name] is None:
                        continue
                    value = cells[name] / cells["AS1"]
                    rows.append(
                        {
                            "x": name.removeprefix("AS"),
                            "y": f"{record['id']} {record['data structure']}",
                            "panel": f"Published, {reading}, {words.power2(size)} elements",
                            "value": value,
                            "text": words.ratio(value).lstrip("0"),
                            "hover": f"{cells[name]} s for 2²⁷ leaves, {words.ratio(value)} × AS1",
                        }
                    )
    return charts_grid.heat(
        "data-structures-published",
        "The same in the document (tables 3 to 14), read with its columns put right and as printed; its AS1 and AS2 ran on a scrambled heap",
        rows,
        [name.removeprefix("AS") for name in COLUMNS],
        list(dict.fromkeys(row["y"] for row in rows)),
        "AS",
        "",
        (0.1, 10),
        True,
        "Heat maps of the document's own figures, in both readings.",
        step=(24, 17),
    )


def _locality(cells: list[Cell]) -> list[Picture | None]:
    tables = [cell for cell in cells if cell.parameters.get("sf") == 5 and isinstance(cell.parameters.get("links"), int)]
    rows = []
    largest = max((cell.parameters["links"] for cell in tables), default=0)
    tables = [cell for cell in tables if cell.parameters["links"] == largest]
    most = max((cell.parameters.get("af", 1) for cell in tables), default=1)
    exponents = sorted({cell.parameters["subsystem_links"] for cell in tables}, reverse=True)
    names = sorted(
        {name for cell in tables for name in cell.contenders if not name.endswith(PAIRED)},
        key=lambda name: (name != GLOBAL, not is_default(name), name),
    )
    for name in names:
        for cell in tables:
            figure = cell.figure(name, "degradation")
            after, before = cell.figure(name, "time"), cell.figure(name, "time_before")
            if figure is None:
                continue
            halvings = (most // max(1, cell.parameters.get("af", 1))).bit_length() - 1
            rows.append(
                {
                    "x": f"2{str(-halvings).translate(words.SUPERSCRIPT)}" if halvings else "2⁰",
                    "y": words.count2(cell.parameters["subsystem_links"]),
                    "panel": _short_name(implementation(name)) if name != GLOBAL else "no local allocator",
                    "value": figure.median,
                    "text": words.ratio(figure.median),
                    "hover": f"{words.ratio(figure.median)} times as slow"
                    + (f": {words.seconds(before.median)} before, {words.seconds(after.median)} after" if before and after else ""),
                }
            )
    across = sorted({row["x"] for row in rows}, key=lambda text: -_exponent(text))
    down = [words.count2(value) for value in exponents]
    what = (
        "Heat maps: a row for each size of a list, a column for each temporal locality (how often a list is read before the next is "
        "turned to), one panel for each allocator."
    )
    grid = charts_grid.heat(
        "locality",
        f"Time of an access after shuffling divided by the time before; {words.count2(largest)} links in all" if largest else "",
        rows,
        across,
        down,
        "temporal locality",
        "links in a list",
        (1, 20),
        False,
        what,
        columns=6 if len(across) < 4 else 2,
        step=(60 if len(across) < 4 else 38, 18),
    )
    return [grid, _published_locality(), _shuffles(cells)]


def _short_name(name: str) -> str:
    """Narrow enough to stand over a narrow panel."""
    library, _, rest = name.partition("::")
    return f"{library}: {rest.rsplit('::', 1)[-1].removesuffix('_resource')}" if rest else name


def _exponent(text: str) -> int:
    return -int("".join(str("⁰¹²³⁴⁵⁶⁷⁸⁹".index(letter)) for letter in text[1:] if letter in "⁰¹²³⁴⁵⁶⁷⁸⁹") or 0)


def _published_locality() -> Picture | None:
    source = published.tables()["p0089_locality"]
    rows = []
    down = []
    for record in source.records({"system exponent": 21}):
        if record["table"] not in (16, 18):
            continue
        down.append(words.power2(record["subsystem exponent"]))
        for column in source.columns[4:]:
            power = column.removeprefix("2^-")
            rows.append(
                {
                    "x": "2⁰" if power == "0" else "2" + ("-" + power).translate(words.SUPERSCRIPT),
                    "y": words.power2(record["subsystem exponent"]),
                    "panel": "Published: " + ("no local allocator" if record["table"] == 16 else "a local multipool"),
                    "value": record[column],
                    "text": words.ratio(record[column]),
                    "hover": f"{record[column]} times as slow",
                }
            )
    across = sorted({row["x"] for row in rows}, key=lambda text: -_exponent(text))
    return charts_grid.heat(
        "locality-published",
        "The same in the document (tables 16 and 18): 2²¹ links, 2,560 accesses to each",
        rows,
        across,
        list(dict.fromkeys(down)),
        "temporal locality",
        "links in a list",
        (1, 20),
        False,
        "Heat maps of the document's own figures, without local allocators and with a local multipool.",
        step=(38, 15),
    )


def _shuffles(cells: list[Cell]) -> Picture | None:
    """Table 15: how much each further shuffle adds, with the global allocator."""
    rows = []
    for cell in cells:
        if cell.parameters.get("af") != 10 or not isinstance(cell.parameters.get("sf"), int):
            continue
        figure = cell.figure(GLOBAL, "degradation")
        if figure is None:
            continue
        rows.append(
            {
                "x": str(cell.parameters["sf"]),
                "y": words.count2(cell.parameters["subsystem_links"]),
                "panel": f"here, {words.count2(cell.parameters.get('links'))} links",
                "value": figure.median,
                "text": words.ratio(figure.median),
                "hover": f"{words.ratio(figure.median)} times as slow",
            }
        )
    if not rows:
        return None
    table = published.tables()["p0089_shuffle"]
    for record in table.records():
        for column in table.columns[1:]:
            rows.append(
                {
                    "x": column.split()[1],
                    "y": words.power(10 ** record["size exponent"]),
                    "panel": "published, 10⁷ links",
                    "value": record[column],
                    "text": words.ratio(record[column]),
                    "hover": f"{record[column]} times as slow",
                }
            )
    return charts_grid.heat(
        "locality-shuffles",
        "How much each further shuffle adds, with the global allocator: time after divided by time before",
        rows,
        [str(i) for i in range(10)],
        [words.power(10**i) for i in range(7, -1, -1)],
        "shuffled so many times",
        "links in a list",
        (1, 20),
        False,
        "Heat maps: a row for each size of a list, a column for each number of shuffles; here, and as published.",
        step=(38, 17),
    )


_KIND_TITLES = {"AS3": "monotonic", "AS7": "multipool", "AS11": "multipool over monotonic"}


def _sweep_by_kind(cells: list[Cell], x: str, unpower: bool) -> list[dict]:
    """One panel for each kind of resource (bound at compile time), the global allocator in all."""
    rows = []
    for cell in cells:
        size = cell.parameters.get(x)
        if not isinstance(size, int):
            continue
        for name in cell.contenders:
            kind = strategy(name)
            if name.endswith(PAIRED) or kind not in ("AS1", *_KIND_TITLES):
                continue
            figure = cell.figure(name, "time")
            if figure is None:
                continue
            against = cell.ratio("time", name, GLOBAL)
            for panel in (_KIND_TITLES[kind],) if kind != "AS1" else _KIND_TITLES.values():
                rows.append(
                    {
                        "contender": implementation(name),
                        "x": 1 << size if unpower else size,
                        "y": charts.short(figure.median),
                        "low": charts.short(figure.low),
                        "high": charts.short(figure.high),
                        "text": words.figure(figure),
                        "where": words.configuration(cell.parameters),
                        "against": words.ratio(against.median) if against else "—",
                        "panel": panel,
                    }
                )
    order = list(_KIND_TITLES.values())
    return sorted(rows, key=lambda row: order.index(row["panel"]))


def _utilization(cells: list[Cell]) -> list[Picture | None]:
    numbers = [cell for cell in cells if isinstance(cell.parameters.get("A_exponent"), int)]
    if not numbers:
        return []
    total = max((cell.parameters.get("T_exponent", 0) for cell in numbers), default=0)
    most = max(cell.parameters["A_exponent"] for cell in numbers)
    chosen = [
        cell for cell in numbers if cell.parameters["A_exponent"] == most and cell.parameters.get("T_exponent") == total
    ]
    rows = _sweep_by_kind(chosen, "S_exponent", True)
    return [
        charts.sweep(
            "utilization",
            f"Time of an allocation and its deallocation: {words.power2(total)} B in all, {words.power2(most)} B at once",
            rows,
            "bytes",
            "size of a block",
            "time of a pair",
            "s",
            "panel",
        )
    ]


def _contention(cells: list[Cell]) -> list[Picture | None]:
    def middle(found: list[Cell]) -> list[Cell]:
        """Of the sizes of blocks the middle one, at the largest N."""
        if not found:
            return []
        most = max(cell.parameters.get("N_exponent", 0) for cell in found)
        blocks = sorted({cell.parameters.get("S_exponent", 0) for cell in found})
        block = blocks[len(blocks) // 2]
        return [
            cell
            for cell in found
            if cell.parameters.get("N_exponent") == most and cell.parameters.get("S_exponent") == block
        ]

    private = middle([cell for cell in cells if cell.parameters.get("sharing", "private") == "private"])
    shared = middle([cell for cell in cells if cell.parameters.get("sharing") == "shared"])
    rows = _sweep_by_kind(private, "W", False)
    for row in rows:
        row["panel"] = f"a {row['panel']} each" if row["panel"] != "multipool over monotonic" else "a multipool over monotonic each"
    for row in _sweep_by_kind(shared, "W", False):
        if row["panel"] == "multipool":
            rows.append({**row, "panel": "one synchronized multipool for all"})
    where = ""
    if private:
        parameters = private[0].parameters
        where = f": blocks of {words.power2(parameters.get('S_exponent'))} B, {words.power2(parameters.get('N_exponent'))} times"
    return [
        charts.sweep(
            "contention",
            f"Processor time of an allocation and its deallocation{where}",
            rows,
            "threads",
            "threads",
            "time of a pair",
            "s",
            "panel",
        )
    ]


def _make_shared(cells: list[Cell]) -> list[Picture | None]:
    rows = []
    yardstick = by_id("make-shared").yardstick
    for cell in cells:
        for name in cell.contenders:
            figure, ratio = cell.figure(name, "time"), cell.ratio("time", name, yardstick)
            if figure is None or ratio is None or name.endswith(PAIRED) or is_floor(name):
                continue
            rows.append(
                {
                    "contender": name,
                    "panel": f"-{cell.parameters.get('optimisation')}",
                    "value": charts.short(ratio.median),
                    "text": f"{words.ratio(ratio.median)}  ({words.seconds(figure.median)})",
                    "hover": words.figure(figure),
                }
            )
    return [
        charts_grid.panel_bars(
            "make-shared",
            f"Time to make and drop one shared int, divided by {yardstick}'s",
            rows,
            f"÷ {yardstick}",
            "A bar for each way to make a shared object, optimised and not.",
            1.0,
            310,
        )
    ]


def _pair_instructions(cells: list[Cell]) -> list[Picture | None]:
    rows = []
    for cell in cells:
        for name in cell.contenders:
            figure = cell.figure(name, "instructions")
            if figure is None or name.endswith(PAIRED):
                continue
            text = f"{figure.median:.0f}"
            rows.append(
                {
                    "contender": implementation(name),
                    "panel": words.configuration(cell.parameters),
                    "value": charts.short(figure.median),
                    "text": text,
                    "hover": f"{text} instructions",
                }
            )
    return [
        charts_grid.panel_bars(
            "pair-instructions",
            "Instructions of an allocation and its deallocation",
            rows,
            "instructions",
            "A bar for each allocator, for sizes known to the compiler and not.",
            None,
            310,
        )
    ]


MEMORY_PICTURES = {
    "data-structures": _structures,
    "locality": _locality,
    "utilization": _utilization,
    "contention": _contention,
    "make-shared": _make_shared,
    "pair-instructions": _pair_instructions,
}
