# SPDX-License-Identifier: MIT
"""Comments say who does what, and names are those of the field: CONTRIBUTING.md, "How it reads".

Counts comment lines in shapes that readers have to read twice, and names that a reader must be told. A folder may have a few such lines,
since a shape can be right: at most so many of 1,000. A comment that passes and still cannot be understood has gained nothing.
"""
import re

from sources import files, finish, lines

SHAPES = {
    "a clause in place of a noun": r"\bWhat (?:is|was|are|were|it|the|an?|each|every|other|they|we|has|had|can|cannot|must|may|only|follows|comes)\b",
    "True if, or Returns": r"\bWhether\b",
    "who is that": r"\b(?:(?:W|w)ho(?:ever)|[Ss]omebody|[Nn]obody)\b|^(?:Who|Those who)\b",
    "passive speech": r"\b(?:is|are|was|were|be|been|being) (?:told|said|asked|wanted|spoken|meant)\b",
    "so many of what": r"\b(?:so many|so much|as much as|the same of)\b|^(?:The same|And those|As [a-z_:]+'s)\b",
    "inverted": r"^(?:Of|In|To|For) [a-z ]{3,40}, (?:what|which|who|that)\b",
    "idiom": r"\bto be had\b|\b(?:is|are) to be (?:had|found|said)\b",
    "a loose end": r"^Else\b|\bor else\b|; else\b",
    "a sentence in parentheses": r"^\([A-Z]",
}
# Names of before: adverbs, idioms, or a word of ours for a word of the field.
NAMES = re.compile(r"\b\w*(?:_slowly|_surely|_aside|_along|_beyond|_or_not|_farther|_rare)\b_?|\b(?:give_up|let_go|let_wait|look_at|take_back|hand_over|"
                   r"start_over|spoken_for|kept_errno|was_wanted_again|end_all|settle_in|often|told)\b_?(?=\s*[({])")
LIMITS = ((("include", "src"), 8), (("lab", "tools", "python"), 15), (("tests",), 15))    # of 1,000 comment lines
COMMENT = re.compile(r"(?<!:)//(?!.*\")\s?(.*)$")


def sentences(comment):
    """The comment, and each sentence in it: shapes that begin one are found there."""
    return [comment, *re.split(r"(?<=[.;:]) ", comment)[1:]]


findings = []
for roots, limit in LIMITS:
    counted, caught = 0, []
    for path in files(".hpp", ".cpp", ".h"):
        if path.parts[0] not in roots:
            continue
        for number, line in lines(path):
            comment = COMMENT.search(line)
            code = line[:comment.start()] if comment else line
            if "src" in roots and (name := NAMES.search(code)):
                findings.append(f"{path}:{number}: {name[0]} is no name of the field")
            if comment:
                counted += 1
                kind = next((kind for kind, shape in SHAPES.items() if any(re.search(shape, part) for part in sentences(comment[1]))), None)
                if kind:
                    caught.append(f"{path}:{number}: {kind}: {comment[1]}")
    if 1000 * len(caught) > limit * counted:
        findings += caught + [f"{'/ '.join(roots)}/:1: {len(caught)} of {counted} comment lines to be read twice, at most {limit} of 1,000 may be"]
finish(findings)
