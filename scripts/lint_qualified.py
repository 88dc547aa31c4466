# SPDX-License-Identifier: MIT
"""Headers call functions by qualified names, or members: never whatever bears that name beside the program's own types.

An unqualified call looks for functions in the namespaces of its arguments too, and those are the program's: a function of
its own with our name would be called instead of ours. It also makes the compiler complete types that may be incomplete.
What the standard wants found that way (swap of allocators; begin, end and size of a range) is listed below.

Found are calls of functions that some header of ours defines in a namespace, and of the standard library's; not calls in
macros.
"""
import re

from sources import files, finish, text

MEANT = {("include/headroom/vector.hpp", "swap")} | {
    ("include/headroom/detail/vector/ranges.hpp", name) for name in ("begin", "end", "size")}
STANDARD = set("""abort addressof advance as_const begin construct_at copy data destroy destroy_at destroy_n distance end equal
    exchange forward free get make_move_iterator malloc max memcpy memmove memset min move move_backward move_if_noexcept next
    prev realloc size swap to_address uninitialized_copy uninitialized_move""".split())
NOT_NAMES = set("""alignas alignof catch const_cast decltype defined delete dynamic_cast explicit for if new noexcept operator
    reinterpret_cast requires return sizeof static_assert static_cast switch throw typeid while __attribute__
    __has_builtin""".split())
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|&&|[^\s\w]|\d[\w.']*")


def tokens(path):
    """(line, token), without comments, literals' contents and preprocessor lines."""
    code = text(path)
    code = re.sub(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", lambda m: '""' if m[0][0] == '"' else "", code)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m[0].count("\n"), code, flags=re.M)
    line = 1
    at = 0
    for match in TOKEN.finditer(code):
        line += code.count("\n", at, match.start())
        at = match.start()
        yield line, match[0]


def calls(path):
    """(line, name, scope, whether a class is around) of each name before a parenthesis; scope is namespace, class or code."""
    all_tokens = list(tokens(path))
    scopes = []
    parens = 0
    since = []    # the tokens since the last statement ended, outside of parentheses
    for i, (line, token) in enumerate(all_tokens):
        if token == "{":
            kind = "code"
            if parens == 0 and "namespace" in since:
                kind = "namespace"
            elif parens == 0 and {"class", "struct", "union", "enum"} & set(without_templates(since)) and "(" not in since:
                kind = "class"
            scopes.append((kind, parens))
            parens = 0
            since = []
        elif token == "}":
            if scopes:
                parens = scopes.pop()[1]
            since = []
        elif token == ";" and parens == 0:
            since = []
        else:
            if token == "(":
                name, before = called(all_tokens, i)
                scope = scopes[-1][0] if scopes else "namespace"
                declared = re.match(r"[A-Za-z_>]", before) and before not in ("return", "else", "throw", "do", "case")
                built = scopes and scopes[-1][0] == "class" and parens == 0 and before in (":", ",")    # a member, in a constructor
                if name is not None and before not in ("::", ".", "->", "~", "operator") and not (
                        built or (scope == "code" and declared)):
                    initialised = parens > 0 or (not declared and (":" in since or "=" in since))
                    yield line, name, "code" if scope == "code" or initialised else scope, any(s[0] == "class" for s in scopes)
                parens += 1
            elif token == ")":
                parens -= 1
            since.append(token)


def without_templates(statement):
    """A statement without what stands between angle brackets."""
    depth = 0
    for token in statement:
        depth += (token == "<") - (token == ">")
        if depth == 0:
            yield token


def called(all_tokens, i):
    """The name before the parenthesis at i, and the token before that; f(...) or f<...>(...)."""
    j = i - 1
    if j >= 0 and all_tokens[j][1] == ">":
        depth = 0
        while j >= 0:
            depth += (all_tokens[j][1] == ">") - (all_tokens[j][1] == "<")
            j -= 1
            if depth == 0 or all_tokens[j][1] in ";{}":
                break
    name = all_tokens[j][1] if j >= 0 else ""
    if not re.match(r"[A-Za-z_]", name) or name in NOT_NAMES or name.startswith("HEADROOM_"):
        return None, ""
    return name, all_tokens[j - 1][1] if j > 0 else ""


headers = [path for path in files(".hpp") if path.parts[0] == "include"]
found = {path: list(calls(path)) for path in headers}
ours = {name for path in headers for _, name, scope, _ in found[path] if scope == "namespace"}
ours -= {name for path in headers for name in re.findall(r"\b(?:class|struct) (?:HEADROOM_\w+ )?(\w+)", text(path))}
findings = []
for path in headers:
    members = {name for _, name, scope, _ in found[path] if scope == "class"}
    members |= set(re.findall(r"\busing (?:typename )?\w+::(\w+);", text(path)))
    for line, name, scope, in_class in found[path]:
        if scope == "code" and name in ours | STANDARD and (str(path), name) not in MEANT and not (in_class and name in members):
            findings.append(f"{path}:{line}: {name}(...) is not qualified")
finish(findings)
