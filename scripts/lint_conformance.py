# SPDX-License-Identifier: MIT
"""Every test and suite that docs/conformance.md names exists, and every row of its checklists names a proof.

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
suites = {suite for suite, _ in known}
SUITE = re.compile(r"`([a-z_]+)`")
findings = []
for path in files(".md"):
    if path.as_posix() != PAGE:
        continue
    proof = None  # what each row of the table must name: a test, or a suite
    for number, line in lines(path):
        if not line.startswith("|"):
            proof = None
        elif re.search(r"\| (proof|test) \|", line):
            proof = NAMED
        elif re.search(r"\| suites ", line):
            proof = SUITE
        elif proof and not line.startswith("|---") and not proof.search(line):
            findings.append(f"{PAGE}:{number}: a row without a proof")
        if proof is SUITE:
            findings += [f"{PAGE}:{number}: there is no suite {one}" for one in SUITE.findall(line) if one not in suites]
        for suite, test in NAMED.findall(line):
            if (suite, test) not in known:
                findings.append(f"{PAGE}:{number}: there is no test {suite}.{test}")
finish(findings)
