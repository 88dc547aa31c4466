# SPDX-License-Identifier: MIT
"""Puts the figures of the published report into the documentation: `python3 scripts/quoted_figures.py`.

A figure in a page is <!--=NAME-->48<!--=-->: what stands between the marks is written by this script, and by nobody else.
docs/figures.json says what each name means. A group is one experiment, one of its configurations ("where", as many parameters
as single one out) and one metric; its figures are contenders, or a contender divided by the one named in "to":

    "D7": {"experiment": "data-structures", "where": {"structure": "DS7", "size_exponent": 6}, "metric": "time", "as": "ns",
           "figures": {"heap": "std::allocator AS1", "pool": "headroom::multipool_resource AS7"}}

D7.heap is the first of them. "as" is ns, us, ms, MiB, times (a ratio, as 2.3) or share (a ratio, as 0.48); a figure may have its
own "where", "metric", "to" or "as", as {"of": CONTENDER, ...}. With "pick": "least" (or "most") it is the least figure of all the
configurations that "where" leaves; with "pick": "count", their number. Values are medians of the rounds in docs/report/results. Where that
holds the sets of several processors, they are of the newest set, or of the one whose processor's name has "machine" in it.

A group with "made_by" is of an experiment with tables of its own: the function quotes() of that file returns its figures by name.

report.machine and report.rounds are of the newest set. report.age says how many commits have changed include/ or src/ since it was
measured, report.age-NAME the same of the set NAME; the page in docs/report has these marks, too.

The table of where Headroom loses stands between the marks LOSING and END in each page that has them.
"""
import importlib
import json
import pathlib
import re
import sys

from history import git
from sources import ROOT, files, text

REPORT = pathlib.Path("docs/report")
LOSING, END = "<!-- where it loses: made by scripts/quoted_figures.py -->", "<!-- end -->"
MARK = re.compile(r"<!--=([\w.-]+)-->(.*?)<!--=-->", re.S)
UNITS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "MiB": 2.0**-20, "times": 1, "share": 1}


class Unknown(Exception):
    pass


class AgeUnknown(Unknown):
    """Git is missing, or has too few commits."""


def written(value, unit):
    value *= UNITS[unit]
    if unit == "share":
        return f"{value:.2f}" if value >= 0.095 else f"{value:.3f}"
    if value >= 9.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2g}"


def report_part(name):
    """A module of the report, which lies in the lab."""
    folder = str(pathlib.Path(__file__).resolve().parent.parent / "lab/report")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(f"headroom_report.{name}")


def has_results(root):
    return any((root / REPORT / "results").glob("*.jsonl.gz"))


def commits_since(about):
    """How many commits have changed include/ or src/ since a set was measured; None where git cannot tell."""
    trees = (git("rev-parse", "HEAD:include", "HEAD:src") or "").split()
    if about.get("library") == "-".join(tree[:8] for tree in trees):
        return 0
    commit = str(about.get("commit", "")).rstrip("+")
    if not commit or git("cat-file", "-e", f"{commit}^{{commit}}") is None:
        return None
    return int(git("rev-list", "--count", f"{commit}..HEAD", "--", "include", "src"))


def age_in_words(count):
    return "of this library" if count == 0 else f"of the library as it was {count} commit{'s' if count > 1 else ''} ago"


def age_said(words):
    """The number of commits that age_in_words() was given; None if they are not its words."""
    found = re.fullmatch(r"of this library|of the library as it was (\d+) commits? ago", words)
    return int(found[1] or 0) if found else None


