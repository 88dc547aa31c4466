# SPDX-License-Identifier: MIT
"""Makes everything that a release consists of, in a folder, and publishes nothing: python3 scripts/release.py 0.1.0

The folder (build/release-VERSION unless --out names another) gets: the sources as a tarball; the single header; Debian's source and binary
packages; the Python package as wheel and source distribution; the notes, of CHANGELOG.md; a bill of materials (SPDX 2.3); and SHA256SUMS.
All of it is made of the tarball alone, whose files are those of the commit, so what is not committed is in no part of it.

--twice makes it twice, in folders of other names, and fails if any file differs. --only PART... makes these parts only (see PARTS).
Needs git; for Debian's packages dpkg-dev and what debian/control asks for; for Python's what python/pyproject.toml asks for.
scripts/try_release.py installs what this has made.
"""
import argparse
import datetime
import gzip
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from sources import ROOT


class Refused(Exception):
    """What keeps this tree from being released, in a sentence."""


def run(*words, cwd=ROOT, **environment):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        raise Refused(f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def check(version):
    """What every release has: one version everywhere, a section of CHANGELOG.md, a commit."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise Refused(f"{version}: a version is MAJOR.MINOR.PATCH")
    for name, pattern in (("CMakeLists.txt", r"project\(headroom VERSION ([\d.]+)"), ("python/pyproject.toml", r'(?m)^version = "([\d.]+)"'),
                          ("debian/changelog", r"^headroom \(([\d.]+)[-)]")):
        found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"))
        if not found or found[1] != version:
            raise Refused(f"{name}: is of version {found[1] if found else '?'}, not {version}")
    notes_of(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    changed = run("git", "status", "--porcelain", "--untracked-files=no")
    if changed:
        raise Refused(f"a release is made of a commit; not committed:\n{changed}")


def check_released(version):
    """The changelogs say that it is released: a trial may say that it is not yet."""
    if re.search(rf"(?m)^## {re.escape(version)}, not released", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        raise Refused(f"CHANGELOG.md: calls {version} not released yet: write when it is, or try with --trial")
    if "UNRELEASED" in (ROOT / "debian/changelog").read_text(encoding="utf-8").split("\n", 1)[0]:
        raise Refused("debian/changelog: is UNRELEASED: name the suite, or try with --trial")


def check_tools(parts):
    """What the parts are made with, before minutes have gone into the first of them."""
    if "debian" in parts and not shutil.which("dpkg-buildpackage"):
        raise Refused("Debian's packages need dpkg-buildpackage (Debian: dpkg-dev)")
    if "python" in parts:
        asked = re.search(r"(?ms)^requires = \[(.*?)\]", (ROOT / "python/pyproject.toml").read_text(encoding="utf-8"))[1]
        for requirement in re.findall(r'"([^"]+)"', asked):
            name = re.match(r"[\w-]+", requirement)[0].replace("-", "_")
            if importlib.util.find_spec(name) is None:
                raise Refused(f"the Python package needs {requirement} in {sys.executable} (`./dev test python` makes a .venv that has it)")


def notes_of(version, changelog):
    """The section of CHANGELOG.md, without its heading and its links, which lead to files of the tarball."""
    found = re.search(rf"(?ms)^## {re.escape(version)}(?![\d.])[^\n]*\n(.*?)(?=^## |\Z)", changelog)
    if not found or not found[1].strip():
        raise Refused(f"CHANGELOG.md: has no section of {version}")
    return re.sub(r"\[([^\]\n]*)\]\([^)\n]*\)", r"\1", found[1].strip()) + "\n"


def tarball(version, out, commit):
    """The files of the commit, with the commit's time on each, so that the same commit gives the same bytes."""
    name = f"headroom-{version}"
    plain, packed = out / f"{name}.tar", out / f"{name}.tar.gz"
    run("git", "archive", f"--output={plain}", f"--prefix={name}/", commit)
    packed.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))    # no time and no name in it
    plain.unlink()
    return packed


def header(version, tree, out, when):
    run(sys.executable, "-B", "scripts/amalgamate.py", out / f"headroom-{version}.hpp", cwd=tree)


def debian(version, tree, out, when):
    """Source and binary packages, unsigned, built in a copy of the sources beside the tarball, as dpkg-source wants to find them.

    Their time is that of debian/changelog, as for everybody else who builds them.
    """
    folder = tree.parent / "debian-packages"
    folder.mkdir()
    shutil.copy2(out / f"headroom-{version}.tar.gz", folder / f"headroom_{version}.orig.tar.gz")
    shutil.copytree(tree, folder / tree.name, symlinks=True)
    run("dpkg-buildpackage", "-us", "-uc", "--build=source,binary", cwd=folder / tree.name,
        DEB_BUILD_OPTIONS=f"parallel={os.cpu_count()} noautodbgsym")
    # Not .changes and .buildinfo, which are for an upload and name the machine's packages.
    for made in sorted(folder.iterdir()):
        if made.suffix in (".deb", ".dsc", ".gz", ".xz"):
            shutil.copy2(made, out / made.name)


def python(version, tree, out, when):
    """As an installer calls the package's build backend, once for each kind."""
    for kind in ("sdist", "wheel"):
        run(sys.executable, "-B", "-c", f"import sys, backend; backend.build_{kind}(sys.argv[1])", out, cwd=tree / "python",
            SOURCE_DATE_EPOCH=when, CMAKE_BUILD_PARALLEL_LEVEL=str(os.cpu_count()))


