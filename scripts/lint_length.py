"""One idea per file: 700 lines are enough for one."""
from sources import CODE, files, finish, text

LIMIT = 700
findings = []
for path in files(*CODE, ".py", ".cmake"):
    count = len((text(path) or "").splitlines())
    if count > LIMIT:
        findings.append(f"{path}:{count}: {count} lines; split it")
finish(findings)
