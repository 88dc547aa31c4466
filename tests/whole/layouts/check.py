# SPDX-License-Identifier: MIT
"""Compiles the headers for Microsoft's ABI, with Clang alone, and sees that objects are as large as in Itanium's: check.py [CLANG]

MSVC and its headers are not needed: MinGW's C++ library is preprocessed for MinGW, the headers of this library as MSVC would have them,
and the result is compiled for MSVC. That ABI ignores [[no_unique_address]]; a fault of that kind, planted here, must be found. Ends with
77 where Clang or MinGW's library is missing.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
STANDARD = re.compile(r"^#include (<[a-z_0-9]+>)", re.M)
MINGW = pathlib.Path("/usr/lib/gcc/x86_64-w64-mingw32")


def compiled(clang, target, source, *flags):
    return subprocess.run([clang, f"--target={target}", "-std=c++20", *flags, str(source)], capture_output=True, text=True)


def sizes(clang, include, work, microsoft):
    """The sizes that layouts.cpp lists, or what the compiler says against it."""
    library = sorted(MINGW.glob("12-posix/include/c++"))[-1]
    names = sorted({name for path in (ROOT / "include").rglob("*.hpp") for name in STANDARD.findall(path.read_text(encoding="utf-8"))})
    source = work / "layouts.cpp"
    # A compiler that follows MSVC defines the one and not the other; MinGW's headers want it the other way round.
    as_msvc = "#define _MSC_VER 1944\n#undef __GNUC__\n" if microsoft else ""
    source.write_text("".join(f"#include {name}\n" for name in names) + as_msvc + (HERE / "layouts.cpp").read_text(encoding="utf-8"), encoding="utf-8")
    preprocessed = work / "layouts.ii"
    made = compiled(clang, "x86_64-w64-windows-gnu", source, "-E", "-o", preprocessed, "-D__debugbreak=mingw_debugbreak", "-nostdinc++",
                    "-isystem", library, "-isystem", library / "x86_64-w64-mingw32", "-I", include)
    if made.returncode == 0:
        target = "x86_64-pc-windows-msvc" if microsoft else "x86_64-w64-windows-gnu"
        made = compiled(clang, target, preprocessed, "-S", "-emit-llvm", "-o", "-", "-Wno-everything", "-Werror=unknown-attributes",
                        *(["-fno-ms-compatibility", "-fdeclspec"] if microsoft else []))
    found = re.search(r"headroom_sizes.* constant \[\d+ x i64\] \[([^\]]*)\]", made.stdout)
    return [int(number) for number in re.findall(r"i64 (\d+)", found[1])] if found else made.stderr


def main(clang):
    if not shutil.which(clang) or not list(MINGW.glob("12-posix/include/c++")):
        print("left out: needs Clang and MinGW's C++ library")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        itanium, microsoft = (sizes(clang, ROOT / "include", work, abi) for abi in (False, True))
        listed = re.findall(r"^    sizeof\((.*)\),$", (HERE / "layouts.cpp").read_text(encoding="utf-8"), re.M)
        if not isinstance(itanium, list) or not isinstance(microsoft, list) or not len(itanium) == len(microsoft) == len(listed):
            print(f"not compiled:\nItanium: {itanium}\nMicrosoft: {microsoft}")
            return 1
        differing = [f"{name}: {theirs} bytes, {ours} in Itanium's ABI" for name, ours, theirs in zip(listed, itanium, microsoft) if ours != theirs]
        for line in differing:
            print(line)
        # The fault.
        shutil.copytree(ROOT / "include", work / "include")
        for path in (work / "include").rglob("*.hpp"):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace("msvc::no_unique_address", "no_unique_address"), encoding="utf-8")
        planted = sizes(clang, work / "include", work, True)
        if planted == microsoft:
            print("a raw [[no_unique_address]] was not found")
            return 1
        return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:2] or ["clang++-19"])))
