# SPDX-License-Identifier: MIT
"""Comments that can be checked are true: `x::y()` in a comment of include/ or src/ is a member of x, a file that a comment names exists,
and no heading above several declarations speaks of a lock (each declaration says itself whether it requires one, or takes it). Each term of
docs/design.md occurs in the code.
"""
import collections
import re

from sources import ROOT, files, finish, lines, text

NAMED_FILE = re.compile(r"\b((?:[a-z_0-9]+/)*[a-z_0-9-]+\.(?:hpp|cpp|py|md|svg))\b")
NAMED_MEMBER = re.compile(r"\b([a-z_]\w*)::([a-z_]\w*)\(\)")
HEADING = re.compile(r"^\s*// --- (.*)")
OUTSIDE = {"std", "headroom", "testing", "chrono", "pmr", "ranges", "this_thread", "detail"}
OPENS = re.compile(r"^\s*(?:template <.*> ?)?(?:class|struct|union)\s+(?:\[\[\w+\]\]\s+|HEADROOM_\w+\s+)*([a-z_]\w*)\b[^;]*$")

sources = [path for path in files(".cpp", ".hpp") if path.parts[0] in ("include", "src")]
names = {path.name for path in files()}

members = collections.defaultdict(set)    # of each class: what its body, and definitions outside, name
for path in sources:
    inside = []    # (class, indentation)
    for _, line in lines(path):
        code = line.partition("//")[0]
        if not code.strip():
            continue
        indentation = len(code) - len(code.lstrip())
        if code.lstrip().startswith("}"):
            while inside and indentation <= inside[-1][1]:
                inside.pop()
        opened = OPENS.match(code)
        for name, _ in inside:
            members[name].update(re.findall(r"\w+", code))
        if opened and not code.rstrip().endswith("};"):
            inside.append((opened[1], indentation))
        if opened:
            members[opened[1]].add(opened[1])
            members[opened[1]].update(re.findall(r"\w+", code.partition("{")[2]))
        for name, member in re.findall(r"\b([a-z_]\w*)(?:<\w+(?:, \w+)*>)?::(\w+)\(", code):
            members[name].add(member)
bases = collections.defaultdict(set)
for path in sources:
    for name, rest in re.findall(r"\b(?:class|struct) ([a-z_]\w*)[^;{]*?: ([^{;]*)\{", text(path) or ""):
        bases[name].update(re.findall(r"\b([a-z_]\w*)\b", rest))


def has(name, member, seen=()):
    """True if the class, or one that it derives from, has the member."""
    return member in members[name] or any(has(base, member, (*seen, name)) for base in bases[name] if base in members and base not in seen and base != name)


findings = []
for path in sources:
    for number, line in lines(path):
        comment = line.partition("//")[2]
        if not comment:
            continue
        for name, member in NAMED_MEMBER.findall(comment):
            if name in members and name not in OUTSIDE and not has(name, member):
                findings.append(f"{path}:{number}: {name} has no member {member}()")
        for named in NAMED_FILE.findall(comment):
            if named.split("/")[-1] not in names and not named.startswith("sys/"):
                findings.append(f"{path}:{number}: there is no file {named}")
        heading = HEADING.match(line)
        if heading and re.search(r"\brequires? the\b.*\block\b|\bunder the\b.*\block\b|\bwithout the lock\b", heading[1], re.I) and "Each" not in heading[1]:
            findings.append(f"{path}:{number}: a heading does not say who holds a lock; each declaration does: {heading[1]}")
code_of_all = "\n".join(text(path) or "" for path in sources).lower()
in_table = False
for number, line in lines("docs/design.md") if (ROOT / "docs/design.md").exists() else []:
    if line.startswith("| term |"):
        in_table = True
    elif in_table and not line.startswith("|"):
        in_table = False
    elif in_table and not line.startswith("|--"):
        for term in line.split("|")[1].strip().split(", "):
            if not re.search(re.escape(term.lower()).replace(r"\ ", r"[\s_/]+"), code_of_all):
                findings.append(f"docs/design.md:{number}: the code has no {term}")
finish(findings)
