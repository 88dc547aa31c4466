# SPDX-License-Identifier: MIT
"""The batch scripts of docs/many-machines.md, run as they stand there on a Slurm cluster of two node daemons, and GNU parallel.

HEADROOM_LAB_PROGRAMS is the folder of the lab's programs, HEADROOM_LAB_FILTER what of the lab is run; only that, and --quick for
--full, which takes days, differs from what the page says.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import slurm_cluster
from test_many_machines import EXAMPLE, columns    # noqa: F401, it is a fixture: builds make_columns

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("HEADROOM_LAB_PROGRAMS", ROOT / "build/release/bin"))
FILTER = os.environ.get("HEADROOM_LAB_FILTER", "^reset-words ")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if slurm_cluster.missing():
        pytest.skip(slurm_cluster.missing())
    with slurm_cluster.Cluster(tmp_path_factory.mktemp("slurm") / "cluster") as made:
        yield made


@pytest.fixture
def lab(tmp_path):
    if not (PROGRAMS / "headroom").is_file():
        pytest.skip(f"the lab is not built: {PROGRAMS}")
    (tmp_path / "bin").symlink_to(PROGRAMS)
    return tmp_path


def blocks(*holding):
    """The page's blocks of shell that hold all of these words."""
    text = (ROOT / "docs/many-machines.md").read_text()
    return [each for each in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S) if all(word in each for word in holding)]


def quickened(script):
    assert "--full" in script
    return script.replace("--full", f'--quick --rounds 1 --filter "{FILTER}"')


def finished(cluster):
    return cluster.run("squeue", "-h").strip() == ""


def expect_whole(folder, names):
    for each in names:
        assert (folder / each).is_file(), list(folder.iterdir())
    done = subprocess.run([folder / "bin/headroom", "lab", "merge", *(folder / each for each in names), "--out", folder / "all.jsonl"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len((folder / "all.jsonl").read_text().splitlines()) > 1    # a part without a configuration of the filter has a first line only


def test_writers_and_a_reader_as_batch_jobs(cluster, columns, tmp_path):    # noqa: F811
    (job,), (submission,) = blocks("#SBATCH", "make_columns"), blocks("--dependency")
    (tmp_path / "columns.sbatch").write_text(job)
    (tmp_path / "build").symlink_to(ROOT / "build")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for program in (ROOT / "build/many-machines").rglob("make_columns"):
        assert program == ROOT / "build/many-machines/make_columns"
    done = subprocess.run(["sh", "-e", "-c", submission.replace("/shared/trades", str(tmp_path / "trades"))], cwd=tmp_path, text=True,
                          env={**cluster.environment, "PATH": f"{pathlib.Path(sys.executable).parent}:{slurm_cluster.PATH}"},
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    number = done.stdout.split()[-1]
    cluster.wait(lambda: finished(cluster), "the jobs", 300)
    assert len((tmp_path / f"slurm-{number}.out").read_text().split()) == 16
    assert len(list((tmp_path / "trades").iterdir())) == 12


def test_the_lab_as_an_array_of_jobs(cluster, lab):
    (script,) = blocks("#SBATCH", "lab run")
    (lab / "lab.sbatch").write_text(quickened(script))
    done = subprocess.run(["sbatch", "lab.sbatch"], cwd=lab, env=cluster.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cluster.wait(lambda: finished(cluster), "the jobs", 300)
    expect_whole(lab, [f"part{i}.jsonl" for i in range(1, 5)])


def test_the_lab_in_parallel_s_hands(lab):
    if shutil.which("parallel") is None:
        pytest.skip("GNU parallel is not installed")
    (line,) = (each for each in blocks("parallel --jobs 1") if "sshlogin" not in each)
    done = subprocess.run(["sh", "-e", "-c", quickened(line).replace("build/release/bin/", "bin/")], cwd=lab, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    expect_whole(lab, [f"part{i}.jsonl" for i in range(1, 5)])
