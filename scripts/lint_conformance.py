"""Every test that docs/conformance.md names exists.

Why: a checklist that names its proofs is worth something only as long as they are there.
"""
import re

from sources import files, finish, lines, text

MACRO = re.compile(r"\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)")
NAMED = re.compile(r"`([A-Za-z_]\w*)\.([A-Za-z_]\w*)`")
PAGE = "docs/conformance.md"

known = set()
for path in files(".cpp", ".hpp"):
    if path.parts[0] == "tests":
        known.update(MACRO.findall(text(path) or ""))
findings = []
for path in files(".md"):
    if path.as_posix() != PAGE:
        continue
    for number, line in lines(path):
        for suite, test in NAMED.findall(line):
            if (suite, test) not in known:
                findings.append(f"{PAGE}:{number}: there is no test {suite}.{test}")
finish(findings)
