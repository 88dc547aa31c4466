"""Links and file names in the documentation lead somewhere."""
import re

from sources import ROOT, files, finish, lines

LINK = re.compile(r"\]\(([^)\s]+)\)")
findings = []


def anchors(path):
    found = set()
    for _, line in lines(path):
        heading = re.match(r"#+\s+(.*)", line)
        if heading:
            found.add(re.sub(r"[^\w\- ]", "", heading[1].strip().lower()).replace(" ", "-"))
    return found


for path in files(".md"):
    for number, line in lines(path):
        for link in LINK.findall(line):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (ROOT / path.parent / name).resolve() if name else ROOT / path
            if not target.exists():
                findings.append(f"{path}:{number}: {link} leads nowhere")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.relative_to(ROOT)):
                findings.append(f"{path}:{number}: {link}: no such heading")
finish(findings)
