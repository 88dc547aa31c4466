# SPDX-License-Identifier: MIT
"""A Slurm cluster of two node daemons on this machine, for as long as a `with` lasts: Debian's slurmctld, slurmd and munge.

Needs root, as slurmd does. Everything it writes is in a folder of the caller's, and it listens on free ports.
"""
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import time

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue")


def missing():
    """Why there can be no cluster here; empty where there can."""
    absent = [each for each in NEEDED if shutil.which(each, path=PATH) is None]
    if absent:
        return "not installed: " + " ".join(absent)
    return "" if os.geteuid() == 0 else "slurmd wants root"


PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.daemons = []
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        folder, host = self.folder, socket.gethostname().split(".")[0]
        for each in ("state", "spool-one", "spool-two"):
            (folder / each).mkdir(parents=True)
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(64))
        key.chmod(0o600)
        controller, one, two = free_ports(3)
        (folder / "slurm.conf").write_text(f"""
ClusterName=headroom
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={controller}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={one} CPUs=1 Feature=name-of-one-kind-of-node
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={two} CPUs=1 Feature=name-of-one-kind-of-node
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
""")
        try:
            self.start("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={key}",
                       f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed")
            self.wait(lambda: (folder / "munge.socket").exists(), "munged")
            self.start("slurmctld", "-D", "-i")
            for node in ("one", "two"):
                self.start("slurmd", "-D", "-N", node)
            self.wait(lambda: self.run("sinfo", "-h", "-N", "-o", "%t", check=False).split() == ["idle", "idle"], "two idle nodes")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for each in reversed(self.daemons):
            each.terminate()
        for each in reversed(self.daemons):
            try:
                each.wait(20)
            except subprocess.TimeoutExpired:
                each.kill()

    def start(self, program, *arguments):
        log = (self.folder / f"{program}-{len(self.daemons)}.log").open("w")
        self.daemons.append(subprocess.Popen([shutil.which(program, path=PATH), *arguments], env=self.environment, stdout=log,
                                             stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL))

    def run(self, *command, check=True):
        """What the command says. Raises where it fails."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, cwd=self.folder)
        if check and done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stderr}")
        return done.stdout

    def wait(self, holds, what, seconds=120):
        until = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > until:
                logs = "\n".join(f"{each.name}: {each.read_text()[-2000:]}" for each in self.folder.glob("*.log"))
                raise RuntimeError(f"waited in vain for {what}\n{logs}")
            time.sleep(0.2)
