# SPDX-License-Identifier: MIT
"""No row of the table in docs/platforms.md is older than 200 commits that change include/ or src/.

Why: what no run compiles rots in a week, and an old table says what was. Each row names the commit that its tests ran at; where a
repository does not have it (a shallow clone, history written anew), the row's date counts. Without git nothing can be said.
"""
import re
import sys

from history import git
from sources import ROOT, finish, lines

PAGE = "docs/platforms.md"
BEGIN, END = "<!-- made by scripts/platform_table.py -->", "<!-- end -->"
ROW = re.compile(r"\| `([\w-]+)` \| (\d{4}-\d\d-\d\d) \| `([0-9a-f]{7,40})` \|")
MOST = 200    # commits
SKIPPED = 77


def changes_since(commit, date):
    """Number of commits since then that change include/ or src/; None without git."""
    known = git("cat-file", "-e", f"{commit}^{{commit}}") is not None
    since = [f"{commit}..HEAD"] if known else [f"--since={date}T00:00:00Z", "HEAD"]
    counted = git("rev-list", "--count", *since, "--", "include", "src")
    return int(counted) if counted else None


findings, unknown, made = [], False, False
for number, line in lines(PAGE) if (ROOT / PAGE).exists() else ():
    made = made and END not in line or BEGIN in line
    if not made or not line.startswith("| `"):
        continue
    row = ROW.match(line)
    if not row:
        findings.append(f"{PAGE}:{number}: a row without its date and its commit")
        continue
    count = changes_since(row[3], row[2])
    unknown = unknown or count is None
    if count is not None and count > MOST:
        findings.append(f"{PAGE}:{number}: {row[1]}: {count} commits have changed include/ and src/ since, more than {MOST}: "
                        f"./dev test --only {row[1]}, then scripts/platform_table.py")
if unknown and not findings:
    sys.exit(SKIPPED)
finish(findings)
