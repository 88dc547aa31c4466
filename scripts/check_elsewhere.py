# SPDX-License-Identifier: MIT
"""Plants faults of other systems into a copy of the sources, and sees that scripts/elsewhere.py says each by target and line."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
COPIED = ["CMakeLists.txt", "CMakePresets.json", "cmake", "include", "src", "scripts", "tests/whole/elsewhere", "tests/whole/consumer/every_part.cpp"]
FAULTS = [    # target, and what is planted together: file, text added to its end, what must be said of the place
    ("mingw", [("include/headroom/pages.hpp", "#include <sys/prctl.h>\n", "sys/prctl.h: No such file or directory")]),
    # std::size_t is unsigned long long on Windows, and unsigned long on Linux.
    ("mingw", [("include/headroom/growth.hpp", "inline std::size_t narrowed(unsigned long long n) { return static_cast<std::size_t>(n); }\n", "error: useless cast"),
     ("src/misuse.cpp", "long planted() { return sysconf(0); }\n", "error: 'sysconf' was not declared")]),
    ("without-exceptions", [("src/refused.cpp", "void planted() { throw 1; }\n", "error: exception handling disabled")]),
]


def copy(name, tree):
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    if (ROOT / name).is_dir():
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(ROOT / name, tree / name)


failures = []
for target, together in FAULTS:
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for name in COPIED:
            copy(name, tree)
        for file, text, _ in together:
            with (tree / file).open("a", encoding="utf-8") as planted:
                planted.write(text)
        run = subprocess.run([sys.executable, "-B", tree / "scripts/elsewhere.py", target], capture_output=True, text=True)
        for file, _, expected in together:
            place = f"{target}: {file}:{len((tree / file).read_text(encoding='utf-8').splitlines())}:"
            if run.returncode != 1 or not any(line.startswith(place) and expected in line for line in run.stdout.splitlines()):
                failures.append(f"elsewhere: wanted \"{place} {expected}\", got {run.returncode}:\n{run.stdout}{run.stderr}")
if failures:
    print("\n".join(failures))
sys.exit(1 if failures else 0)
