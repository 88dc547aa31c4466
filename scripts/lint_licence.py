# SPDX-License-Identifier: MIT
"""Each file of code says its licence in its first two lines, as tools that collect licences expect; REUSE.toml says it for all others."""
from sources import CODE, files, finish, text

LINE = "SPDX-License-" + "Identifier: MIT"    # in two, or tools take this line for a licence
findings = []
for path in files(*CODE, ".js", ".py", ".sh", ".cmake", ".txt", ".yml", ".yaml"):
    if path.suffix == ".txt" and path.name != "CMakeLists.txt":
        continue
    if not any(line.endswith(LINE) for line in (text(path) or "").splitlines()[:2]):
        findings.append(f"{path}:1: add \"{LINE}\" as a comment")
if 'SPDX-License-Identifier = "MIT"' not in (text("REUSE.toml") or ""):
    findings.append("REUSE.toml:1: says no licence for documents and data")
finish(findings)
