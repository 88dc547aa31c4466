"""The module exports each public name of the headers that it includes, those of the core and of its components, and no other.

Why: a name that a header gains and the module does not is missed by those who import it only.
"""
import re

from sources import ROOT, finish, text

MODULE = "modules/headroom.cppm"
NAMED = r"(operator\s*(?:\(\)|\[\]|[^\s\w(]+)|[A-Za-z]\w*)"


def reachable(path, seen):
    """The headers that this one includes, itself among them."""
    if path not in seen and (ROOT / path).is_file():
        seen[path] = text(path)
        for name in re.findall(r"^#include <(headroom/.*)>", seen[path], re.M):
            reachable("include/" + name, seen)
    return seen


def plain(source):
    """Without comments, literals and what the preprocessor reads."""
    source = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', " ", source, flags=re.S)
    source = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", source, flags=re.M)
    return re.sub(r"\[\[.*?\]\]", " ", source)


def declared(statement):
    """The name that a declaration at the level of a namespace introduces, or None."""
    while found := re.match(r"\s*template\s*<", statement):    # and where `requires` follows, what precedes the name is no matter
        depth, at = 1, found.end()
        while depth and at < len(statement):
            depth += {"<": 1, ">": -1}.get(statement[at], 0)
            at += 1
        statement = statement[at:]
    clause = r"(?:[\w:]+\s*<(?:[^<>]|<[^<>]*>)*>|[\w:]+(?=\s*&&)|\((?:[^()]|\([^()]*\))*\))"
    statement = re.sub(r"^\s*requires\b\s*!?" + clause + r"(?:\s*(?:&&|\|\|)\s*!?" + clause + ")*", "", statement)
    statement = re.sub(r"^(\s*(HEADROOM_\w+(\([^)]*\))?|extern|inline|constexpr|const|static|explicit|friend)\b)+", "", statement).strip()
    for form in (r"(?:enum\s+)?(?:class|struct)\s+(?:alignas\([^)]*\)\s*)?(?:HEADROOM_\w+\s+)*(\w+)\s*(<.*)?", r"enum\s+(\w+).*",
                 r"using\s+(\w+)\s*=.*", r"concept\s+(\w+)\s*=.*"):
        if found := re.match(form, statement, re.S):
            # A specialisation introduces nothing.
            return None if found.lastindex == 2 and found[2] and found[2].startswith("<") else found[1]
    if re.match(r"(using|static_assert|typedef|asm)\b", statement):
        return None
    calls = re.sub(r"\b(noexcept|decltype|sizeof|alignas)\s*\([^()]*(\([^()]*\)[^()]*)*\)", " ", statement)
    if found := re.search(r"([\w>]\s*::\s*)?" + r"(?<!\w)" + NAMED + r"\s*\(", calls):
        return None if found[1] else re.sub(r"\s", "", found[2])    # a member that is defined outside its class
    found = re.search(r"(\w+)\s*(?:=|$)", statement)
    return found[1] if found else None


def names(source):
    """{namespace: names} of what is declared in namespaces, whose contents only are looked at."""
    found, open_, statement, depth = {}, [], "", 0
    for part in re.split(r"([{};])", plain(source)):
        if part == "{":
            if depth == 0 and (space := re.search(r'\bnamespace\s*([\w:]*)\s*$', statement)):
                open_.append(("inline", space[1]) if re.search(r"\binline\s+namespace", statement) else ("", space[1]))
                statement = ""
            elif depth == 0 and re.search(r'\bextern\s*$', statement):
                open_.append(("inline", ""))
                statement = ""
            elif depth == 0 and re.fullmatch(r"\s*HEADROOM_\w+\s*", statement):    # a macro that opens an inline namespace
                open_.append(("inline", ""))
                statement = ""
            else:
                depth += 1
        elif part == "}":
            if depth:
                depth -= 1
                # A class ends with its semicolon, a function here.
                if depth == 0 and re.search(r"\)[^=]*$", statement) and not re.match(r"\s*(class|struct|enum)\b", statement):
                    part = ";"
            elif open_:
                open_.pop()
                statement = ""
        if part == ";" and depth == 0:
            space = "::".join(name for kind, name in open_ if kind != "inline")
            if statement.strip() and (name := declared(statement)):
                found.setdefault(space, {}).setdefault(name, None)
            statement = ""
        elif depth == 0 and part not in "{}":
            statement += part
    return found


public = {}
for path, source in reachable(MODULE, {}).items():
    for space, some in names(source).items():
        if space.split("::")[0] == "headroom" and not {"detail", "iterated", "testing"} & set(space.split("::")):
            for name in some:
                if not name.endswith("_") and not name.startswith("HEADROOM_"):
                    public.setdefault(space + "::" + name, path)
findings = []
if (ROOT / MODULE).is_file():
    exported = {}
    for number, line in enumerate(text(MODULE).splitlines(), 1):
        if found := re.match(r"\s*using (headroom::.*);", line):
            exported[found[1]] = number
    findings += [f"{MODULE}:1: leaves out {name} of {path}" for name, path in sorted(public.items()) if name not in exported]
    findings += [f"{MODULE}:{number}: exports {name}, which no header declares" for name, number in exported.items() if name not in public]
finish(findings)
