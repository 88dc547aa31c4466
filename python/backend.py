# SPDX-License-Identifier: MIT
"""Builds the package: scikit-build-core, and what lies outside of this folder.

A source distribution has to be whole, so the library's sources and the licence are copied in for as long as it is made.
"""
import contextlib
import pathlib
import shutil

from scikit_build_core import build as _build
from scikit_build_core.build import get_requires_for_build_editable, get_requires_for_build_sdist, get_requires_for_build_wheel

__all__ = ["build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable", "get_requires_for_build_sdist",
           "get_requires_for_build_wheel"]
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
IN_TREE = (ROOT / "include/headroom").is_dir()


@contextlib.contextmanager
def _copied(names, to):
    """Copies files and folders of the tree to a folder; takes away afterwards what was not there before."""
    made = [] if to.is_dir() else [to]
    to.mkdir(exist_ok=True)
    try:
        for name in names:
            target = to / name
            if target.exists():
                continue
            made.append(target)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, target)
        yield
    finally:
        for each in reversed(made):
            if each.is_dir():
                shutil.rmtree(each)
            else:
                each.unlink(missing_ok=True)


def _in_tree(settings):
    """In the tree what was compiled is kept, beside what else is built."""
    return {"build-dir": str(ROOT / "build/python/{wheel_tag}"), **(settings or {})} if IN_TREE else settings


def build_sdist(sdist_directory, config_settings=None):
    if not IN_TREE:
        return _build.build_sdist(sdist_directory, config_settings)
    with _copied(["LICENSE"], HERE), _copied(["CMakeLists.txt", "LICENSE", "cmake", "include", "src"], HERE / "library"):
        return _build.build_sdist(sdist_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _copied(["LICENSE"] if IN_TREE else [], HERE):
        return _build.build_wheel(wheel_directory, _in_tree(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with _copied(["LICENSE"] if IN_TREE else [], HERE):
        return _build.build_editable(wheel_directory, _in_tree(config_settings), metadata_directory)
