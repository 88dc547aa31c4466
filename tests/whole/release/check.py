# SPDX-License-Identifier: MIT
"""scripts/release.py refuses what cannot be released, and makes the same bytes of the same commit."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import release    # noqa: E402
from history import git    # noqa: E402

SAID = "# Changes\n\n## 0.2.0, not released yet\n\nNew: [things](docs/things.md).\n\n### More\n\n## 0.1.0\n\nOld.\n\n## 0.0.9\n\n"


class Notes(unittest.TestCase):
    def test_are_the_section_of_the_version(self):
        self.assertEqual(release.notes_of("0.2.0", SAID), "New: things.\n\n### More\n")
        self.assertEqual(release.notes_of("0.1.0", SAID), "Old.\n")

    def test_must_exist_and_say_something(self):
        for version in ("0.0.9", "0.3.0", "0.1"):
            with self.assertRaises(release.Refused):
                release.notes_of(version, SAID)


class Release(unittest.TestCase):
    def setUp(self):
        if git("rev-parse", "HEAD") is None:
            self.skipTest("no git here")
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)
        self.folder = pathlib.Path(self.work.name)
        self.version = re.search(r"headroom VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]

    def test_is_refused_for_another_version_than_the_tree_has(self):
        for version in ("9.9.9", "0.1", "v0.1.0", ""):
            run = subprocess.run([sys.executable, "-B", ROOT / "scripts/release.py", version, "--out", self.folder / "out"], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn("version", run.stderr)
            self.assertFalse((self.folder / "out").exists())

    def test_is_refused_while_the_changelogs_call_it_unreleased(self):
        with unittest.mock.patch.object(release, "ROOT", self.folder):
            (self.folder / "debian").mkdir()
            for changes, packaged, wrong in (("## 1.2.3, not released yet", "headroom (1.2.3-1) unstable;", "CHANGELOG.md"),
                                             ("## 1.2.3", "headroom (1.2.3-1) UNRELEASED;", "debian/changelog")):
                (self.folder / "CHANGELOG.md").write_text(f"# Changes\n\n{changes}\n\nNew.\n")
                (self.folder / "debian/changelog").write_text(f"{packaged} urgency=medium\n")
                with self.assertRaisesRegex(release.Refused, wrong):
                    release.check_released("1.2.3")
            (self.folder / "debian/changelog").write_text("headroom (1.2.3-1) unstable; urgency=medium\n")
            release.check_released("1.2.3")

    def test_is_refused_before_it_begins_without_its_tools(self):
        with unittest.mock.patch("shutil.which", return_value=None), self.assertRaisesRegex(release.Refused, "dpkg-buildpackage"):
            release.check_tools(["notes", "debian"])
        with unittest.mock.patch("importlib.util.find_spec", return_value=None), self.assertRaisesRegex(release.Refused, "scikit-build-core"):
            release.check_tools(["python"])
        release.check_tools(["header", "notes", "sbom"])

    def test_is_refused_where_something_lies_already(self):
        (self.folder / "mine").touch()
        with self.assertRaisesRegex(release.Refused, "not empty"):
            release.make(self.version, self.folder, [], "HEAD")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["mine"])

    def test_leaves_nothing_where_a_part_fails(self):
        def fails(*_):
            raise release.Refused("no disk")
        with unittest.mock.patch.dict(release.PARTS, notes=fails), self.assertRaisesRegex(release.Refused, "no disk"):
            release.make(self.version, self.folder / "out", ["notes"], "HEAD")
        self.assertFalse((self.folder / "out").exists())

    def test_made_twice_is_the_same(self):
        for name in ("one", "two"):
            release.make(self.version, self.folder / name, ["header", "notes", "sbom"], "HEAD")
        self.assertEqual(release.different(self.folder / "one", self.folder / "two"), [])
        (self.folder / "two/NOTES.md").write_text("changed", encoding="utf-8")
        (self.folder / "two/more").touch()
        self.assertEqual(release.different(self.folder / "one", self.folder / "two"), ["NOTES.md", "more"])
        sums = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=self.folder / "one", capture_output=True)
        self.assertEqual(sums.returncode, 0)

    def test_made_twice_is_of_one_commit_whatever_is_committed_meanwhile(self):
        made, heads = [], iter(["first\n", "second\n"])
        (self.folder / "out").mkdir()
        with unittest.mock.patch.multiple(release, check=lambda _: None, check_tools=lambda _: None, different=lambda *_: [],
                                          run=lambda *_: next(heads), make=lambda *told: made.append(told[-1])), \
             unittest.mock.patch("sys.argv", ["release.py", "1.2.3", "--trial", "--twice", "--out", str(self.folder / "out")]):
            self.assertEqual(release.main(), 0)
        self.assertEqual(made, ["first", "first"])

    def test_bill_of_materials_names_every_file_once(self):
        release.make(self.version, self.folder / "out", ["sbom"], "HEAD")
        bill = json.loads((self.folder / f"out/headroom-{self.version}.spdx.json").read_text(encoding="utf-8"))
        named = [each["fileName"] for each in bill["files"]]
        known = git("ls-files", "include", "src").splitlines()
        self.assertEqual(sorted(named), sorted("./" + name for name in known))
        self.assertEqual(len({each["SPDXID"] for each in bill["files"]}), len(named))
        self.assertEqual({each["name"] for each in bill["packages"]}, {"headroom", "headroom-arrays", "nanobind"})


if __name__ == "__main__":
    unittest.main()
