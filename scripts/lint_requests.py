# SPDX-License-Identifier: MIT
"""Each public operation that takes a count, a size, a range or a capacity is asked for too much by a test.

Why: one that the tables of tests/support/memory_requests.hpp and tests/whole/too_much_test.cpp lack may fill memory until the kernel ends
the program, where the standard library's throws.
"""
import re

from sources import ROOT, finish, text

HEADERS = ["vector", "small_vector", "settled_vector", "concurrent_vector", "file_vector", "file_table", "arena", "monotonic", "tracking",
           "reservation", "detail/memory/multipool_resource", "detail/memory/synchronized_multipool", "detail/vector/appending",
           "detail/vector/sequence"]
TABLES = ["tests/support/memory_requests.hpp", "tests/whole/too_much_test.cpp"]
# Whose operations are those of every container over a store: add_sequence() has them, without a type.
SHARED = {"appending_", "sequence_"}
ASKS = re.compile(r"\b(?:size_type|size_t) (?:count|bytes|max_bytes|initial_bytes|capacity)\b|\bmax_elements limit\b|\bR&& |\bIt first\b|\bspan<")
# What gives memory back, waits, or lays what is the caller's: nothing is asked for.
ASKS_FOR_NOTHING = {"deallocate", "decommit_from", "wait_for", "refused", "checked_read"}


def inside(source):
    """What the parentheses hold that the source begins with."""
    depth = 0
    for at, sign in enumerate(source):
        depth += (sign == "(") - (sign == ")")
        if depth == 0: return source[:at]
    return source


def operations(source):
    """(line, class, operation) of the public functions that ask."""
    name, access, found = None, "private", []
    lines = source.split("\n")
    for number, line in enumerate(lines, 1):
        if opened := re.match(r"(class|struct)\b.*?\b(?:HEADROOM_\w+ )?(\w+)(?: final)?\s*(?::|\{|$)", line):
            if not line.rstrip().endswith(";"):
                name, access = opened[2], "private" if opened[1] == "class" else "public"
        elif re.match(r"};", line):
            name = None
        elif label := re.match(r"(public|protected|private):", line):
            access = label[1]
        elif name and access == "public" and not line.lstrip().startswith("//"):
            if call := re.match(r"    (?:[\w:<>,&*\[\]() ]+? )?[*&]?(\w+)\(", line):
                if ASKS.search(inside(" ".join([line[call.end() - 1:], *lines[number:number + 2]]))) and call[1] not in ASKS_FOR_NOTHING: found.append((number, name, call[1]))
    return found


problems = []
tables = "\n".join(text(path) for path in TABLES if (ROOT / path).is_file())
for header in HEADERS:
    path = f"include/headroom/{header}.hpp"
    if not (ROOT / path).is_file(): continue
    for number, name, operation in operations(text(path)):
        if name in SHARED:
            asked = re.search(rf'add\(\s*"{operation}["( ]', tables)
        elif operation == name:
            asked = re.search(rf'"{name}\.\(|add_constructors<headroom::{name}<', tables)
        else:
            asked = re.search(rf'"{name}\.{operation}["( ]', tables) or (operation == "allocate" and f'add_resource(all, "{name}"' in tables)
        if not asked: problems.append(f"{path}:{number}: no test asks {name}::{operation} for more than there is")
finish(problems)
