"""Each expression of src/debuggers/headroom.natvis names members that its class has: check.py COMPILER

Visual Studio says nothing of a view whose names are gone: it shows the members instead. So each expression is compiled as a member's,
with access to what is private. A fault planted here must be found.
"""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
SPACE = "{http://schemas.microsoft.com/vstudio/debugger/natvis/2010}"


def expressions(view):
    """The expressions of a view, from its text for a line and from what it expands to."""
    for part in view.iter():
        text = part.text or ""
        if part.tag == SPACE + "DisplayString":
            yield from re.findall(r"\{([^{}]+)\}", text)
        elif part.tag in {SPACE + name for name in ("Item", "Size", "ValuePointer", "ValueNode")}:
            yield text


def source(natvis):
    """A function for each class and expression."""
    made = [*(f"#include <headroom/{name}.hpp>" for name in ("headroom", "file_vector", "frozen", "arrow")), "#include <string_view>"]
    for view in ElementTree.fromstring(natvis).iter(SPACE + "Type"):
        names = [view.get("Name"), *(other.get("Name") for other in view.iter(SPACE + "AlternativeType"))]
        for name in names:
            of = "char" if "basic_string_view" in name else "int, 4" if "small_vector" in name else "int"
            for expression in expressions(view):
                # Members of the class are those that no other name leads to.
                code = re.sub(r"(?<![\w.])([a-z]\w*_)\b", r"object.\1", expression.strip())
                code = code.replace("._Storage._Value", ".load()").replace("$T1", "int").replace("$i", "0")
                made.append(f"auto f{len(made)}({name.replace('*', of)}& object) {{ return {code}; }}")
    return "\n".join(made) + "\n"


def compiled(compiler, text):
    command = [compiler, "-std=c++20", "-fno-access-control", "-fsyntax-only", f"-I{ROOT / 'include'}", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True)


natvis = (ROOT / "src/debuggers/headroom.natvis").read_text(encoding="utf-8")
ran = compiled(sys.argv[1], source(natvis))
print(ran.stderr, end="")
if ran.returncode == 0 and compiled(sys.argv[1], source(natvis.replace("contents_", "content_"))).returncode == 0:
    print("a member that is gone was not found")
    sys.exit(1)
sys.exit(ran.returncode)
