#!/usr/bin/env python3
"""Kills `pawl pipe` at random moments: each run makes a set of shards and loses one worker by SIGKILL.

usage: chaos.py PAWL [RUNS] [SEED]

Law of every run: each shard is the one of the undisturbed run bit for bit, each sample has one result, nothing else is left
beside the shards, and the origin saw at most 1.05 times the requests of the undisturbed run.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Dict, List, Optional

from origin import Origin

PAWL = str(Path(sys.argv[1]).resolve())
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "big")
SHARDS, SAMPLES = 24, 50


class Run:
    """Makes all shards, two at once, and starts a worker again that was killed."""

    def __init__(self, origin: Origin, folder: Path) -> None:
        self.origin, self.folder = origin, folder
        self.workers: Dict[str, subprocess.Popen] = {}
        self.lock = threading.Lock()
        self.codes: List[int] = []

    def work(self, names: List[str], inputs: Path) -> None:
        for name in names:
            while True:
                command = [PAWL, "pipe", "-q", "-i", str(inputs / name), "--to", str(self.folder), "--format", "tar",
                           "--shard", name, "--robots", "ignore", "--allow-private-addresses"]
                with self.lock:
                    worker = self.workers[name] = subprocess.Popen(command, stdout=subprocess.DEVNULL)
                code = worker.wait()
                self.codes.append(code)
                if code == 0:
                    break
                assert code == -signal.SIGKILL, f"exit code {code} of {name}"

    def kill(self, chance: float) -> None:
        with self.lock:
            running = [worker for worker in self.workers.values() if worker.poll() is None]
            if running:
                running[int(chance * len(running))].kill()

    def go(self, inputs: Path) -> None:
        names = sorted(path.name for path in inputs.iterdir())
        halves = [threading.Thread(target=self.work, args=(names[n::2], inputs)) for n in range(2)]
        for half in halves:
            half.start()
        for half in halves:
            half.join()


def digests(folder: Path) -> Dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def check(folder: Path, expected: Optional[Dict[str, str]]) -> None:
    found = digests(folder)
    assert len(found) == 2 * SHARDS, f"{len(found)} files: {sorted(set(found) ^ set(expected or found))}"
    assert expected is None or found == expected, "a shard differs"
    ids = [json.loads(line).get("id") for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    ids = [name for name in ids if name is not None]
    assert sorted(map(int, ids)) == list(range(SHARDS * SAMPLES)), f"{len(ids)} results, {len(set(ids))} different ids"


def main() -> None:
    dice = random.Random(SEED)
    work = Path(tempfile.mkdtemp(prefix="pawl-chaos-"))
    origin = Origin()
    try:
        inputs = work / "inputs"
        inputs.mkdir()
        jobs = origin.jobs(SHARDS * SAMPLES)
        for shard in range(SHARDS):
            lines = [json.dumps(job) + "\n" for job in jobs[shard * SAMPLES : (shard + 1) * SAMPLES]]
            (inputs / f"{shard:03}").write_text("".join(lines))
        whole = work / "whole"
        whole.mkdir()
        origin.at(1 << 60, lambda: None)
        Run(origin, whole).go(inputs)
        check(whole, None)
        expected, undisturbed = digests(whole), sum(origin.requests.values())
        assert undisturbed == SHARDS * SAMPLES, undisturbed
        began, kills, most, total = time.monotonic(), 0, 0, 0
        for number in range(RUNS):
            folder = work / "run"
            folder.mkdir()
            run = Run(origin, folder)
            chance = dice.random()
            origin.at(dice.randrange(1, undisturbed), lambda: run.kill(chance))
            run.go(inputs)
            assert origin.failure is None, origin.failure
            requests = sum(origin.requests.values())
            kills += sum(code != 0 for code in run.codes)
            most, total = max(most, requests), total + requests
            try:
                check(folder, expected)
                assert requests <= undisturbed * 1.05, f"{requests} requests, {undisturbed} undisturbed"
            except AssertionError as error:
                sys.exit(f"chaos: run {number} of seed {SEED}: {error}")
            shutil.rmtree(folder)
        print(f"chaos: {RUNS} runs of {SHARDS} shards, {kills} workers killed in {time.monotonic() - began:.0f} s, seed {SEED}: "
              f"every shard equal; requests at most {most / undisturbed:.3f}, on average "
              f"{total / RUNS / undisturbed:.4f} times the undisturbed run's", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
