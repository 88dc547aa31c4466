# SPDX-License-Identifier: MIT
"""Attributes of compilers have one name each in include/headroom/detail/attributes.hpp, and constants of a class wait for their use.

Why: MSVC warns of [[gnu::...]] and does not know __attribute__; its ABI ignores [[no_unique_address]], so that each vector is a word
larger. And it instantiates the static data members of a class template with the class: one that asks for sizeof(T) forbids
`struct node { vector<node> children; };`, which GCC and Clang compile.
"""
import re

from sources import files, finish, lines, text

OWNER = ("include", "headroom", "detail", "attributes.hpp")
ATTRIBUTE = re.compile(r"\[\[[^\]]*\b(gnu|clang|msvc)::|__attribute__|\bno_unique_address\b|__declspec\s*\(|__forceinline|__assume\b|__asm__")
GUARD = re.compile(r"^\s*#\s*if\b.*__GNUC__")
# A constant of a class, not a template of one: it begins and ends on its line, or goes on in the next.
CONSTANT = re.compile(r"^\s+(?:static (?:inline )?constexpr|static constexpr inline|constexpr static) [^(;{]*?(\w+)\s*(?:=|\{)(.*)")
# What cannot be computed for an incomplete type: its size or traits, and what functions of the class make of it.
NEEDS_COMPLETE = re.compile(r"\b(sizeof|alignof)\s*\(\s*(T|value_type)\b|\bis_\w+_v<\s*(const )?(T|value_type)\b|\b(?!(sizeof|alignof|bool_constant)\b)[a-z]\w*\(")
# Of classes that a container instantiates when elements are appended by an appender.
LATER = {"alignment", "default_batch", "offset", "uncounted_"}
ROOMS = ("include/headroom/detail/vector/", "include/headroom/detail/concurrent/")
CONTAINERS = {f"include/headroom/{name}.hpp" for name in ("vector", "small_vector", "settled_vector", "concurrent_vector")}


def without_comment(line):
    return re.sub(r"//.*", "", line)


def constants(path):
    """(number, name, initializer) of each constant that a class instantiates with itself."""
    whole = [without_comment(line) for line in text(path).splitlines()]
    for number, line in enumerate(whole, 1):
        found = CONSTANT.match(line)
        # Of a nested template's first constant the template stands two lines above.
        nested = whole[number - 2].startswith("    struct ") and whole[number - 3].startswith("    template")
        if not found or nested or whole[number - 2].strip().startswith("template"):
            continue
        value, after = found[2], number
        while ";" not in value and after < len(whole):
            value += whole[after]
            after += 1
        yield number, found[1], value.split(";")[0]


findings = []
for path in files(".hpp", ".cpp"):
    if path.parts[0] not in ("include", "src") or path.parts == OWNER or path.name.startswith("linux"):
        continue
    depth = 0    # of conditionals that only GCC and Clang pass
    for number, line in lines(path):
        code = without_comment(line)
        if GUARD.match(code):
            depth += 1
        elif depth and re.match(r"^\s*#\s*if", code):
            depth += 1
        elif depth and re.match(r"^\s*#\s*endif", code):
            depth -= 1
        if (found := ATTRIBUTE.search(code)) and not depth and "#" not in code.split(found[0])[0]:
            findings.append(f"{path}:{number}: {found[0].strip()} has its name in detail/attributes.hpp")
    if str(path).startswith(ROOMS) or str(path) in CONTAINERS:
        for number, name, value in constants(path):
            if name not in LATER and NEEDS_COMPLETE.search(value):
                findings.append(f"{path}:{number}: MSVC needs a complete element type for {name}: make it a function, or a template")
finish(findings)