def notes(version, tree, out, when):
    (out / "NOTES.md").write_text(f"# Headroom {version}\n\n" + notes_of(version, (tree / "CHANGELOG.md").read_text(encoding="utf-8")),
                                  encoding="utf-8")


def sbom(version, tree, out, when):
    """What is in the release and of whom it is. The library has no part of anybody else's; the wheel has nanobind's, which it is built with."""
    created = datetime.datetime.fromtimestamp(int(when), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    own, relations = [], []
    for folder in ("include", "src"):
        for path in sorted((tree / folder).rglob("*")):
            if path.is_file():
                name = path.relative_to(tree).as_posix()
                content = path.read_bytes()
                own.append({"SPDXID": "SPDXRef-File-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "fileName": "./" + name,
                            "checksums": [{"algorithm": kind, "checksumValue": hashlib.new(kind.lower(), content).hexdigest()}
                                          for kind in ("SHA1", "SHA256")],
                            "licenseConcluded": "MIT", "licenseInfoInFiles": ["MIT"], "copyrightText": copyright_of(tree)})
    code = hashlib.sha1("".join(sorted(each["checksums"][0]["checksumValue"] for each in own)).encode()).hexdigest()
    packages = [package("Headroom", "headroom", version, "MIT", copyright_of(tree))]
    packages[0] |= {"filesAnalyzed": True, "packageVerificationCode": {"packageVerificationCodeValue": code}, "hasFiles": [each["SPDXID"] for each in own],
                    "licenseInfoFromFiles": ["MIT"],
                    "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:generic/headroom@{version}"}]}
    packages.append(package("Arrays", "headroom-arrays", version, "MIT", copyright_of(tree)))
    nanobind = re.search(r'"nanobind==([\d.]+)"', (tree / "python/pyproject.toml").read_text(encoding="utf-8"))[1]
    packages.append(package("Nanobind", "nanobind", nanobind, "BSD-3-Clause", "NOASSERTION", f"pkg:pypi/nanobind@{nanobind}"))
    for first, kind, second in (("DOCUMENT", "DESCRIBES", "Package-Headroom"), ("DOCUMENT", "DESCRIBES", "Package-Arrays"),
                                ("Package-Arrays", "CONTAINS", "Package-Headroom"), ("Package-Arrays", "STATIC_LINK", "Package-Nanobind")):
        relations.append({"spdxElementId": f"SPDXRef-{first}", "relationshipType": kind, "relatedSpdxElement": f"SPDXRef-{second}"})
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"headroom-{version}",
                "documentNamespace": f"https://spdx.org/spdxdocs/headroom-{version}-{code}",
                "creationInfo": {"created": created, "creators": ["Organization: The Headroom maintainers", f"Tool: release.py-{version}"]},
                "packages": packages, "files": own, "relationships": relations}
    (out / f"headroom-{version}.spdx.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def package(ident, name, version, licence, copyright_text, purl=None):
    made = {"SPDXID": f"SPDXRef-Package-{ident}", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": copyright_text}
    if purl:
        made["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return made


def copyright_of(tree):
    return next(line for line in (tree / "LICENSE").read_text(encoding="utf-8").splitlines() if line.startswith("Copyright"))


PARTS = {"header": header, "debian": debian, "python": python, "notes": notes, "sbom": sbom}    # beside the tarball, of which they are made


def sums(out):
    """Of every file but itself, as sha256sum -c reads it."""
    made = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS")
    (out / "SHA256SUMS").write_text("".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made), encoding="utf-8")


def make(version, out, parts, commit):
    """All of `parts`, in the folder `out`, which is made and must be empty. Puts nothing there if one fails."""
    if out.exists() and any(out.iterdir()):
        raise Refused(f"{out}: is not empty")
    when = run("git", "log", "-1", "--format=%ct", commit).strip()
    with tempfile.TemporaryDirectory(prefix="headroom-release-") as work:
        made = pathlib.Path(work) / "made"
        made.mkdir()
        run("tar", "-xzf", tarball(version, made, commit), "-C", work)
        for part in parts:
            print(f"== {part}", flush=True)
            PARTS[part](version, pathlib.Path(work) / f"headroom-{version}", made, when)
        sums(made)
        shutil.copytree(made, out, dirs_exist_ok=True)


def different(first, second):
    names = sorted({path.name for path in [*first.iterdir(), *second.iterdir()]})
    return [name for name in names if not (first / name).exists() or not (second / name).exists() or
            (first / name).read_bytes() != (second / name).read_bytes()]


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("version")
    asked.add_argument("--out", type=pathlib.Path, help="the folder; build/release-VERSION if not said")
    asked.add_argument("--twice", action="store_true", help="make it twice and compare")
    asked.add_argument("--trial", action="store_true", help="also where the changelogs call the version unreleased")
    asked.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    said = asked.parse_args()
    out = (said.out or ROOT / "build" / f"release-{said.version}").resolve()
    try:
        check(said.version)
        if not said.trial:
            check_released(said.version)
        check_tools(said.only)
        commit = run("git", "rev-parse", "HEAD").strip()    # whatever is committed in the minutes that follow
        make(said.version, out, said.only, commit)
        if said.twice:
            with tempfile.TemporaryDirectory(prefix="headroom-again-") as again:
                make(said.version, pathlib.Path(again), said.only, commit)
                if found := different(out, pathlib.Path(again)):
                    raise Refused(f"not the same when made again: {', '.join(found)}")
    except Refused as refused:
        print(f"release.py: {refused}", file=sys.stderr)
        return 1
    except OSError as failed:
        print(f"release.py: {failed}", file=sys.stderr)
        return 1
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
