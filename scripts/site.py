# SPDX-License-Identifier: MIT
"""Builds the documentation site from the Markdown files: scripts/site.py FOLDER

They stay where they are read on their own (README.md, docs/, examples/, lab/): this puts copies of them, and of what they
link to, into FOLDER/source in the same order, and has MkDocs build FOLDER/site. A link that leads nowhere is an error.
Needs mkdocs (tests/requirements.txt).
"""
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPIED = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "docs/**/*", "examples/**/*.md", "examples/**/*.cpp",
          "examples/**/*.py", "lab/**/*.md", "python/README.md"]
NAVIGATION = [    # a reader's path of ten, what is looked up, and what only who changes Headroom needs
    ("Headroom", "README.md"), ("Quickstart", "docs/quickstart.md"), ("Overview", "docs/overview.md"),
    ("Choosing an allocator", "docs/choosing.md"), ("Reference", "docs/reference"), ("Threads, fork, globals", "docs/threads.md"),
    ("Limits", "docs/limits.md"), ("Migrating", "docs/migrating.md"),
    ("Find out where you would gain", "docs/find-out-where-you-would-gain.md"), ("Which malloc", "docs/compare-malloc.md"), ("What people ask first", "docs/questions.md"),
    ("To look up", [
        ("Examples", "examples/README.md"), ("Python", "python/README.md"), ("In the wild", "docs/in-the-wild.md"), ("Tuning", "docs/tuning.md"),
        ("Debugging", "docs/debugging.md"), ("Watch a process", "docs/watch-a-process.md"), ("Platforms", "docs/platforms.md"),
        ("On several machines", "docs/many-machines.md"), ("Many machines: an example", "examples/many_machines/README.md"),
        ("The lab", "lab/README.md"), ("Changes", "CHANGELOG.md"), ("Security", "SECURITY.md")]),
    ("For those who change Headroom", [
        ("Contributing", "CONTRIBUTING.md"), ("Design", "docs/design.md"), ("Conformance", "docs/conformance.md"), ("Dead ends", "docs/dead-ends.md"),
        ("The report's programs", "lab/report/README.md"), ("Peers", "lab/peers/README.md"), ("Reset words", "lab/experiments/reset-words/README.md")]),
]


def title(page):
    first = page.read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("# ").replace("headroom::", "")


def named(entries):
    """The pages of a navigation, and those of its folders."""
    for _, target in entries:
        if isinstance(target, list):
            yield from named(target)
        else:
            yield target


def navigation(entries):
    made = []
    for name, target in entries:
        if isinstance(target, list):
            made.append({name: navigation(target)})
        elif (ROOT / target).is_dir():
            pages = sorted((ROOT / target).glob("*.md"), key=lambda page: (page.name != "README.md", page.name))
            made.append({name: [{title(page): page.relative_to(ROOT).as_posix()} for page in pages]})
        elif (ROOT / target).is_file():
            made.append({name: target})
    return made


rest = sorted({path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md")} - set(named(NAVIGATION)))
NAVIGATION[-1][1].extend((title(ROOT / page), page) for page in rest)
folder = pathlib.Path(sys.argv[1]).resolve()
source = folder / "source"
for made in (source, folder / "site"):    # and not the folder, which may hold more than what is made here
    shutil.rmtree(made, ignore_errors=True)
for pattern in COPIED:
    for path in sorted(ROOT.glob(pattern)):
        if path.is_file():
            target = source / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
# The theme cuts tables off rather than wrap their lines.
style = ".rst-content .wy-table-responsive table td, .wy-table-responsive table th { white-space: normal !important; }"
(source / "site.css").write_text(style + "\n.wy-nav-content { max-width: 1100px; }\n", encoding="utf-8")
config = {    # JSON is YAML too
    "site_name": "Headroom", "site_description": "Growable memory for C++20", "site_url": "",
    "docs_dir": "source", "site_dir": "site", "nav": navigation(NAVIGATION), "use_directory_urls": False,
    "theme": {"name": "readthedocs", "navigation_depth": 3, "highlightjs": False},
    "plugins": ["search"], "extra_css": ["site.css"],
    "markdown_extensions": ["tables", "fenced_code", {"toc": {"permalink": "#"}},
                            {"codehilite": {"noclasses": True, "guess_lang": False}}],
    "validation": {"omitted_files": "warn", "absolute_links": "warn", "unrecognized_links": "warn", "anchors": "warn"},
}
(folder / "mkdocs.yml").write_text(json.dumps(config), encoding="utf-8")
made = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", folder / "mkdocs.yml"])
sys.exit(made.returncode)
