"""Nothing includes upwards, and there are no circles: docs/design.md, "The floors".

A public header may reach, through any chain of includes, only public headers of lower floors. Private headers (detail/)
have no floor of their own: what they reach counts for those who include them. Nothing outside an experiment's folder includes
what stands in it. The report's Python is checked by python_floors.py.
"""
import pathlib

import includes
import python_floors
from floors import COMPONENTS, FLOORS
from sources import finish

PUBLIC = pathlib.PurePath("include/headroom")
EXPERIMENTS = ("lab", "experiments")


graph = includes.graph()
findings = []


def reached(path, seen):
    for _, target in graph.get(path, []):
        if target not in seen:
            seen.add(target)
            reached(target, seen)
    return seen


def is_public(path):
    return path.parent == PUBLIC


for path, targets in graph.items():
    if path in reached(path, set()):
        findings.append(f"{path}:1: includes itself, by a circle")
    if is_public(path):
        floor = FLOORS.get(path.stem)
        if floor is None:
            findings.append(f"{path}:1: has no floor yet: add it to scripts/floors.py")
            continue
        for number, target in targets:
            for other in sorted({target} | reached(target, set())):
                if is_public(other) and other != path and FLOORS.get(other.stem, 0) >= floor:
                    findings.append(f"{path}:{number}: floor {floor} reaches {other} on floor {FLOORS[other.stem]}")
    # The rooms of the house: the library knows nothing of the lab, the tools and the tests; the lab nothing of the tests.
    below = {"include": {"include"}, "src": {"include", "src"}, "lab": {"include", "lab"},
             "tools": {"include", "lab", "tools", "profile"}, "profile": {"include", "profile"},
             "examples": {"include", "examples"}}.get(path.parts[0])
    for number, target in targets:
        if below is not None and target.parts[0] not in below:
            findings.append(f"{path}:{number}: {path.parts[0]}/ includes {target}")
        if target.parts[:2] == EXPERIMENTS and path.parts[0] in ("lab", "tools") and path.parts[:3] != target.parts[:3]:
            findings.append(f"{path}:{number}: names the experiment {target.parts[2]}, in whose folder it is not")
# The top floor includes the core: the rest, but for the components' headers.
whole = PUBLIC / "headroom.hpp"
if whole in graph:
    left_out = {path for path in graph if is_public(path)} - {whole} - {PUBLIC / f"{name}.hpp" for name in COMPONENTS} - {t for _, t in graph[whole]}
    findings.extend(f"{whole}:1: leaves out {path}" for path in sorted(left_out))
finish(findings + python_floors.findings())
