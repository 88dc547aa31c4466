# SPDX-License-Identifier: MIT
"""Editors find every class of the public headers: ctags, of which most of their outlines are made, lists it.

A macro where a keyword is expected (`SOME_NAMESPACE {`) hides from such tools everything that follows.
"""
import re
import shutil
import subprocess
import sys

from sources import ROOT, files, finish, text

if shutil.which("ctags") is None or "Universal" not in subprocess.run(["ctags", "--version"], capture_output=True, text=True).stdout:
    print("no Universal Ctags here: skipped")
    sys.exit(77)

# (Not in templates' arguments, nor of names declared and no more.)
CLASS = re.compile(r"^(?:class|struct|enum class|union)\s+(?:(?:\[\[[^\]]*\]\]|alignas\([^()]*(?:\([^()]*\))?\)|HEADROOM_[A-Z]+)\s*)*"
                   r"([A-Za-z_]\w*)(?:\s+final)?\s*(?::[^:;{][^;{]*)?\{", re.M)



def first_branches(code):
    """The code without what follows an #else or #elif: ctags reads one branch, the first."""
    result = []
    skipping = []    # for each #if around
    for line in code.splitlines():
        if re.match(r"\s*#\s*if", line):
            skipping.append(False)
        elif re.match(r"\s*#\s*el", line):
            skipping[-1] = True
        elif re.match(r"\s*#\s*endif", line):
            skipping.pop()
        result.append("" if any(skipping) else line)
    return "\n".join(result)


findings = []
for path in files(".hpp"):
    if path.parts[:2] != ("include", "headroom"):
        continue
    code = re.sub(r"//[^\n]*|\"[^\"\n]*\"", lambda m: " " * len(m[0]), first_branches(text(path)))
    tags = subprocess.run(["ctags", "--language-force=C++", "--kinds-C++=cgsu", "--fields=s", "-f", "-", str(ROOT / path)],
                          capture_output=True, text=True, check=True).stdout
    listed = {line.split("\t")[0]: line for line in tags.splitlines() if not line.startswith("!")}
    for match in CLASS.finditer(code):
        if "headroom" not in listed.get(match[1], ""):
            findings.append(f"{path}:{code.count(chr(10), 0, match.start()) + 1}: ctags finds no {match[1]}")
finish(findings)
