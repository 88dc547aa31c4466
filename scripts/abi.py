# SPDX-License-Identifier: MIT
"""Compares the ABI of the shared libraries with the recorded one: python3 scripts/abi.py [--record]

Why: the SONAME promises that programs need not be compiled again; nobody sees by reading a change what it does to layouts and symbols.

Takes the libraries that the test consumer.install_shared installed in build/dev (or in --prefix), and the public classes of
tests/whole/abi/classes.cpp, most of which are in no library. libabigail reads their debug information. Before 1.0 a minor version
may change everything, and its SONAME changes with it; within one, an ABI that is not the recorded one is an error. --record records it
anew, and Debian's lists of symbols (debian/*.symbols): a patch release may do so only for what abidiff calls harmless. Ends with 77 where libabigail, or the compiler that
made the record, is missing.
"""
import argparse
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from sources import ROOT, text

RECORDED = ROOT / "packaging/abi"
INCLUDE = ROOT / "include"
CLASSES = ROOT / "tests/whole/abi/classes.cpp"
LIBRARIES = ("libheadroom", "libheadroom-file", "libheadroom-exchange")
# No places in files, no names that hang on where it was built; of types only those that headers show.
ABIDW = ["abidw", "--no-show-locs", "--no-comp-dir-path", "--no-corpus-path", "--no-elf-needed", "--no-parameter-names",
         "--exported-interfaces-only", "--drop-private-types", "--headers-dir"]
FORGOTTEN = "if it is meant: python3 scripts/abi.py --record, and a line in CHANGELOG.md"


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def compiler_of(cxx):
    """The compiler by name, major version and target, on which the standard library's part of an ABI depends."""
    name = "Clang" if "clang" in run(cxx, "--version").stdout.lower() else "GCC"
    version, target = run(cxx, "-dumpversion").stdout.strip(), run(cxx, "-dumpmachine").stdout.strip()
    return f"{name} {version.split('.')[0]}, {target}" if version and target else "unknown"


def soname():
    major, minor = re.search(r"project\(headroom VERSION (\d+)\.(\d+)", text("CMakeLists.txt")).groups()
    return f"libheadroom.so.{major}.{minor}"


def described(library, include, to):
    """Writes the ABI of a library; what libabigail said if it cannot."""
    made = run(*ABIDW, include, library, "--out-file", to)
    return made.stderr if made.returncode or not to.exists() else ""


