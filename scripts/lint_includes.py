# SPDX-License-Identifier: MIT
"""The picture of what includes what is that of the files as they are: docs/design.md shows it."""
import draw_includes
from floors import FLOORS
from sources import ROOT, finish

path = ROOT / draw_includes.PICTURE
current = not path.is_file() or path.read_text(encoding="utf-8") == draw_includes.picture(FLOORS)
finish([] if current else [f"{draw_includes.PICTURE}:1: not of these files; python3 scripts/draw_includes.py draws it"])
