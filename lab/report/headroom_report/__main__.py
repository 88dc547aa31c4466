"""python -m headroom_report FILES... [--out report.html] [--text[=all]] [--svg DIR]
python -m headroom_report compare A B [--out compare.html]"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from . import model, results


def _width() -> int:
    return max(100, shutil.get_terminal_size((150, 40)).columns) if sys.stdout.isatty() else 150


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headroom_report",
        description="Makes the lab's report from result files.",
        epilog="To compare two result sets: headroom_report compare A B",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="result files (JSON Lines), or folders of them")
    parser.add_argument("--out", metavar="PAGE", help="write the page here (one self-contained HTML file)")
    parser.add_argument(
        "--text",
        nargs="?",
        const="short",
        choices=("short", "all"),
        help="print the claims, promises and losses as text; all: every table",
    )
    parser.add_argument("--machine", metavar="ID", help="show the results of this machine (or build) alone")
    parser.add_argument(
        "--publish",
        metavar="DIR",
        help="write what a repository keeps: index.html, the pictures that a README shows, and the result lines, packed",
    )
    parser.add_argument("--svg", metavar="DIR", help="write each picture here as an SVG file")
    return parser


def expand(names: list[str]) -> list[str]:
    """Folders stand for the .jsonl and .jsonl.gz files in them."""
    files: list[str] = []
    for name in names:
        if os.path.isdir(name):
            files += sorted(str(path) for pattern in ("*.jsonl", "*.jsonl.gz") for path in Path(name).glob(pattern))
        else:
            files.append(name)
    return files


def _write(path: str, text: str) -> bool:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"headroom_report: {path}: {error.strerror or error}", file=sys.stderr)
        return False
    print(f"headroom_report: wrote {path} ({len(text.encode()) / 1e6:.1f} MB)", file=sys.stderr)
    return True


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["compare"]:
        from . import compare

        return compare.main(arguments[1:])
    options = _parser().parse_args(arguments)
    if not options.files:
        _parser().error("which result files?")
    found = results.read(expand(options.files))
    report = model.build(found, options.machine)
    for problem in found.problems:
        print(f"headroom_report: {problem}", file=sys.stderr)
    good = True
    if options.text or not (options.out or options.svg or options.publish):
        from . import text

        sys.stdout.write(text.report_text(report, _width(), options.text == "all"))
    if options.out:
        from . import page

        good &= _write(options.out, page.render(report))
    if options.publish:
        from . import publish

        good &= publish.publish(report, found, options.publish)
    if options.svg:
        from . import page

        for name, svg in page.pictures_as_svg(report):
            good &= _write(str(Path(options.svg) / f"{name}.svg"), svg)
    # A page that says "nothing could be read" was still asked for and written, but no script should take it for success.
    return 0 if good and report.machines else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