def compiled(cxx, include, to):
    made = run(cxx, "-std=c++20", "-g", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", "-I", include, CLASSES, "-o", to)
    return made.stderr


def differences(old, new):
    """What abidiff says of two descriptions; nothing if they are the same."""
    made = run("abidiff", "--no-default-suppression", old, new)
    return (made.stdout + made.stderr).strip() if made.returncode else ""


# A class and a template, to each of which a member is added.
PLANTED = (("reservation.hpp", r"(\nclass (?:\w+ )?reservation \{\n)", "planted_in_class_"),
           ("small_vector.hpp", r"(\nclass HEADROOM_HARDENED_ABI small_vector : [^\n]*\{\n)", "planted_in_template_"))


def planted(cxx, work, old):
    """True if the members that are planted are found."""
    include = work / "include"
    shutil.copytree(INCLUDE, include)
    for name, place, member in PLANTED:
        header = include / "headroom" / name
        changed, count = re.subn(place, rf"\1    int {member} = 0;\n", header.read_text(encoding="utf-8"))
        header.write_text(changed, encoding="utf-8")
        if count != 1:
            print(f"no fault was planted in {name}")
            return False
    said = compiled(cxx, include, work / "planted.so") or described(work / "planted.so", include, work / "planted.abi")
    if said:
        print(f"no fault was planted: {said}")
        return False
    found = differences(old, work / "planted.abi")
    return all(member in found for _, _, member in PLANTED)


def without_layout(descriptions):
    """The classes of classes.cpp that no description has whole: a change of their members would pass unseen."""
    whole = set()
    for path in descriptions:
        for tag in re.findall(r"<class-decl [^>]*>", path.read_text(encoding="utf-8")):
            if "is-declaration-only" not in tag:
                whole.add(re.search(r" name='(\w+)", tag)[1])
    named = re.findall(r"(?m)^CLASS\(\w+, ([\w:]+)(<[^:]*>)?(?:::(\w+))?\)", CLASSES.read_text(encoding="utf-8"))
    return [name for first, _, member in named if (name := member or first.split("::")[-1]) not in whole | {"iterator"}]


def debian_symbols(name, library, at):
    """The list of a library's symbols for dpkg-gensymbols, by their C++ names. Those for components alone may go: they are of one version."""
    whole, major, minor = re.search(r"project\(headroom VERSION ((\d+)\.(\d+)\.\d+)", text("CMakeLists.txt")).groups()
    inside = {called for path in (ROOT / "src").rglob("*.hpp")
              for called in re.findall(r"HEADROOM_FOR_COMPONENTS [^;(]*?(~?\w+)\(", path.read_text(encoding="utf-8"))}
    since = dict(re.findall(r'"(.*)@Base" (\S+)', at.read_text(encoding="utf-8"))) if at.exists() else {}
    names = {line.split(" ", 2)[2] for line in run("nm", "-DC", "--defined-only", library).stdout.splitlines()}
    listed = [f"{name}.so.{major}.{minor} {name}{major}.{minor} #MINVER#", "* Build-Depends-Package: libheadroom-dev"]
    for symbol in sorted(names):
        called = re.search(r"(~?\w+)\(", symbol)
        tags = "optional|c++" if called and called[1] in inside else "c++"
        listed.append(f' ({tags}|arch-bits=64)"{symbol}@Base" {since.get(symbol, whole)}')
    # Of 32 bits sizes have another type, and so the names.
    listed.append(f' (regex|arch-bits=32)"^_Z.*@Base$" {whole}')
    return "\n".join(listed) + "\n"


def main(arguments):
    cxx = shutil.which(arguments.cxx)
    compiler = compiler_of(cxx) if cxx else "none"
    if not shutil.which("abidiff") or not cxx:
        print("left out: needs abidiff (Debian: abigail-tools) and g++")
        return 77
    note = RECORDED / "of.txt"
    recorded = note.read_text(encoding="utf-8").splitlines() if note.exists() else ["", ""]
    if not arguments.record and recorded[0] != soname():
        print(f"packaging/abi/ has the ABI of {recorded[0] or 'nothing'}, and this is {soname()}: python3 scripts/abi.py --record")
        return 1
    if not arguments.record and recorded[1] != compiler:
        print(f"left out: the ABI was recorded with {recorded[1]}, and here is {compiler}")
        return 77
    if arguments.record and not arguments.prefix:
        made = run("ctest", "--test-dir", ROOT / "build/dev", "-R", r"^consumer\.install_shared$", "--no-tests=error")
        if made.returncode:
            print(f"cannot build the libraries; first: ./dev build\n{made.stdout}{made.stderr}")
            return 1
    prefix = arguments.prefix or ROOT / "build/dev/tests/whole/consumer/installed-shared"
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        found = {name: next(iter(sorted(prefix.rglob(f"{name}.so"))), None) for name in LIBRARIES}
        missing = [name for name, path in found.items() if path is None]
        if missing:
            print(f"{prefix} has no {missing[0]}.so")
            return 1
        found["classes"] = work / "classes.so"
        if said := compiled(cxx, INCLUDE, found["classes"]):
            print(said)
            return 1
        for name, library in found.items():
            new, old, kept = work / f"{name}.abi", work / f"{name}.old.abi", RECORDED / f"{name}.abi.xz"
            if said := described(library, INCLUDE, new):
                print(said)
                return 1
            if kept.exists():
                old.write_bytes(lzma.decompress(kept.read_bytes()))
            changes = differences(old, new) if kept.exists() else "it was not recorded"
            # (To abidiff a class that is declared alone and the same with its layout are equal.)
            if arguments.record and (changes or old.read_bytes() != new.read_bytes()):
                RECORDED.mkdir(exist_ok=True)
                kept.write_bytes(lzma.compress(new.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
                print(f"{name}: recorded. {changes}")
            elif changes and not arguments.record:
                print(f"{name} has another ABI than the recorded one of {soname()}; {FORGOTTEN}\n{changes}")
                failed = True
        if unseen := without_layout([work / f"{name}.abi" for name in found]):
            print(f"tests/whole/abi/classes.cpp: the layouts are in no description of: {', '.join(unseen)}")
            failed = True
        for name in LIBRARIES:
            at = ROOT / f"debian/{name}{soname().removeprefix('libheadroom.so.')}.symbols"
            symbols = debian_symbols(name, found[name], at)
            if arguments.record:
                at.write_text(symbols, encoding="utf-8")
            elif not at.exists() or at.read_text(encoding="utf-8") != symbols:
                print(f"{at.relative_to(ROOT)} is not of this library; {FORGOTTEN}")
                failed = True
        if arguments.record:
            note.write_text(f"{soname()}\n{compiler}\n", encoding="utf-8")
        elif not failed and not planted(cxx, work, work / "classes.old.abi"):
            print("a planted member was not found")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="record the ABI as it is")
    parser.add_argument("--prefix", type=pathlib.Path, help="where the shared libraries are installed, with debug information")
    parser.add_argument("--cxx", default="g++", help="the compiler that made them")
    sys.exit(main(parser.parse_args()))
