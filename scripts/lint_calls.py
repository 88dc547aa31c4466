# SPDX-License-Identifier: MIT
"""The files of src/ call each other in one direction: no circles of calls, whatever they include.

Text is enough for that: definitions begin at the left margin, outside the unnamed namespace, and headers' inline functions belong to
their header. Where several files define functions of one name, a call goes to those whose first parameter is a control block
(`range*`) if its first argument is one, and to the others if not. The system's files (src/system) are one floor: what is there
calls nobody above it.
"""
import collections
import pathlib
import re

from sources import ROOT, files, finish, lines

DEFINITION = re.compile(r"^(?!using|typedef|extern|static|namespace|template|#)[\w:<>,&*\[\]() ]*?[ &*](\w+)\(([^;]*)$")
CONTROL_BLOCK = re.compile(r"(?:const )?range\*")
CALL = re.compile(r"(?<![\w~.>:])(?:detail::|headroom::|testing::)*(\w+)\(\s*([\w>.-]*)(\()?")
NOT_CODE = re.compile(r"//.*|\"(?:[^\"\\\n]|\\.)*\"")


def definitions(path):
    """Names of the functions that `path` defines for others, with whether they take a control block first."""
    hidden = False
    for _, line in lines(path):
        if line.endswith("namespace {"):
            hidden = True
        elif line.startswith("}") and "// namespace" in line:
            hidden = False
        match = DEFINITION.match(NOT_CODE.sub("", line).partition("{")[0])    # (what it calls may follow on the same line)
        if match and not hidden:
            yield match[1], bool(CONTROL_BLOCK.match(match[2].strip()))


def floor(path):
    """What stands for the file: all that stands for the system is one, and a header is one with its source."""
    return "src/system" if path.parts[:2] == ("src", "system") else path.with_suffix("").as_posix()


sources = [pathlib.PurePath(path) for path in files(".cpp", ".hpp") if pathlib.PurePath(path).parts[0] == "src"]
defined = collections.defaultdict(set)
for source in sources:
    if source.suffix == ".cpp":
        for name, of_block in definitions(source):
            defined[name].add((floor(source), of_block))

calls = collections.defaultdict(dict)    # caller: {called: where}
for source in sources:
    body = [(number, NOT_CODE.sub("", line)) for number, line in lines(source)]
    blocks = set(re.findall(r"\brange\* ?(?:const )?(\w+)\b", "\n".join(line for _, line in body)))
    for number, line in body:
        if not line.startswith(" "):    # a declaration, and perhaps the whole of a function
            line = line.partition("{")[2]
        for name, first, called in CALL.findall(line):
            places = defined.get(name, set())
            if len({place for place, _ in places}) > 1:
                places = {each for each in places if each[1] == (first in blocks and not called)}
            if len({place for place, _ in places}) != 1:
                continue    # nobody's, or a name of many, where the text does not say whose
            place = next(iter(places))[0]
            if place != floor(source):
                calls[floor(source)].setdefault(place, f"{source}:{number}: calls {name}() of {place}")


def circle_from(start):
    """The shortest way from `start` back to itself, as calls."""
    ways = [(called, [where]) for called, where in calls[start].items()]
    seen = set()
    while ways:
        at, way = ways.pop(0)
        if at == start:
            return way
        if at in seen:
            continue
        seen.add(at)
        ways.extend((called, way + [where]) for called, where in calls[at].items())
    return None


findings, reported = [], set()
for caller in sorted(calls):
    way = circle_from(caller)
    if way is not None and frozenset(way) not in reported:
        reported.add(frozenset(way))
        findings.append(way[0] + ", which leads back: " + "; ".join(way[1:]))
finish(findings)
