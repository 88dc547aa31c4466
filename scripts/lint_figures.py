"""No figure in the documentation is older than the published report.

What stands between the marks <!--=NAME--> and <!--=--> is what docs/report says (scripts/quoted_figures.py puts it there), every
name of docs/figures.json is used, and the page and pictures in docs/report were made of the results beside them.
"""
import re

import quoted_figures
from sources import ROOT, files, finish, text

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
