# SPDX-License-Identifier: MIT
"""The Python part of lint_floors.py: the lab's report, whose data goes one way.

Each room of lab/report/headroom_report uses only itself and the rooms to its left; an experiment's show.py uses all but the page,
and nothing uses an experiment by name. No module imports itself by a circle, wherever in a module the import stands.
"""
import ast
import pathlib

from sources import ROOT, files, text

PACKAGE = pathlib.PurePath("lab/report/headroom_report")
EXPERIMENTS = pathlib.PurePath("lab/experiments")
ROOMS = ("results", "verdicts", "pictures", "tables", "page")
SHOW = ROOMS.index("page")    # a show.py stands just left of the page


def _module(parts):
    """The file of the package's module, or of the package, that these names lead to; None where they name something else."""
    path = PACKAGE.joinpath(*parts)
    for candidate in (path.with_suffix(".py") if parts else None, path / "__init__.py"):
        if candidate is not None and (ROOT / candidate).is_file():
            return candidate
    return None


def _targets(path, node):
    """What one import statement imports of the package."""
    if isinstance(node, ast.Import):
        names = [name.name.split(".") for name in node.names]
        bases = [parts[1:] for parts in names if parts[0] == PACKAGE.name]
        return [found for base in bases if (found := _module(base))]
    if node.level:
        base = list(path.relative_to(PACKAGE).parent.parts) if path.is_relative_to(PACKAGE) else []
        base = base[: len(base) - (node.level - 1)] if node.level > 1 else base
    elif (node.module or "").split(".")[0] == PACKAGE.name:
        base = []
    else:
        return []
    rest = (node.module or "").split(".")
    base = base + [part for part in (rest if node.level else rest[1:]) if part]
    # `from .room import module` imports the module; `from .module import name` imports that module.
    return [found for name in node.names if (found := _module(base + [name.name]) or _module(base))]


def _place(path):
    """The number of the room that a file is in; the program's own start stands right of all."""
    if path.is_relative_to(EXPERIMENTS):
        return SHOW - 0.5
    parts = path.relative_to(PACKAGE).parts
    if len(parts) == 1:
        return {"__init__.py": -1, "__main__.py": len(ROOMS)}.get(parts[0])
    return ROOMS.index(parts[0]) if parts[0] in ROOMS else None


def findings():
    found = []
    graph = {}
    for path in files(".py"):
        path = pathlib.PurePath(path)
        shows = path.is_relative_to(EXPERIMENTS)
        if not shows and not path.is_relative_to(PACKAGE):
            continue
        place = _place(path)
        if place is None:
            found.append(f"{path}:1: stands in no room of scripts/python_floors.py")
            continue
        graph[path] = set()
        for node in ast.walk(ast.parse(text(path))):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            for target in _targets(path, node):
                graph[path].add(target)
                if (_place(target) if _place(target) is not None else -1) > place:
                    found.append(f"{path}:{node.lineno}: uses {target}, which stands to its right")
    for path in graph:
        seen, waiting = set(), [target for target in graph[path] if target.name != "__init__.py"]
        while waiting:
            target = waiting.pop()
            if target not in seen:
                seen.add(target)
                waiting += graph.get(target, ())
        if path in seen:
            found.append(f"{path}:1: imports itself, by a circle")
    return found
