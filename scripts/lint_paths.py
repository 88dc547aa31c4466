# SPDX-License-Identifier: MIT
"""Nothing that holds only on one machine: absolute paths of a workplace, and hosts of package registries."""
import re

from sources import files, finish, lines

# Written in pieces, so that this file does not find itself.
PATTERN = re.compile("|".join([
    "/wo" + r"rk/(main|shared)\b", "/ro" + r"ot/", "/ho" + r"me/\w", "/Us" + r"ers/\w",
    r"\b(deb|snapshot|security)\.deb" + r"ian\.org\b", r"\bpyp" + r"i\.org\b", "pythonho" + r"sted\.org", r"\bcrates" + r"\.io/"]))

findings = []
for path in files():
    for number, line in lines(path):
        if PATTERN.search(line):
            findings.append(f"{path}:{number}: {PATTERN.search(line)[0]}")
finish(findings)
