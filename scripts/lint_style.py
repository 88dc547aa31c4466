# SPDX-License-Identifier: MIT
"""What a reader expects of every file: a header that opens by saying what it is, no tabs, no trailing blanks, no long lines; and of
every test, a name of small letters.

The format (lint_format) asks for 130 columns; a comment may run over by a word.
"""
import re

from sources import CODE, files, finish, lines, text

findings = []
for path in files(*CODE):
    content = text(path) or ""
    if path.suffix == ".hpp" and path.parts[0] != "tests":
        if not content.startswith("//"):
            findings.append(f"{path}:1: opens without saying what it is")
        if "#pragma once" not in content:
            findings.append(f"{path}:1: no #pragma once")
        if re.search(r"^\s*using namespace\b", content, re.M) and path.parts[0] == "include":
            findings.append(f"{path}:1: using namespace in a public header")
    if content and not content.endswith("\n"):
        findings.append(f"{path}:1: the last line has no end")
    for number, line in lines(path):
        if "\t" in line or line != line.rstrip():
            findings.append(f"{path}:{number}: a tab or a trailing blank")
        test = re.match(r"(?:TYPED_)?TEST(?:_[FP])?\((\w+), *(?:DISABLED_)?(\w*)", line)
        if test and re.search("[A-Z]", test[1] + test[2]):
            findings.append(f"{path}:{number}: {test[1]}.{test[2]} is not in small letters")
        if len(line) > 140 and path.parts[0] != "tests":    # tables of expected values stay readable
            findings.append(f"{path}:{number}: {len(line)} columns")
finish(findings)
