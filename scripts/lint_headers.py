# SPDX-License-Identifier: MIT
"""No public header brings a tenth more lines than docs/header_lines.json says: python3 scripts/header_lines.py --write records what there is.

Why: what a header includes is compiled again in every file of a program that includes it, and one #include can double that unseen.
"""
import json
import sys

import header_lines
from sources import finish

SKIPPED = 77
if not header_lines.RECORD.is_file():
    finish([f"{header_lines.RECORD.name}:1: is missing; python3 scripts/header_lines.py --write makes it"])
record = json.loads(header_lines.RECORD.read_text(encoding="utf-8"))
if record["compiler"] != f"{header_lines.COMPILER} {header_lines.version()}":
    print(f"recorded with {record['compiler']}, which is not here", file=sys.stderr)
    sys.exit(SKIPPED)
findings = []
for name, lines in header_lines.measured().items():
    known = record["lines"].get(name)
    if not isinstance(lines, int):
        findings.append(f"include/{name}:1: cannot be preprocessed: {lines}")
    elif known is None:
        findings.append(f"include/{name}:1: not in {header_lines.RECORD.name}; python3 scripts/header_lines.py --write records it")
    elif lines * 10 > known * 11:
        findings.append(f"include/{name}:1: brings {lines} preprocessed lines, a tenth more than the {known} recorded in {header_lines.RECORD.name}")
finish(findings)
