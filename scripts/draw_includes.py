# SPDX-License-Identifier: MIT
"""Draws docs/pictures/includes.svg: the rooms of the library, and an arrow from each to those whose files it includes.

usage: python3 scripts/draw_includes.py      after a change of what includes what (scripts/lint_includes.py asks for it)

A room is a folder; of include/headroom it is a floor. Rooms stand above what they include. Arrows that others imply are left out; rooms
that include each other stand side by side, joined by a dashed line.
"""
import html
import pathlib

import includes
from sources import ROOT

PICTURE = pathlib.PurePath("docs/pictures/includes.svg")
WIDTH, HEIGHT, GAP_X, GAP_Y, LINE = 250, 30, 24, 46, 17
STYLE = {"include": "#cfe0f2", "detail": "#eef3f8", "src": "#f6e3c5"}


def room_of(path, floors):
    parts = path.parts
    if parts[:2] == ("include", "headroom"):
        if len(parts) == 3:
            return f"floor {floors[path.stem]}" if path.stem in floors else None
        if parts[2] == "detail":
            return "detail/" + parts[3] if len(parts) > 4 else "detail"
    if parts[0] == "src" and path.suffix in (".cpp", ".hpp"):
        return "src/" + parts[1] if len(parts) > 2 else "src"
    return None


def rooms_and_arrows(floors):
    members, arrows = {}, {}
    graph = includes.graph()
    for path in graph:
        room = room_of(path, floors)
        if room is not None:
            members.setdefault(room, set()).add(path.stem)
            arrows.setdefault(room, set())
    for path, targets in graph.items():
        room = room_of(path, floors)
        arrows_of_room = arrows.get(room, set())
        arrows_of_room.update({room_of(target, floors) for _, target in targets} - {room, None})
    return members, arrows


def reachable(arrows, start):
    seen, todo = set(), list(arrows[start])
    while todo:
        room = todo.pop()
        if room not in seen:
            seen.add(room)
            todo.extend(arrows[room])
    return seen


def layers(arrows, reach):
    """Rooms by the longest chain of includes below them; rooms that include each other are in one layer."""
    depth = {}

    def depth_of(room):
        if room not in depth:
            circle = {other for other in reach[room] if room in reach[other]} | {room}
            below = {target for each in circle for target in arrows[each]} - circle
            found = 1 + max((depth_of(target) for target in below), default=-1)
            depth.update(dict.fromkeys(circle, found))
        return depth[room]

    found = {}
    for room in sorted(arrows):
        found.setdefault(depth_of(room), []).append(room)
    return [found[level] for level in sorted(found, reverse=True)]


def label(room, members):
    """The lines of a room's box."""
    if not room.startswith("floor"):
        return [room]
    words, text = sorted(members[room]), [room + ":"]
    for word in words:
        if len(text[-1]) + len(word) > 36:
            text.append("")
        text[-1] = (text[-1] + " " + word).strip()
    return text


def picture(floors):
    members, arrows = rooms_and_arrows(floors)
    reach = {room: reachable(arrows, room) for room in arrows}
    rows = layers(arrows, reach)
    width = max(len(row) for row in rows) * (WIDTH + GAP_X) + GAP_X
    box, y = {}, GAP_X
    for row in rows:
        height = max(HEIGHT + LINE * (len(label(room, members)) - 1) for room in row)
        x = (width - len(row) * (WIDTH + GAP_X) + GAP_X) / 2
        for room in row:
            box[room] = (x, y, height)
            x += WIDTH + GAP_X
        y += height + GAP_Y
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y - GAP_Y + GAP_X}" font-family="sans-serif" font-size="13">',
           '<defs><marker id="a" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
           '<path d="M0 0 L6 3 L0 6 z" fill="#555"/></marker></defs>',
           f'<rect width="{width}" height="{y - GAP_Y + GAP_X}" fill="white"/>']
    for room in sorted(arrows):
        x, top, height = box[room]
        for target in sorted(arrows[room]):
            to_x, to_top, _ = box[target]
            mutual = room in reach[target]
            if not mutual and any(target in reach[other] for other in arrows[room] - {target} if room not in reach[other]):
                continue
            if mutual:
                left, right = sorted((x, to_x))
                middle = top + height / 2
                out.append(f'<path d="M{left + WIDTH:g} {middle:g} L{right:g} {middle:g}" stroke="#555" stroke-dasharray="4 3" fill="none"/>')
            else:
                out.append(f'<path d="M{x + WIDTH / 2:g} {top + height:g} L{to_x + WIDTH / 2:g} {to_top:g}" stroke="#555" fill="none" '
                           'marker-end="url(#a)"/>')
    for room in sorted(arrows):
        x, top, height = box[room]
        kind = "include" if room.startswith("floor") else "src" if room.startswith("src") else "detail"
        out.append(f'<rect x="{x:g}" y="{top:g}" width="{WIDTH}" height="{height:g}" rx="4" fill="{STYLE[kind]}" stroke="#555"/>')
        text = label(room, members)
        start = top + height / 2 - LINE * (len(text) - 1) / 2 + 5
        out.extend(f'<text x="{x + WIDTH / 2:g}" y="{start + LINE * i:g}" text-anchor="middle">{html.escape(line)}</text>'
                   for i, line in enumerate(text))
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    from floors import FLOORS
    (ROOT / PICTURE).write_text(picture(FLOORS), encoding="utf-8")