class Quotes:
    """What every name stands for, by the results in docs/report."""

    def __init__(self, root=ROOT):
        definitions = root / "docs/figures.json"
        self.groups = json.loads(definitions.read_text(encoding="utf-8")) if definitions.exists() else {}
        self.root, self.elsewhere = root, {}
        self.machines = []    # (description, cells, rounds by experiment), the newest first
        if has_results(root):
            sets, figures, reading = (report_part(f"results.{name}") for name in ("sets", "figures", "reading"))
            self.set_name = sets.name_of
            found = reading.read(sets.files(root / REPORT))
            runs = {name: found.of_machine(name) for name in found.machines}
            for name in sorted(runs, key=lambda name: sets.age_rank(found.machines[name], len(runs[name])), reverse=True):
                rounds = {}
                for run in runs[name]:
                    if run.outcome == "ok":
                        rounds[run.experiment] = max(rounds.get(run.experiment, 0), run.round + 1)
                self.machines.append((found.machines[name], figures.cells(runs[name]), rounds))

    def names(self):
        return [f"{group}.{name}" for group, of in self.groups.items() for name in of["figures"]]

    def cells(self, group, where):
        wanted, experiment = group.get("machine", ""), group["experiment"]
        cells = next((cells for about, cells, _ in self.machines if wanted in str(about.get("cpu"))), [])
        return [cell for cell in cells if cell.experiment == experiment
                and all(str(cell.parameters.get(key)) == str(value) for key, value in where.items())]

    def value(self, name):
        group_name, _, key = name.rpartition(".")
        if group_name == "report":
            return self.about(name, key)
        group = self.groups.get(group_name)
        if group is None or key not in group["figures"]:
            raise Unknown(f"{name}: docs/figures.json has no such name")
        if "made_by" in group:
            return self.made_elsewhere(name, group["made_by"], group["figures"][key])
        return self.of_report(name, group, key)

    def made_elsewhere(self, name, file, key):
        if file not in self.elsewhere:
            self.elsewhere[file] = report_part("results.published").module(self.root / file).quotes()
        if key not in self.elsewhere[file]:
            raise Unknown(f"{name}: {file} makes no {key}")
        return self.elsewhere[file][key]

    def of_report(self, name, group, key):
        figure = group["figures"][key]
        if isinstance(figure, str):
            figure = {"of": figure}
        where = {**group["where"], **figure.get("where", {})}
        found = self.cells(group, where)
        pick = figure.get("pick")
        if not found or (pick is None and len(found) > 1):
            raise Unknown(f"{name}: {len(found)} configurations of {group['experiment']} have {where}")
        values = [self.of_cell(name, group, figure, cell) for cell in found]
        if pick == "count":
            return str(len(values))
        return written({"least": min, "most": max, None: min}[pick](values), figure.get("as", group["as"]))

    def of_cell(self, name, group, figure, cell):
        metric = figure.get("metric", group["metric"])
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
        return value

    def about(self, name, key):
        if not self.machines and not key.startswith("age-"):
            raise Unknown(f"{name}: there is no report")
        about, _, rounds = self.machines[0] if self.machines else ({}, [], {})
        if key == "machine":
            processor = re.sub(r"\((R|TM)\)", "", str(about.get("cpu", "an unknown processor")))
            kernel = re.sub(r"(\d+\.\d+)\S*", r"\1", str(about.get("kernel", "?")))
            return f"{processor}, {about.get('cores', '?')} cores, {kernel}, {about.get('compiler', '?')}"
        if key == "rounds":
            return in_words(rounds)
        if key.startswith("age"):
            of_set = key.removeprefix("age").removeprefix("-")
            dated = next((one for one, _, _ in self.machines if of_set in ("", self.set_name(one))), None)
            if dated is None:
                raise Unknown(f"{name}: docs/report/results has no such set")
            count = commits_since(dated)
            if count is None:
                raise AgeUnknown(f"{name}: git does not tell how many commits there were since these results")
            return age_in_words(count)
        raise Unknown(f"{name}: docs/figures.json has no such name")


def in_words(rounds):
    """{"a": 1, "b": 1, "c": 3} is "one round (c: 3)"."""
    counts = list(rounds.values())
    if not counts:
        return "no round"
    usual = max(sorted(set(counts)), key=counts.count)
    more = ", ".join(f"`{name}`: {count}" for name, count in sorted(rounds.items()) if count != usual)
    named = {1: "one round", 2: "two rounds", 3: "three rounds", 4: "four rounds", 5: "five rounds"}
    return named.get(usual, f"{usual} rounds") + (f" ({more})" if more else "")


def stamp(root=ROOT):
    """What every file that was made of these results carries; nothing where there are none."""
    return report_part("results.sets").stamp_of(root / REPORT) if has_results(root) else ""


def where_it_loses(root=ROOT):
    """The table in Markdown."""
    sets, reading = report_part("results.sets"), report_part("results.reading")
    try:
        model = report_part("page.model")
    except ModuleNotFoundError as missing:    # the report's Python packages; .venv has them
        print(f"quoted_figures.py: the table of where it loses stays as it is: {missing}", file=sys.stderr)
        return ""
    table = model.losing_table(model.build(reading.read(sets.files(root / REPORT))).machines)
    rows = [[column.title for column in table.columns], ["---"] * len(table.columns)]
    rows += [[cell.text for cell in row] for row in table.rows]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def with_losses(content, table):
    head, rest = content.split(LOSING)
    return f"{head}{LOSING}\n{table}{END}{rest.split(END, 1)[1]}"


def main():
    quotes = Quotes()
    bad = []
    table = where_it_loses() if quotes.machines else ""
    for path in [*files(".md"), *(page.relative_to(ROOT) for page in (ROOT / REPORT).glob("*.html"))]:
        before = text(path)

        def replaced(match):
            try:
                return f"<!--={match[1]}-->{quotes.value(match[1])}<!--=-->"
            except Unknown as unknown:
                bad.append(f"{path}: {unknown}")
                return match[0]

        after = MARK.sub(replaced, before)
        if LOSING in after and table:
            after = with_losses(after, table)
        if after != before:
            (ROOT / path).write_text(after, encoding="utf-8")
            print(f"{path}: brought up to date")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
