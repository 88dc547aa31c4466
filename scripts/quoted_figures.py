"""Puts the figures of the published report into the documentation: `python3 scripts/quoted_figures.py`.

A figure in a page is <!--=NAME-->48<!--=-->: what stands between the marks is written by this script, and by nobody else.
docs/figures.json says what each name means. A group is one experiment, one of its configurations ("where", as many parameters
as single one out) and one metric; its figures are contenders, or a contender divided by the one named in "to":

    "D7": {"experiment": "data-structures", "where": {"structure": "DS7", "size_exponent": 6}, "metric": "time", "as": "ns",
           "figures": {"heap": "std::allocator AS1", "pool": "headroom::multipool_resource AS7"}}

D7.heap is the first of them. "as" is ns, us, ms, MiB, times (a ratio, as 2.3) or share (a ratio, as 0.48); a figure may have its
own "where", "metric", "to" or "as", as {"of": CONTENDER, ...}. Values are medians of the rounds in docs/report.
"""
import hashlib
import json
import pathlib
import re
import sys

from sources import ROOT, files, text

RESULTS = pathlib.Path("docs/report/results.jsonl.gz")
MARK = re.compile(r"<!--=([\w.-]+)-->(.*?)<!--=-->", re.S)
UNITS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "MiB": 2.0**-20, "times": 1, "share": 1}


class Unknown(Exception):
    pass


def written(value, unit):
    value *= UNITS[unit]
    if unit == "share":
        return f"{value:.2f}" if value >= 0.095 else f"{value:.3f}"
    if value >= 9.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2g}"


class Quotes:
    """What every name stands for, by the results in docs/report."""

    def __init__(self, root=ROOT):
        definitions = root / "docs/figures.json"
        self.groups = json.loads(definitions.read_text(encoding="utf-8")) if definitions.exists() else {}
        self.cells = []
        if (root / RESULTS).exists():
            sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lab/report"))
            from headroom_report.results import figures, reading

            self.cells = figures.cells(reading.read([root / RESULTS]).runs)

    def names(self):
        return [f"{group}.{name}" for group, of in self.groups.items() for name in of["figures"]]

    def cell(self, name, experiment, where):
        found = [cell for cell in self.cells if cell.experiment == experiment
                 and all(str(cell.parameters.get(key)) == str(value) for key, value in where.items())]
        if len(found) != 1:
            raise Unknown(f"{name}: {len(found)} configurations of {experiment} have {where}")
        return found[0]

    def value(self, name):
        group_name, _, key = name.rpartition(".")
        group = self.groups.get(group_name)
        if group is None or key not in group["figures"]:
            raise Unknown(f"{name}: docs/figures.json has no such name")
        figure = group["figures"][key]
        if isinstance(figure, str):
            figure = {"of": figure}
        metric = figure.get("metric", group["metric"])
        cell = self.cell(name, group["experiment"], {**group["where"], **figure.get("where", {})})
        found = cell.figure(figure["of"], metric)
        if found is None:
            raise Unknown(f"{name}: {figure['of']} has no {metric} there")
        value = found.median
        to = figure.get("to", group.get("to"))
        if to is not None:
            under = cell.figure(to, metric)
            if under is None or under.median == 0:
                raise Unknown(f"{name}: {to} has no {metric} there")
            value /= under.median
        return written(value, figure.get("as", group["as"]))


def stamp(root=ROOT):
    """What every file that was made of these results carries; nothing where there are none."""
    if not (root / RESULTS).exists():
        return ""
    return hashlib.sha256((root / RESULTS).read_bytes()).hexdigest()[:16]


def main():
    quotes = Quotes()
    bad = []
    for path in files(".md"):
        before = text(path)

        def replaced(match):
            try:
                return f"<!--={match[1]}-->{quotes.value(match[1])}<!--=-->"
            except Unknown as unknown:
                bad.append(f"{path}: {unknown}")
                return match[0]

        after = MARK.sub(replaced, before)
        if after != before:
            (ROOT / path).write_text(after, encoding="utf-8")
            print(f"{path}: brought up to date")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
