"""A Slurm cluster of this machine only: one node, its own munge, in a temporary folder."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path
from typing import Dict, List


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Slurm:
    """`with Slurm(folder) as cluster: cluster.run("sbatch", …)`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.daemons: List[subprocess.Popen] = []
        self.environment: Dict[str, str] = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def __enter__(self) -> "Slurm":
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir(parents=True)
        # munged refuses a socket below a folder that others may write to.
        os.chmod(self.folder, 0o755)
        key, munge = self.folder / "munge/key", self.folder / "munge/socket"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        os.chmod(self.folder / "munge", 0o755)
        host = socket.gethostname()
        (self.folder / "slurm.conf").write_text(
            f"ClusterName=pawl\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={free_port()}\nSlurmdPort={free_port()}\n"
            f"SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nAuthInfo=socket={munge}\nCredType=cred/munge\n"
            "MpiDefault=none\nProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSwitchType=switch/none\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nJobAcctGatherType=jobacct_gather/none\n"
            "AccountingStorageType=accounting_storage/none\nReturnToService=2\nJobRequeue=1\nMinJobAge=300\n"
            f"StateSaveLocation={self.folder}/state\nSlurmdSpoolDir={self.folder}/spool\n"
            f"SlurmctldPidFile={self.folder}/ctld.pid\nSlurmdPidFile={self.folder}/slurmd.pid\n"
            f"NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\nPartitionName=all Nodes=ALL Default=YES State=UP\n"
        )
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        self.start("munged", "-F", "--force", f"--key-file={key}", f"--socket={munge}",
                   f"--log-file={self.folder}/munge/log", f"--pid-file={self.folder}/munge/pid", f"--seed-file={self.folder}/munge/seed")
        self.start("slurmctld", "-D", "-c")
        self.start("slurmd", "-D", "-N", host)
        while "idle" not in self.run("sinfo", "--noheader", "--format=%T", check=False):
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    log = (self.folder / f"{Path(daemon.args[0]).name}.log").read_text()
                    raise RuntimeError(f"{daemon.args[0]} ended: {log[-2000:]}")
        return self

    def start(self, *words: str) -> None:
        name = words[0]
        path = next(p for p in (f"/usr/sbin/{name}", f"/usr/bin/{name}") if os.path.exists(p))
        log = open(self.folder / f"{name}.log", "wb")
        self.daemons.append(subprocess.Popen([path, *words[1:]], env=self.environment, stdout=log, stderr=log))

    def run(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise RuntimeError(f"{words[0]}: {done.stderr}")
        return done.stdout

    def __exit__(self, *_: object) -> None:
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait()
