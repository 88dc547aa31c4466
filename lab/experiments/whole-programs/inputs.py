# SPDX-License-Identifier: MIT
"""Makes the inputs of the programs: the same in every run, and returns the arguments that each program is called with."""

from __future__ import annotations

import random
from pathlib import Path


def clauses(folder: Path) -> list[str]:
    """Random clauses of three, few enough that there is a solution."""
    some, variables, count = random.Random(1), 120_000, 360_000
    with open(folder / "clauses.cnf", "w") as file:
        file.write(f"p cnf {variables} {count}\n")
        for _ in range(count):
            file.write(" ".join(str(some.choice((1, -1)) * one) for one in some.sample(range(1, variables + 1), 3)) + " 0\n")
    return ["-q", f"{folder}/clauses.cnf"]


def word(some: random.Random) -> str:
    return "".join(some.choice("bcdfghklmnprstvz") + some.choice("aeiou") for _ in range(some.randint(2, 5)))


def labelled_lines(folder: Path) -> list[str]:
    some = random.Random(2)
    words = [word(some) for _ in range(60_000)]
    with open(folder / "lines.txt", "w") as file:
        for _ in range(60_000):
            line = (words[int(len(words) * some.random() ** 3)] for _ in range(15))
            file.write(f"__label__{some.randrange(50)} {' '.join(line)}\n")
    return ["supervised", "-input", f"{folder}/lines.txt", "-output", f"{folder}/model", "-thread", "2", "-dim", "20", "-epoch", "1",
            "-wordNgrams", "2", "-bucket", "200000", "-verbose", "0"]


def dictionary(folder: Path) -> list[str]:
    some = random.Random(3)
    words = sorted({word(some) for _ in range(200_000)})
    endings = "".join(f"SFX {flag} Y 2\nSFX {flag} 0 {flag.lower()}s .\nSFX {flag} a {flag.lower()}er a\n" for flag in "ABCD")
    (folder / "words.aff").write_text(f"SET UTF-8\nTRY aeioubcdfghklmnprstvz\n{endings}")
    (folder / "words.dic").write_text(f"{len(words)}\n" + "".join(f"{one}/{some.choice('ABCD')}\n" for one in words))
    asked = [some.choice(words) for _ in range(40_000)] + [word(some) + "q" for _ in range(15)]
    (folder / "asked.txt").write_text("\n".join(asked) + "\n")
    return [f"{folder}/{name}" for name in ("words.aff", "words.dic", "asked.txt")]


def records(folder: Path) -> list[str]:
    some = random.Random(4)
    with open(folder / "records.json", "w") as file:
        file.write("[\n")
        for number in range(60_000):
            tags = ", ".join(f'"{word(some)}"' for _ in range(some.randrange(6)))
            file.write(f'{{"id": {number}, "name": "{word(some)} {word(some)}", "tags": [{tags}], '
                       f'"at": {{"x": {some.random():.6f}, "y": {some.random():.6f}}}, "open": true}},\n')
        file.write('{"id": -1}\n]\n')
    return [f"{folder}/records.json"]


def targets(folder: Path) -> list[str]:
    some = random.Random(5)
    headers = [f"h{number}.hpp" for number in range(300)]
    for one in [*headers, "main.cpp"]:
        (folder / one).touch()
    with open(folder / "build.ninja", "w") as file:
        file.write("rule cxx\n  command = c++ -O2 -c $in -o $out -D$name\n  description = $out\n"
                   "rule link\n  command = c++ $in -o $out\n\n")
        for program in range(1000):
            objects = [f"part{program}/file{number}.o" for number in range(30)]
            for one in objects:
                file.write(f"build {one}: cxx main.cpp | {' '.join(some.sample(headers, 8))}\n  name = {word(some)}\n")
            file.write(f"build program{program}: link {' '.join(objects)}\n")
    return ["-n", "-C", str(folder)]


def polygons(folder: Path) -> list[str]:
    return ["400", "60"]


def documents(folder: Path) -> list[str]:
    some = random.Random(6)
    with open(folder / "documents.yaml", "w") as file:
        for number in range(9000):
            file.write(f"- id: {number}\n  name: {word(some)} {word(some)}\n  tags: [{', '.join(word(some) for _ in range(4))}]\n"
                       f"  at:\n    x: {some.random():.6f}\n    y: {some.random():.6f}\n")
    return [f"{folder}/documents.yaml"]


def height_field(folder: Path) -> list[str]:
    """A surface of 2 x 240 x 240 triangles, to be reduced to a tenth of its corners."""
    some, side = random.Random(7), 241
    with open(folder / "surface.off", "w") as file:
        file.write(f"OFF\n{side * side} {2 * (side - 1) ** 2} 0\n")
        for y in range(side):
            file.writelines(f"{x} {y} {5 * some.random():.4f}\n" for x in range(side))
        for y in range(side - 1):
            for x in range(side - 1):
                at = y * side + x
                file.write(f"3 {at} {at + 1} {at + side}\n3 {at + 1} {at + side + 1} {at + side}\n")
    return ["-M", "Q", "-M", "NF:30", "-n", "0.1", "-i", f"{folder}/surface.off", "-o", f"{folder}/reduced.off"]


