#!/usr/bin/env python3
"""Cuts the power of real file systems under the real program, and looks at what is left.

usage: powercut.py PAWL [CUTS] [--seed N] [--kinds large,list,...] [--systems ext4,xfs,...] [--drop "data folder ..." | --sabotages |
       --replay FOLDER]

A recorder (recorder.c, a file system of FUSE with one file) is below a loop device with ext4, XFS or Btrfs. It keeps each write and each
flush of the file system, in order, while `pawl` runs there. Afterwards any state that a power cut could have left is made: what was
written before the last flush that had ended, and of what came after it any part, in sectors of 512 bytes. It is mounted, the file system
repairs itself, and the laws of the kind of run (kinds.py) are checked, before the program is started again and after. By
chance that run is cut too.

Nothing is simulated but the medium. --drop is a sabotage: the named syncs are left out (drop_syncs.c), and the exit code is 0 only if a
law notices; --sabotages does that with each kind of syncs. A failure keeps its recording: --replay repeats that cut.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Dict, List, Optional

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from disk import SYSTEMS, Mounted, System, make_image  # noqa: E402
from kinds import KINDS  # noqa: E402
from origin import Origin  # noqa: E402
from place import Broken  # noqa: E402
from session import Boot, Session  # noqa: E402

MOST_FAILURES = 10
# Syncs that are left out, and the kinds of runs that must show it; and two other sabotages (drop_syncs.c).
SABOTAGES = {"data": ["large", "list"], "journal": ["large"], "folder": ["list", "pipe", "hub"], "queue": ["service", "background"],
             "small": ["service"], "marks": ["large", "list"], "line": ["large", "metalink"]}


class Harness:
    def __init__(self, pawl: Path, work: Path, drop: str, port: int = 0) -> None:
        self.pawl, self.work = pawl, work
        self.counts: Counter = Counter()
        self.is_verbose = False
        self.is_replay = False
        self.boot = Boot(work)
        self.recorder = self.compile("recorder.c", "recorder")
        self.dropper = self.compile("drop_syncs.c", "drop_syncs.so", "-shared", "-fPIC")
        self.sabotage: Dict[str, str] = {}
        self.drop(drop)
        self.origin = Origin(port)

    def drop(self, words: str) -> None:
        """Leaves these syncs out of what runs until the cut."""
        self.sabotage = {"LD_PRELOAD": str(self.dropper), "PAWL_DROP_SYNCS": words} if words else {}

    def compile(self, source: str, name: str, *options: str) -> Path:
        target = self.work / name
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", *options, "-o", str(target), str(HERE / source)], check=True)
        return target

    def sabotages(self, cuts: int, seed: int, systems: List[str], failed: Path) -> List[str]:
        """Leaves out each kind of syncs, in the kinds of runs that need them; returns those that no law has noticed."""
        missed = []
        for words, kinds in SABOTAGES.items():
            self.drop(words)
            print(f"without syncs: {words}", flush=True)
            if not self.campaign(cuts, seed, kinds, systems, failed):
                missed.append(words)
                print(f"NOT NOTICED: {words}", flush=True)
        return missed

    def campaign(self, cuts: int, seed: int, kinds: List[str], systems: List[str], failed: Path) -> int:
        """Returns the number of laws that were broken."""
        pairs = [(kind, system) for kind in kinds for system in systems]
        each = max(4, -(-cuts // len(pairs)))
        done: Counter = Counter()
        failures = 0
        began = time.monotonic()
        dice = random.Random(seed)
        round_number = 0
        while sum(done.values()) < cuts and failures < MOST_FAILURES:
            dice.shuffle(pairs)
            for kind, system in pairs:
                if sum(done.values()) >= cuts or failures >= MOST_FAILURES:
                    break
                round_number += 1
                session = Session(self, kind, SYSTEMS[system], dice.randrange(1 << 48))
                session.record()
                for number in range(min(each, cuts - sum(done.values()))):
                    done[kind, system] += 1
                    try:
                        told = session.cut(number)
                        if self.is_verbose:
                            print(told, flush=True)
                    except Broken as broken:
                        failures += 1
                        folder = failed / f"{seed}-{round_number}-{number}"
                        if not self.sabotage:
                            session.keep(folder, number)
                        print(f"BROKEN: {broken}", flush=True)
                        print("noticed" if self.sabotage else f"  repeat it with: make powercut REPLAY={folder}", flush=True)
                        if self.sabotage:
                            return 1
                        if failures >= MOST_FAILURES:
                            break
        print(f"powercut: {sum(done.values())} cuts in {time.monotonic() - began:.0f} s, seed {seed}, {failures} laws broken; "
              + ", ".join(f"{count} {what}" for what, count in self.counts.items()))
        for kind in kinds:
            print(f"  {kind}: " + ", ".join(f"{system} {done[kind, system]}" for system in systems), flush=True)
        return failures


def isolate() -> None:
    """Mounts of a namespace of its own go with its last process."""
    if os.environ.get("PAWL_POWERCUT") != "inside":
        os.environ["PAWL_POWERCUT"] = "inside"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


def missing() -> Optional[str]:
    """Why nothing can be cut here."""
    if os.geteuid() != 0:
        return "mounting needs root"
    for device in ("/dev/fuse", "/dev/loop-control"):
        if not os.path.exists(device):
            return f"there is no {device}"
    absent = [tool for tool in ("losetup", "gcc", "unshare") if not shutil.which(tool)]
    return f"not installed: {', '.join(absent)}" if absent else None


def has_program(kind: str, pawl: Path) -> bool:
    program = KINDS[kind].program
    is_there = not program or (pawl.parent / program).exists()
    if not is_there:
        print(f"powercut: without {kind}: {program} is not beside {pawl}")
    return is_there


def available(names: List[str]) -> List[str]:
    """The file systems that can be made and mounted here."""
    known = Path("/proc/filesystems").read_text().split()
    found = []
    for system in map(SYSTEMS.get, names):
        if not shutil.which(system.make[0]):
            print(f"powercut: without {system.name}: {system.make[0]} is not installed")
        elif system.kind not in known:
            print(f"powercut: without {system.name}: the kernel does not have it")
        else:
            found.append(system.name)
    return found


def probe(harness: "Harness", system: System) -> Optional[str]:
    """Why a recorded file system cannot be mounted here."""
    image = harness.work / "image"
    try:
        make_image(system, image)
        Mounted(harness.work, image, system, recorder=harness.recorder).unmount()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        return f"{error} {getattr(error, 'output', '') or ''}".strip()
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Cuts the power of real file systems under pawl.")
    parser.add_argument("pawl", type=Path)
    parser.add_argument("cuts", type=int, nargs="?", default=300)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--drop", default="")
    parser.add_argument("--verbose", action="store_true", help="each cut in words")
    parser.add_argument("--sabotages", action="store_true")
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--failed", type=Path, default=Path(".build/powercut"))
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"))
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    why = missing()
    if why:
        print(f"powercut: skipped: {why}")
        return 0
    isolate()
    # With what is mounted and in memory.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    systems = available(options.systems.split(","))
    if not systems:
        return 0
    work = Path(tempfile.mkdtemp(prefix="pawl-powercut-", dir=options.memory))
    try:
        if options.replay:
            known = json.loads((options.replay / "session.json").read_text())
            harness = Harness(options.pawl.resolve(), work, options.drop, known["port"])
            session = Session(harness, known["kind"], SYSTEMS[known["system"]], known["seed"])
            session.restore(options.replay.resolve(), known)
            harness.is_replay = True
            try:
                print(session.cut(known["number"]))
            except Broken as broken:
                print(f"BROKEN: {broken}")
                return 1
            print("every law was kept")
            return 0
        kinds = [kind for kind in options.kinds.split(",") if has_program(kind, options.pawl)]
        seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
        print(f"powercut: seed {seed}", flush=True)
        harness = Harness(options.pawl.resolve(), work, options.drop)
        why = probe(harness, SYSTEMS[systems[0]])
        if why:
            print(f"powercut: skipped: {why}")
            return 0
        harness.is_verbose = options.verbose
        if options.sabotages:
            return 1 if harness.sabotages(100, seed, systems, options.failed) else 0
        failures = harness.campaign(options.cuts, seed, kinds, systems, options.failed)
        return (0 if failures else 1) if options.drop else (1 if failures else 0)
    except BaseException:
        traceback.print_exc()
        return 3
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
