"""What the documentation shows is what the tests compile and run.

Every block of C++ or CMake in a Markdown file stands behind a comment that names the file it was taken from, whole:
<!-- file: examples/quickstart.cpp -->. Blocks of other languages (shell, text) need none.
"""
import re

from sources import ROOT, files, finish, text

BLOCK = re.compile(r"(?:<!-- file: (\S+) -->\n+)?^```(\w*)\n(.*?)^```", re.M | re.S)
CHECKED = {"cpp", "c++", "cxx", "cmake"}

findings = []
for path in files(".md"):
    content = text(path)
    for match in BLOCK.finditer(content):
        source, language, snippet = match.groups()
        number = content.count("\n", 0, match.start()) + 1
        if source is None:
            if language in CHECKED:
                findings.append(f"{path}:{number}: a block of {language} that nothing compiles")
        elif not (ROOT / source).is_file():
            findings.append(f"{path}:{number}: there is no file {source}")
        elif (ROOT / source).read_text() != snippet:
            findings.append(f"{path}:{number}: differs from {source}")
finish(findings)
