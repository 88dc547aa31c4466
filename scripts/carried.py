# SPDX-License-Identifier: MIT
"""Prints what a program that only appends to a headroom::vector carries of the library, part by part: python3 scripts/carried.py [--write] [MAP]

--write puts the table into docs/design.md. Compiles the library as the preset `library` does, with GCC, links tests/whole/size/vector.cpp with
--gc-sections, and reads the linker's map; or reads the map that is named.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

from sources import ROOT

# Part: the source files of it, and why a program that appends needs it.
PARTS = {
    "the program": (["program"], "its `main`, and what the headers make of `push_back`"),
    "vector/": (["growing_block", "heap_blocks", "mapped_block", "mapped_block_calls"], "growing a block: on the heap, in a mapping, from one to the other"),
    "range/: ranges": (["acquiring", "range", "extent", "committing", "changing", "moving", "registry", "counters"], "reserving, committing, releasing"),
    "range/: the cache": (["cache", "account", "premapped", "quarantine"], "idle memory, kept for the next vector"),
    "range/: policy": (["process_policy", "options"], "limits of the process, `HEADROOM_OPTIONS`"),
    "admission": (["admitting", "admission", "linux_groups", "linux_limits"], "what the machine and its control groups have left"),
    "system/": (["linux", "linux_process", "linux_marks", "calls", "page_size_posix", "threads_posix", "unmap_queue", "at_fork", "helper_thread_posix"], "system calls, page size, fork, threads"),
    "errors": (["errors", "logic_errors", "refused", "system_error"], "what is thrown"),
}
SECTIONS = ("text", "rodata", "data", "bss")
INPUT = re.compile(r"^ \.(text|rodata|data|bss|tbss|tdata|init_array)\S*(?:\n\s+|\s+)0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+)$", re.M)


def linked(folder):
    build = pathlib.Path(folder)
    for command in (["cmake", "--preset", "library", "-B", build, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=g++", "-DHEADROOM_INSTALL=OFF"],
                    ["cmake", "--build", build, "--target", "headroom"],
                    ["g++", "-O2", "-std=c++20", f"-I{ROOT}/include", "-c", ROOT / "tests/whole/size/vector.cpp", "-o", build / "program.o"],
                    ["g++", build / "program.o", "-o", build / "program", build / "libheadroom.a", "-pthread", "-Wl,--gc-sections", f"-Wl,-Map={build}/map"]):
        subprocess.run(list(map(str, command)), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return (build / "map").read_text()


def carried(text):
    """{source file's name: {section: bytes}} of what the linker kept."""
    found = collections.defaultdict(collections.Counter)
    for section, size, file in INPUT.findall(text[text.index("Linker script and memory map"):]):
        member = re.search(r"libheadroom\.a\((.*?)\.cpp\.o\)$", file)
        if file.startswith("/usr/") or not member and not file.endswith("program.o"):    # of the C and C++ libraries
            continue
        section = {"tbss": "bss", "tdata": "data", "init_array": "data"}.get(section, section)
        found[member[1] if member else "program"][section] += int(size, 16)
    return found


def table(found):
    part_of = {name: part for part, (names, _) in PARTS.items() for name in names}
    unknown = sorted(set(found) - set(part_of))
    if unknown:
        sys.exit(f"carried: of no part: {' '.join(unknown)}")
    sums = collections.defaultdict(collections.Counter)
    for name, sizes in found.items():
        sums[part_of[name]].update(sizes)
    yield "| part | code | constants | data | why |"
    yield "|---|--:|--:|--:|---|"
    for part, (_, why) in PARTS.items():
        size = sums[part]
        yield f"| {part} | {size['text']:,} | {size['rodata']:,} | {size['data'] + size['bss']:,} | {why} |"
    total = sum(sums.values(), collections.Counter())
    yield f"| all | {total['text']:,} | {total['rodata']:,} | {total['data'] + total['bss']:,} | |"


if __name__ == "__main__":
    maps = [argument for argument in sys.argv[1:] if argument != "--write"]
    if maps:
        found = carried(pathlib.Path(maps[0]).read_text())
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = carried(linked(folder))
    lines = "\n".join(table(found))
    print(lines)
    if "--write" in sys.argv:
        page = ROOT / "docs/design.md"
        page.write_text(re.sub(r"(?<=<!-- carried -->\n).*(?=<!-- end of carried -->)", lambda _: lines + "\n", page.read_text(), flags=re.S))
    for name, sizes in sorted(found.items(), key=lambda each: -each[1]["text"]):
        print(f"{name:<20}" + "".join(f"{sizes[section]:>8}" for section in SECTIONS), file=sys.stderr)
