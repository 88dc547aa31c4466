# SPDX-License-Identifier: MIT
"""What the documentation shows is what the tests compile and run.

Every block of C++ or CMake in a Markdown file stands behind a comment that names the file it was taken from, whole or in
part: <!-- file: examples/quickstart.cpp --> or <!-- part of: examples/migrating.cpp -->. A part's lines follow one another
in the file, whatever their indentation. A synopsis, <!-- synopsis of: include/headroom/arena.hpp -->, is a list of
declarations: each is in one of the files named, whatever its attributes, macros and indentation. Blocks of
other languages (shell, text) need no such comment.
"""
import re

from sources import ROOT, files, finish, text

BLOCK = re.compile(r"(?:^ *<!-- (file|part of|synopsis of): ([^>\n]+) -->\n+)?^ *```(\w*)\n(.*?)^ *```", re.M | re.S)
LICENCE = re.compile(r"(//|#) SPDX-License-.*\n")    # a manual leaves it out
CHECKED = {"cpp", "c++", "cxx", "cmake"}

findings = []


def stripped(code):
    return "\n".join(line.strip() for line in code.splitlines())


def bare(code):
    """Without what a synopsis leaves out: comments, attributes, our macros, constexpr, blanks."""
    code = re.sub(r"//.*", "", code)
    code = re.sub(r"\[\[.*?\]\]|\bHEADROOM_\w+\b|\bconstexpr\b", "", code, flags=re.S)
    return re.sub(r"\s+", "", code)


def declarations(synopsis):
    """Each declaration of a synopsis, without its semicolon or body."""
    code = re.sub(r"//.*|\b(?:public|private):", "", synopsis)
    for part in re.split(r";|\{\s*\n|^\s*\}", code, flags=re.M):
        if part.strip():
            yield part.strip()


for path in files(".md"):
    content = text(path)
    for match in BLOCK.finditer(content):
        how, source, language, snippet = match.groups()
        number = content.count("\n", 0, match.start()) + 1
        if source is None:
            if language in CHECKED:
                findings.append(f"{path}:{number}: a block of {language} that nothing compiles")
        elif how == "synopsis of":
            known = "".join(bare(text(name)) for name in source.split())
            for declaration in declarations(snippet):
                if bare(declaration) not in known:
                    findings.append(f"{path}:{number}: not declared in {source}: {declaration}")
        elif not (ROOT / source).is_file():
            findings.append(f"{path}:{number}: there is no file {source}")
        elif how == "file" and LICENCE.sub("", text(source), count=1) != snippet:
            findings.append(f"{path}:{number}: differs from {source}")
        elif how == "part of" and stripped(snippet) not in stripped(text(source)):
            findings.append(f"{path}:{number}: is not in {source}")
finish(findings)
