# SPDX-License-Identifier: MIT
"""What is published can be installed: a wheel where there is no compiler, a source distribution without the tree beside it."""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[1]
pytest.importorskip("scikit_build_core")
pytest.importorskip("nanobind")

PROGRAM = """
import sys
from headroom_arrays import Array, Table, __file__
assert __file__.startswith(sys.prefix)
a = Array("int64")
view = memoryview(a)
a.extend(range(1000))
a.append(1)
path = sys.argv[1] + "/column"
Array("float64", path=path).extend([1.5, 2.5])
print(len(a), sum(a), len(view), Array("float64", path=path, mode="r").tolist())
"""

TOOLS = os.pathsep.join(each for each in sys.path if "site-packages" in each)    # what pip would bring from the index


def built(what, folder, python=sys.executable, **environment):
    """Calls the build backend as pip does."""
    program = f"import backend; print('made', backend.build_{what}({str(folder)!r}))"
    done = subprocess.run([python, "-c", program], cwd=PROJECT, capture_output=True, text=True,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / done.stdout.split()[-1]


def clean_environment(folder):
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    return scripts, scripts / ("python.exe" if os.name == "nt" else "python")


def ran(python, *arguments, **environment):
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMPDIR") if name in os.environ}
    done = subprocess.run([python, *arguments], capture_output=True, text=True, env={**kept, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_wheel_installs_without_a_compiler(tmp_path):
    wheel = built("wheel", tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert any(name.endswith("licenses/LICENSE") for name in names) and "headroom_arrays/py.typed" in names
    scripts, python = clean_environment(tmp_path / "environment")
    ran(python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", wheel, PATH=str(scripts))
    assert ran(python, "-c", PROGRAM, tmp_path, PATH=str(scripts)) == "1001 499501 0 [1.5, 2.5]\n"
    assert not (PROJECT / "LICENSE").exists()


def unpacked(folder):
    sdist = built("sdist", folder)
    assert not (PROJECT / "library").exists() and not (PROJECT / "LICENSE").exists()
    with tarfile.open(sdist) as archive:
        # (The Python of Debian 12 knows no filters yet.)
        archive.extractall(folder / "unpacked", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (root,) = (folder / "unpacked").iterdir()
    return sdist, root


def test_a_source_distribution_has_the_library_in_it(tmp_path):
    sdist, root = unpacked(tmp_path)
    assert root.name == "headroom_arrays-0.1.0"
    for name in ("LICENSE", "backend.py", "library/CMakeLists.txt", "library/LICENSE", "library/include/headroom/file_vector.hpp",
                 "library/cmake/warnings.cmake"):
        assert (root / name).is_file(), name
    theirs = {each.relative_to(root / "library") for each in (root / "library/src").rglob("*") if each.is_file()}
    ours = {each.relative_to(PROJECT.parent) for each in (PROJECT.parent / "src").rglob("*")
            if each.is_file() and "__pycache__" not in each.parts}
    assert theirs == ours


def test_a_source_distribution_installs_where_there_is_a_compiler(tmp_path):
    pytest.importorskip("duckdb")    # tests everywhere only, then: all of it is compiled
    if shutil.which("cmake") is None:
        pytest.skip("needs CMake")
    sdist, _ = unpacked(tmp_path)
    scripts, python = clean_environment(tmp_path / "environment")
    ran(python, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--disable-pip-version-check", sdist,
        PATH=os.pathsep.join([str(scripts), os.environ["PATH"]]), PYTHONPATH=TOOLS, HOME=os.environ.get("HOME", str(tmp_path)))
    assert ran(python, "-c", PROGRAM, tmp_path, PATH=str(scripts)) == "1001 499501 0 [1.5, 2.5]\n"


def pythons_of_the_stable_interface():
    """The interpreters of this machine from 3.12 on, the oldest first: those on the path, and those that HEADROOM_PYTHONS names."""
    found = {}
    named = os.environ.get("HEADROOM_PYTHONS", "").split(os.pathsep)
    for each in [sys.executable, *(f"python3.{minor}" for minor in range(12, 20)), *named]:
        program = shutil.which(each) if each else None
        if program is None:
            continue
        said = subprocess.run([program, "-c", "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"],
                              capture_output=True, text=True)    # (what only stands for one, and fails, is none)
        version = said.stdout.split() if said.returncode == 0 else []
        if len(version) == 3 and version[2] == "0" and (int(version[0]), int(version[1])) >= (3, 12):
            found.setdefault((int(version[0]), int(version[1])), program)
    return [found[each] for each in sorted(found)]


def test_one_wheel_serves_every_python_from_3_12_on(tmp_path):
    pytest.importorskip("duckdb")    # tests everywhere only, then: all of it is compiled once more
    pythons = pythons_of_the_stable_interface()
    if not pythons or shutil.which("cmake") is None:
        pytest.skip("needs CMake, and Python 3.12 or later: on the path, or named by HEADROOM_PYTHONS")
    wheel = built("wheel", tmp_path, pythons[0], PYTHONPATH=TOOLS)
    assert "-cp312-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        modules = [name for name in archive.namelist() if "_core" in name]
    assert len(modules) == 1 and ".cpython" not in modules[0]
    for number, python in enumerate(pythons):
        environment = tmp_path / f"environment-{number}"
        ran(python, "-m", "venv", environment)
        scripts = environment / ("Scripts" if os.name == "nt" else "bin")
        own = scripts / ("python.exe" if os.name == "nt" else "python")
        ran(own, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", wheel, PATH=str(scripts))
        assert ran(own, "-c", PROGRAM, tmp_path, PATH=str(scripts)) == "1001 499501 0 [1.5, 2.5]\n"
        (tmp_path / "column").unlink()
