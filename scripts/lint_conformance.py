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
    proofs = asked = False  # the table is a checklist; its rows name suites
    for number, line in lines(path):
        if not line.startswith("|"):
            proofs = asked = False
        elif re.search(r"\| (proof|test) \|", line):
            proofs = True
        elif re.search(r"\| suites ", line):
            asked = True
        elif proofs and not line.startswith("|---") and not NAMED.search(line):
            findings.append(f"{PAGE}:{number}: a row without a proof")
        findings += [f"{PAGE}:{number}: there is no suite {one}" for one in SUITE.findall(line) if asked and one not in suites]
        for suite, test in NAMED.findall(line):
            if (suite, test) not in known:
                findings.append(f"{PAGE}:{number}: there is no test {suite}.{test}")
finish(findings)