def tours(folder: Path) -> list[str]:
    return ["300", "110"]


def measurements(folder: Path) -> list[str]:
    """Rows of 16 numbers and a class of four that depends on some of them."""
    some = random.Random(8)
    with open(folder / "measurements.txt", "w") as file:
        file.write(" ".join([f"x{number}" for number in range(16)] + ["class"]) + "\n")
        for _ in range(3000):
            row = [some.random() for _ in range(16)]
            kind = 1 + (row[0] + row[1] * row[2] + some.gauss(0, 0.2) > 0.8) + 2 * (row[3] > row[4] + some.gauss(0, 0.1))
            file.write(" ".join(f"{one:.3f}" for one in row) + f" {kind}\n")
    return [f"{folder}/measurements.txt", f"{folder}/forest", "150"]


def unsigned_leb(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def section(number: int, parts: list[bytes]) -> bytes:
    body = unsigned_leb(len(parts)) + b"".join(parts)
    return bytes([number]) + unsigned_leb(len(body)) + body


def module(folder: Path) -> list[str]:
    """A WebAssembly module of 4,000 functions: arithmetic on locals, blocks, branches, calls, loads and stores."""
    some, functions = random.Random(9), 4000
    def operand() -> bytes:
        return some.choice([b"\x20" + unsigned_leb(some.randrange(5)), b"\x41" + unsigned_leb(some.randrange(64)),
                            b"\x41\x08\x28\x02" + unsigned_leb(some.randrange(4096)),
                            b"\x20\x00\x20\x01\x10" + unsigned_leb(some.randrange(functions))])
    def statement(depth: int) -> bytes:
        value = operand() + operand() + bytes([some.choice(b"\x6a\x6b\x6c\x71\x72\x73")])
        kind = some.randrange(8)
        if kind == 0 and depth < 4:
            return b"\x02\x40" + b"".join(statement(depth + 1) for _ in range(4)) + value + b"\x0d\x00\x0b"
        if kind == 1 and depth < 4:
            return value + b"\x04\x40" + statement(depth + 1) + statement(depth + 1) + b"\x05" + statement(depth + 1) + b"\x0b"
        if kind == 2:
            return b"\x41\x10" + value + b"\x36\x02" + unsigned_leb(some.randrange(4096))
        return value + b"\x21" + unsigned_leb(some.randrange(5))
    bodies = []
    for _ in range(functions):
        code = b"\x01\x03\x7f" + b"".join(statement(0) for _ in range(some.randrange(5, 40))) + b"\x20\x00\x0b"
        bodies.append(unsigned_leb(len(code)) + code)
    names = [unsigned_leb(len(name)) + name + b"\x00" + unsigned_leb(number)
             for number, name in ((number, f"{word(some)}_{number}".encode()) for number in range(0, functions, 4))]
    (folder / "module.wasm").write_bytes(b"\0asm\1\0\0\0" + section(1, [b"\x60\x02\x7f\x7f\x01\x7f"]) +
                                         section(3, [b"\x00"] * functions) + section(5, [b"\x00\x01"]) +
                                         section(7, names) + section(10, bodies))
    return ["--generate-names", f"{folder}/module.wasm", "-o", f"{folder}/module.wat"]


def configuration(folder: Path) -> list[str]:
    """A program that makes services of templates, joins texts, sorts and folds."""
    some = random.Random(10)
    names = ", ".join(f'"{word(some)}"' for _ in range(300))
    (folder / "services.jsonnet").write_text(
        f"local names = [{names}];\n"
        "local base = { local me = self, replicas: 1, port: 80, env: {}, labels: { app: me.name, tier: if me.replicas > 2 then 'wide' else 'narrow' },\n"
        "  name: 'none', url: 'http://%s:%d/' % [me.name, me.port], tags: [me.name + '-' + i for i in std.range(1, 4)] };\n"
        "local service(i) = base + { name: names[i], replicas: i % 5, port: 8000 + i,\n"
        "  env+: { ['KEY_' + k]: std.asciiUpper(names[(i * 7 + k) % 300]) for k in std.range(0, 5) } };\n"
        "local services = [service(i) for i in std.range(0, 299)];\n"
        "{ services: std.sort(services, function(s) s.name),\n"
        "  ports: std.foldl(function(sum, s) sum + s.port, services, 0),\n"
        "  wide: [s.name for s in services if s.labels.tier == 'wide'],\n"
        "  text: std.join(' ', [s.url for s in services]) }\n")
    return [f"{folder}/services.jsonnet"]


def articles(folder: Path) -> list[str]:
    """Lines of 60 words, of which few are common; each line is a document."""
    some = random.Random(11)
    words = [word(some) for _ in range(30_000)]
    with open(folder / "articles.txt", "w") as file:
        for _ in range(40_000):
            file.write(" ".join(words[int(len(words) * some.random() ** 3)] for _ in range(60)) + "\n")
    return [f"{folder}/articles.txt", f"{folder}/index"]
