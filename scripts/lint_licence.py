# SPDX-License-Identifier: MIT
"""Each file of code says its licence in its first two lines, as tools that collect licences expect; REUSE.toml says it for all others."""
import re

from sources import CODE, files, finish, text

LINE = re.compile("(//|#) SPDX-License-" + r"Identifier: MIT$")    # in two, or tools take this line for a licence
ANY = "SPDX-License-" + "Identifier:"
findings = []
for path in files(*CODE, ".cppm", ".js", ".py", ".sh", ".cmake", ".txt", ".yml", ".yaml"):
    if path.suffix == ".txt" and path.name != "CMakeLists.txt":
        continue
    said = [line for line in (text(path) or "").splitlines()[:2] if ANY in line]
    if len(said) != 1 or not LINE.match(said[0]):
        findings.append(f"{path}:1: add \"{ANY} MIT\" as a comment, and no other licence")
if 'SPDX-License-Identifier = "MIT"' not in (text("REUSE.toml") or ""):
    findings.append("REUSE.toml:1: says no licence for documents and data")
finish(findings)
