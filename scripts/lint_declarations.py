# SPDX-License-Identifier: MIT
"""A declaration leads to its definition: what include/headroom/detail/ROOM/NAME.hpp or src/ROOM/NAME.hpp declares, src/ROOM/NAME.cpp
defines. A public header NAME.hpp leads to a file src/.../NAME.cpp.

What a system's files define is declared for all of them in one header; those, and the other exceptions, stand in ELSEWHERE with their
reason. Text is enough: declarations and definitions begin at the left margin.
"""
import collections
import pathlib
import re

from sources import files, finish, lines

# header: (files of src/ that may define what it declares, why)
ELSEWHERE = {
    "include/headroom/pages.hpp": ("system/", "each system has its own"),
    "src/throwing.hpp": ("on_failure", "without exceptions it calls the handler set there"),
    "src/system/platform.hpp": ("system/", "each system has its own"),
    "src/system/files.hpp": ("system/files_", "each system has its own"),
    "src/system/linux.hpp": ("system/linux", "what the files of one system share"),
    "src/system/posix.hpp": ("system/page_size_posix", "what the files of POSIX systems share"),
    "src/system/thread_end.hpp": ("system/", "each system has its own"),
    "src/system/usable_bytes.hpp": ("system/", "each system has its own"),
    "include/headroom/reservation.hpp": (
        "range/owners range/statistics range/range system/admission refused errors system_error",
        "each is linked only by programs that use it"),
    "include/headroom/commit_policy.hpp": ("range/prefaulter range/premapped", "a policy that needs them links them, by a pointer"),
    "include/headroom/testing.hpp": ("system/", "tests refuse calls of the system"),
    "include/headroom/arrow.hpp": ("handover/arrow_export handover/arrow_import", "each is linked only by programs that use it"),
    "include/headroom/detail/handover/arrow_import.hpp": ("handover/arrow_export", "what both directions share"),
    "include/headroom/detail/errors.hpp": ("logic_errors", "a program without logic errors links no std::string"),
    "include/headroom/detail/hardened.hpp": ("misuse range/quarantine", "a program that is not hardened links neither"),
    "include/headroom/detail/file/storable.hpp": ("file/header", "what the tag of a class and the header share"),
}
NAMED = re.compile(r"^(?=\S)(?!using|typedef|namespace|template|#|//|return|friend|class|struct|enum|extern)"
                   r"[\w:<>,&*\[\]\" ()]*?[ &*]((?:\w+::)*~?\w+)\(")
NOT_CODE = re.compile(r"//.*|\"(?:[^\"\\\n]|\\.)*\"")


def heads(path):
    """(line number, name, whether it is defined here) of each function at the left margin outside unnamed namespaces."""
    hidden = False
    text = [(number, NOT_CODE.sub("", line)) for number, line in lines(path)]
    for at, (number, line) in enumerate(text):
        raw = line.strip()
        if raw.endswith("namespace {"):
            hidden = True
        elif line.startswith("}"):
            hidden = False
        match = NAMED.match(line)
        if not match or hidden or " operator" in line:
            continue
        ended = next((end for _, more in text[at:] for end in re.findall(r"[;{]", more)), ";")
        if "= default" in line or "constexpr" in line or "inline " in line:
            continue
        yield number, match[1], ended == "{"


defined = collections.defaultdict(set)
for path in files(".cpp"):
    if path.parts[0] == "src":
        for _, name, here in heads(path):
            if here and not name.startswith("~"):
                defined[name.split("::")[-1]].add(path.relative_to("src").with_suffix("").as_posix())

findings = []
for path in files(".hpp"):
    if path.parts[0] == "src":
        own = path.relative_to("src").with_suffix("").as_posix()
    elif path.parts[:3] == ("include", "headroom", "detail"):
        own = path.relative_to("include/headroom/detail").with_suffix("").as_posix()
    elif path.parts[:2] == ("include", "headroom"):
        own = path.stem
    else:
        continue
    allowed, _ = ELSEWHERE.get(path.as_posix(), ("", ""))
    for number, name, here in heads(path):
        places = defined.get(name, set())
        if here or not places:
            continue
        if not any(place == own or place.endswith("/" + own) or any(place.startswith(each) for each in allowed.split()) for place in places):
            findings.append(f"{path}:{number}: {name}() is defined in src/{', src/'.join(sorted(places))}, not in a file of the header's name")
finish(findings)
