# SPDX-License-Identifier: MIT
"""Compiles, links and runs a little of Headroom for other systems and compilers: python3 scripts/elsewhere.py [TARGET...]

For each target, a preset of CMakePresets.json: the library, for most as one unit, all public headers in one unit, and a program that
uses each of them (tests/whole/consumer/every_part.cpp), with warnings as errors; and the program runs where this system or an emulator
can run it. What fails is said by target and line; build/log/elsewhere-TARGET.log has the rest. The last line counts the targets.

No test programs are built: `./dev test --only TARGET` builds and runs those. The preset i686 is a part of `./dev test` by itself.
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from sources import ROOT

ZIG = ["macos-aarch64", "freebsd-x86_64"]    # by ziglang: compiled and linked, not run
TARGETS = [
    *ZIG,    # first, as the slowest: ziglang builds a C++ library once for each system
    "mingw",
    "aarch64",
    "riscv64",
    "clang-libcxx",
    "clang-14",
    "gcc-11",
    "without-exceptions",    # of this system: the library, its single header, and a program that is refused something by each part
    "without-exceptions-clang",    # and as a shared library
]
MSVC = ["msvc", "clang-cl"]    # where HEADROOM_MSVC names a folder with Microsoft's compiler, headers and libraries
FLAGS = ["-DHEADROOM_ELSEWHERE=ON", "-DHEADROOM_TESTS=OFF", "-DHEADROOM_TOOLS=OFF", "-DHEADROOM_INSTALL=OFF"]
AS_ONE = ["-DHEADROOM_UNITY=ON"]
ONE_BY_ONE = ["macos-aarch64"]    # each source by itself, with the newest C++ library: finds includes that a source lacks
UNOPTIMISED = ["-DCMAKE_CXX_FLAGS_DEBUG=-O0"]    # a third of the time; ziglang has its C++ library as its preset compiles
# libc++ includes less from C++23 on: finds headers that another one brought.
NEWER = {"clang-libcxx": ["-DCMAKE_CXX_STANDARD=23"]}
ENVIRONMENT = dict(os.environ, LC_ALL="C")    # compilers' English, which COMPLAINT knows
COMPLAINT = re.compile(r":\d+(:\d+)?: (fatal )?error: |undefined (reference|symbol)|\bld(\.lld)?: error|^CMake Error|^not so: |\*\*\*Exception|\*\*\*Timeout|^terminate called")


class Target:
    """One target's steps, what they printed, and the processor time that they took."""

    def __init__(self, name):
        self.name, self.output, self.seconds = name, "", 0.0
        self.build = ROOT / "build" / "elsewhere" / name

    def step(self, *command):
        """True if the command succeeds."""
        process = subprocess.Popen([str(word) for word in command], cwd=ROOT, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.output += process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        self.seconds += usage.ru_utime + usage.ru_stime
        return process.returncode == 0

    def run(self):
        """What was done of it, and whether that is all."""
        flags = FLAGS + ([] if self.name in ONE_BY_ONE else AS_ONE) + ([] if self.name in ZIG + MSVC else UNOPTIMISED) + NEWER.get(self.name, [])
        if not self.step("cmake", "--preset", self.name, "-B", self.build, *flags):
            return "not configured", False
        if not self.step("cmake", "--build", self.build, "--parallel", "1", "--target", "headroom", "elsewhere", "--", "-k", "0"):
            return "not built", False
        if self.name in ZIG:
            return "compiled and linked", True
        if not self.step("ctest", "--test-dir", self.build, "--output-on-failure", "--no-tests=error"):
            return "compiled and linked; the program failed", False
        return "compiled, linked and run", True

    def complaints(self):
        """The lines that say what is wrong, without this folder's name; the last lines if none does."""
        lines = self.output.replace(f"{ROOT}/", "").splitlines()
        found = list(dict.fromkeys(line.strip() for line in lines if COMPLAINT.search(line) and " -I" not in line))
        return found[:20] or lines[-20:]


def check(name):
    target = Target(name)
    done, well = target.run()
    log = ROOT / "build" / "log" / f"elsewhere-{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(target.output, encoding="utf-8")
    print("\n".join([f"   {name:<26}{done}, {target.seconds:.0f} s of a processor",
                     *([] if well else (f"{name}: {line}" for line in target.complaints()))]), flush=True)
    return well, target.seconds


def main(names):
    unknown = [name for name in names if name not in TARGETS + MSVC]
    if unknown:
        print(f"elsewhere: there is no target {unknown[0]}. There are: {' '.join(TARGETS + MSVC)}", file=sys.stderr)
        return 2
    names = names or TARGETS + (MSVC if os.environ.get("HEADROOM_MSVC") else [])
    if not (ROOT / ".venv/bin/python").exists():
        for name in set(names) & set(ZIG):
            print(f"   {name:<26}left out: there is no .venv with ziglang")
        names = [name for name in names if name not in ZIG]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, names))
    failed = sum(not well for well, _ in results)
    print(f"   {sum(seconds for _, seconds in results):.0f} s of a processor in all")
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
