# SPDX-License-Identifier: MIT
"""One idea per file: 500 lines are enough for one."""
from sources import CODE, files, finish, text

LIMIT = 500
# What is one idea all the same, or still waits to be cut, and how long it may be. No new names here, and no larger numbers.
LONGER = {
    "tests/file_vector/file_vector_test.cpp": 614,
    "tests/memory/multipool_test.cpp": 537,
}
findings = []
for path in files(*CODE, ".py", ".cmake"):
    count = sum("SPDX-License-" not in line for line in (text(path) or "").splitlines())
    if count > LONGER.get(str(path), LIMIT):
        findings.append(f"{path}:{count}: {count} lines; split it")
finish(findings)
