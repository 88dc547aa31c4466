# SPDX-License-Identifier: MIT
"""No figure in the documentation is older than the published report.

What stands between the marks <!--=NAME--> and <!--=--> is what docs/report says (scripts/quoted_figures.py puts it there), every name of
docs/figures.json is used, no results are older than 100 commits of the library, and the page and pictures in docs/report were made of the
results beside them. A page that quotes the report quotes nothing else, unless the same paragraph says that it was measured apart.
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
    made = re.compile(re.escape(quoted_figures.LOSING) + ".*?" + re.escape(quoted_figures.END), re.S)    # tests of the report compare it
    prose = re.sub(r"```.*?```|`[^`\n]*`|<img[^>]*>", blank, made.sub(blank, quoted_figures.MARK.sub(blank, content)), flags=re.S)
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
        if match[1].startswith("report.age"):
            continue    # below
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
# A commit of the library need not touch the pages that say how old the results are, but they may be off by few, and results grow stale.
MOST_OFF, MOST = 10, 100
for path in [*files(".md"), *(page.relative_to(ROOT) for page in (ROOT / quoted_figures.REPORT).glob("*.html"))]:
    content = text(path)
    for match in quoted_figures.MARK.finditer(content):
        if not match[1].startswith("report.age"):
            continue
        line = content.count("\n", 0, match.start()) + 1
        try:
            count, said = quoted_figures.age_said(quotes.value(match[1])), quoted_figures.age_said(match[2])
        except quoted_figures.AgeUnknown:
            continue
        except quoted_figures.Unknown as unknown:
            findings.append(f"{path}:{line}: {unknown}")
            continue
        if count > MOST:
            findings.append(f"{path}:{line}: {count} commits have changed include/ and src/ since these results, more than {MOST}: ./dev lab --publish")
        elif said is None or abs(said - count) > MOST_OFF:
            findings.append(f"{path}:{line}: says \"{match[2]}\", and it is {count} commits; run scripts/quoted_figures.py")

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
