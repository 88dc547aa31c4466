# SPDX-License-Identifier: MIT
"""python -m headroom_report FILES... [--out report.html] [--text[=all]] [--publish DIR]
python -m headroom_report compare A B"""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from .page import compare, html, model, publish, text
from .page.files import expand, write
from .results import reading


def _width() -> int:
    return max(40, shutil.get_terminal_size((80, 40)).columns)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headroom_report",
        description="Makes the lab's report from result files.",
        epilog="To compare two result sets: headroom_report compare A B",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="result files (JSON Lines), or folders of them")
    parser.add_argument("--out", metavar="PAGE", help="write the page here (one self-contained HTML file)")
    parser.add_argument(
        "--text",
        nargs="?",
        const="short",
        choices=("short", "all"),
        help="print what matters as text: ten lines; all: every claim, promise, loss and table",
    )
    parser.add_argument(
        "--publish",
        metavar="DIR",
        help="write what a repository keeps: index.html, the pictures that a README shows, and the result lines, packed",
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["compare"]:
        return compare.main(arguments[1:])
    options = _parser().parse_args(arguments)
    found = reading.read(expand(options.files))
    report = model.build(found)
    for problem in found.problems:
        print(f"headroom_report: {problem}", file=sys.stderr)
    good = True
    if options.text or not (options.out or options.publish):
        sys.stdout.write(text.report_text(report, _width(), options.text == "all"))
    if options.out:
        good &= write(options.out, html.render(report))
    if options.publish:
        good &= publish.publish(report, found, options.publish)
    # A page that says "nothing could be read", or that leaves lines out, was still asked for and written, but no script should take
    # it for success.
    return 0 if good and report.machines and not found.problems else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # names of files may be no text
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
