# SPDX-License-Identifier: MIT
"""Every name of the library stands in the inline namespace of this version: headroom::v0_1 for 0.1.x; packages agree.

Why: two versions in one program must not share a symbol, and a header must not link with another version's library.
"""
import json
import re

from sources import files, finish, lines, text

whole, major, minor = re.search(r"project\(headroom VERSION ((\d+)\.(\d+)\.\d+)", text("CMakeLists.txt")).groups()
VERSION = f"v{major}_{minor}"
# Universal Ctags, and the editors that stand on it, cannot read `namespace headroom::inline v1_2`.
OPENED = re.compile(r"^\s*namespace headroom\b(?! \{ inline namespace " + VERSION + r" \{)")
NAMED = re.compile(r"\bv\d+_\d+\b")
findings = []
for path in files(".hpp", ".cpp", ".cppm", ".natvis"):
    if path.parts[0] not in ("include", "src"):
        continue
    for number, line in lines(path):
        if OPENED.match(line):
            findings.append(f"{path}:{number}: opens namespace headroom without `{{ inline namespace {VERSION} {{`")
        for name in NAMED.findall(line):
            if name != VERSION:
                findings.append(f"{path}:{number}: {name} is not this version, {VERSION}")
for path in files(".json"):
    if path.name == "vcpkg.json" and json.loads(text(path))["version"] != whole:
        findings.append(f"{path}:1: not version {whole}")
macros = re.findall(r"#define HEADROOM_VERSION_\w+ (\d+)", text("include/headroom/detail/language.hpp"))
if ".".join(macros) != whole:
    findings.append(f"include/headroom/detail/language.hpp:1: HEADROOM_VERSION_* is not version {whole}")
if text("debian/changelog").split("(", 1)[1].split("-", 1)[0] != whole:
    findings.append(f"debian/changelog:1: not version {whole}")
for number, line in lines("debian/control"):
    for library, named in re.findall(r"\b(libheadroom(?:-[a-z]+)?)(\d+\.\d+)\b", line):
        if named != f"{major}.{minor}":
            findings.append(f"debian/control:{number}: {library}{named} is not named as the library, .so.{major}.{minor}")
finish(findings)
