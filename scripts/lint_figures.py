"""No figure in the documentation is older than the published report.

What stands between the marks <!--=NAME--> and <!--=--> is what docs/report says (scripts/quoted_figures.py puts it there), every
name of docs/figures.json is used, and the page and pictures in docs/report were made of the results beside them. A page that
quotes the report quotes nothing else, unless the same paragraph says that it was measured apart.
"""
import re

import quoted_figures
from sources import ROOT, files, finish, text

# A time, a ratio or a share, as a person would type it.
TYPED = re.compile(r"(?<![\w.])\d[\d,.]*( |\u00a0)?(ns|µs|us|ms|%|times)(?!\w)|(?<![\w.])[01]\.\d\d+(?![\w.])")
MEASURED_APART = re.compile(r"measured\s+apart", re.I)


def typed(content):
    """The figures of a page that are not between marks: where, and what. Code and commands are none."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])

    apart = [match.span() for match in re.finditer(r"(?:^(?![ \t]*[-*|] |[ \t]*$).*\n?|^[ \t]*[-*|] .*\n?)(?:^(?![ \t]*[-*|] |[ \t]*$).*\n?)*", content, re.M)
             if MEASURED_APART.search(match[0])]
    prose = re.sub(r"```.*?```|`[^`\n]*`|<img[^>]*>", blank, quoted_figures.MARK.sub(blank, content), flags=re.S)
    for match in TYPED.finditer(prose):
        if not any(begin <= match.start() < end for begin, end in apart):
            yield content.count("\n", 0, match.start()) + 1, match[0]


findings = []
quotes = quoted_figures.Quotes()
used = set()
for path in files(".md"):
    content = text(path)
    for match in quoted_figures.MARK.finditer(content):
        line = content.count("\n", 0, match.start()) + 1
        used.add(match[1])
        try:
            wanted = quotes.value(match[1])
        except quoted_figures.Unknown as unknown:
            findings.append(f"{path}:{line}: {unknown}")
            continue
        if match[2] != wanted:
            findings.append(f"{path}:{line}: {match[1]} is {wanted} in the report, not {match[2]}; run scripts/quoted_figures.py")
    if "<!--=" in content:
        findings += [f"{path}:{line}: {figure} is no figure of the report; quote it (docs/figures.json), or say that it was measured apart"
                     for line, figure in typed(content)]
    if content.count("<!--=") != 2 * len(quoted_figures.MARK.findall(content)):
        findings.append(f"{path}:1: a mark of a figure without its other half")
findings += [f"docs/figures.json:1: nothing quotes {name}" for name in quotes.names() if name not in used]

report = ROOT / "docs/report"
if report.exists():
    stamp = quoted_figures.stamp()
    for made in sorted([*report.glob("*.svg"), *report.glob("*.html")]):
        content = made.read_text(encoding="utf-8")
        found = re.search(r"<!-- made of the results (\w+) -->", content)
        if found is None or found[1] != stamp:
            findings.append(f"{made.relative_to(ROOT)}:1: was not made of the results beside it; publish them again (lab/README.md)")
finish(findings)
