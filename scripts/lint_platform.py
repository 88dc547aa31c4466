# SPDX-License-Identifier: MIT
"""Platform conditionals live in src/system/ alone, and no public header leaks one of the system's headers.

Why: one file per system keeps each readable, and keeps every other file the same on all of them.
"""
import re

from sources import CODE, files, finish, lines

CONDITIONAL = re.compile(
    r"^\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef)\b.*\b"
    r"(_WIN32|_WIN64|WIN32|__linux__?|__gnu_linux__|__APPLE__|__MACH__|__FreeBSD__|__NetBSD__|__OpenBSD__|__unix__?"
    r"|__CYGWIN__|__MINGW32__|__ANDROID__|_POSIX_VERSION|__sun)\b")
SYSTEM_HEADER = re.compile(r"^\s*#\s*include\s*<(sys/|linux/|unistd\.h|fcntl\.h|pthread\.h|windows\.h|mach/)", re.I)

findings = []
for path in files(*CODE):
    if path.parts[:2] == ("src", "system"):
        continue
    for number, line in lines(path):
        if CONDITIONAL.search(line):
            findings.append(f"{path}:{number}: a platform conditional outside src/system/")
        if path.parts[0] == "include" and SYSTEM_HEADER.search(line):
            findings.append(f"{path}:{number}: a public header includes a header of the system")
finish(findings)
