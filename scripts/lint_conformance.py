"""Every test that docs/conformance.md names exists, and every row of its checklists names a proof.

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
# What a row without a test's name may say instead.
ELSEWHERE = re.compile(r"`tests/|every test|the kind `")
findings = []
for path in files(".md"):
    if path.as_posix() != PAGE:
        continue
    checklist = False
    for number, line in lines(path):
        if not line.startswith("|"):
            checklist = False
        elif re.search(r"\| (proof|test) \|", line):
            checklist = True
        elif checklist and not line.startswith("|---") and not NAMED.search(line) and not ELSEWHERE.search(line):
            findings.append(f"{PAGE}:{number}: a row without a proof")
        for suite, test in NAMED.findall(line):
            if (suite, test) not in known:
                findings.append(f"{PAGE}:{number}: there is no test {suite}.{test}")
finish(findings)
