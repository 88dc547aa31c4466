# SPDX-License-Identifier: MIT
"""Every preset can be configured, built, tested and run as a workflow, and every preset that is spoken of exists."""
import json
import re

from sources import ROOT, files, finish, lines

presets = json.loads((ROOT / "CMakePresets.json").read_text())
names = {kind: {p["name"] for p in presets[kind + "Presets"] if not p.get("hidden")}
         for kind in ("configure", "build", "test", "workflow")}
findings = []
for kind in ("build", "test", "workflow"):
    untested = {p["name"] for p in presets["configurePresets"] if p.get("cacheVariables", {}).get("HEADROOM_TESTS") == "OFF"}
    for name in sorted(names["configure"] - names[kind] - (untested if kind == "test" else set())):
        findings.append(f"CMakePresets.json:1: {name} is no {kind} preset")

MENTION = re.compile(r"--preset[ =]([a-z][a-z0-9-]*)")
LIST = re.compile(r"^presets_\w+=\(([^)]*)\)")
for path in files():
    if path.parts[0] == "scripts" and path.suffix == ".py":
        continue
    for number, line in lines(path):
        mentioned = MENTION.findall(line)
        if path.suffix == ".sh" and LIST.match(line):
            mentioned += LIST.match(line)[1].split()
        for name in mentioned:
            if name not in names["workflow"] and name != "X":
                findings.append(f"{path}:{number}: there is no preset {name}")
finish(findings)
