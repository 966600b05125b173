"""One run on a recorded file system, with its cuts."""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

from disk import MIB, Mounted, Recording, States, System, copy, make_image, run
from kinds import KINDS
from origin import Sent
from place import Broken, Kept, Kind, Place, digest

if TYPE_CHECKING:
    from powercut import Harness

FAST = 48.0 * MIB


class Neighbour:
    """Another program on the same file system: it syncs its own files, which makes metadata of others durable too, and at times the
    kernel writes data back early."""

    def __init__(self, place: Place, seed: int) -> None:
        self.place, self.dice = place, random.Random(seed)
        self.folder = place.folder / "neighbour"
        self.folder.mkdir()
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        number = 0
        while not self.ends.wait(self.dice.choice([0.02, 0.2, 0.7])):
            if self.dice.random() < 0.5:
                self.write_back(libc)
                continue
            number += 1
            data = self.dice.randbytes(self.dice.randrange(1, 9000))
            path = self.folder / f"{number}"
            with open(path, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            descriptor = os.open(self.folder, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
            self.place.note("neighbour", file=path.name, digest=digest(data))

    def write_back(self, libc: ctypes.CDLL) -> None:
        files = [path for path in self.place.folder.rglob("*") if path.is_file() and not path.is_symlink()]
        if not files:
            return
        try:
            descriptor = os.open(self.dice.choice(files), os.O_RDONLY)
        except FileNotFoundError:
            return
        libc.sync_file_range(descriptor, ctypes.c_int64(0), ctypes.c_int64(0), 2)
        os.close(descriptor)

    def end(self) -> None:
        self.ends.set()
        self.thread.join()

    @staticmethod
    def check(folder: Path, facts: List[dict]) -> None:
        for fact in facts:
            if fact["what"] == "neighbour":
                path = folder / "neighbour" / fact["file"]
                if not path.exists() or digest(path.read_bytes()) != fact["digest"]:
                    raise Broken("a file that another program had synced is gone: the file system or this harness is wrong")


class Session:
    """One run that is recorded, with its cuts."""

    def __init__(self, harness: "Harness", kind: str, system: System, seed: int) -> None:
        self.harness, self.system, self.seed = harness, system, seed
        harness.origin.files.clear()
        harness.origin.types.clear()
        self.kind: Kind = KINDS[kind](seed, harness.origin)
        self.kind_name = kind
        self.facts: List[dict] = []
        self.sent: List[Sent] = []
        self.span = (0, 0)
        self.work = harness.work
        self.base, self.kept_recording = self.work / "base", self.work / "kept-recording"

    def record(self) -> None:
        image = self.work / "image"
        make_image(self.system, self.base)
        mounted = Mounted(self.work, self.base, self.system)
        try:
            self.kind.prepare(mounted.folder)
        finally:
            mounted.unmount()
        copy(self.base, image)
        self.harness.boot.start()
        mounted = Mounted(self.work, image, self.system, self.kind.commit, self.harness.recorder, self.kind.flush)
        try:
            self.sent, began, ended = self.watch(mounted, self.facts, lambda place: self.kind.run(place), self.harness.sabotage)
        finally:
            mounted.unmount()
        os.replace(mounted.recording, self.kept_recording)
        recording = Recording(self.kept_recording)
        self.span = (recording.count(began), recording.count(ended))

    def watch(self, mounted: Mounted, facts: List[dict], body, sabotage: Dict[str, str]) -> Tuple[List[Sent], int, int]:
        """Runs `body` on a recorded file system; returns what the origin sent, and where the recording of it begins and ends."""
        origin = self.harness.origin
        origin.forget()
        origin.pace = self.kind.pace
        began = mounted.position()
        place = Place(mounted, self.harness.pawl, origin, sabotage, facts)
        neighbour = Neighbour(place, self.seed)
        try:
            body(place)
        finally:
            neighbour.end()
        # What the file system does by itself soon afterwards.
        time.sleep(0.3)
        return origin.taken(), began, mounted.position()

    def choose(self, recording: Recording, facts: List[dict], span: Tuple[int, int], dice: random.Random) -> int:
        """How many entries happen before the cut."""
        first, last = span
        known = [recording.count(fact["position"]) for fact in facts if fact["what"] not in ("neighbour", "asked")]
        flushes = [number for number in range(first, last) if recording.entries[number].is_flush]
        count = last
        # Where nothing waits for a flush there is only one state, which most cuts need not show again.
        for _ in range(5):
            way = dice.random()
            if way < 0.25 and known:
                count = dice.choice(known)
            elif way < 0.65 and flushes:
                count = dice.choice(flushes) + (dice.random() < 0.3)
            else:
                count = dice.randint(first, last)
            if recording.durable(count) < count:
                break
        return count

    def cut(self, number: int) -> str:
        """One cut with its laws; returns what was done."""
        dice = random.Random(f"{self.seed}/{number}")
        recording = Recording(self.kept_recording)
        count = self.choose(recording, self.facts, self.span, dice)
        state = self.work / "state"
        words = States(recording, self.base, self.work).make(count, dice, state)
        told = f"{self.system.name}, {self.kind_name}: cut after {count} of {len(recording.entries)} writes and flushes; {words}"
        kept = Kept()
        facts = self.happened(recording, self.facts, count, self.sent, kept)
        nested = dice.random() < 0.2 and not self.harness.sabotage
        self.harness.counts.update({
            "with writes after the last flush": count > recording.durable(count), "with a second cut": nested,
            "after a SIGKILL": any(fact["what"] == "killed" for fact in facts)})
        try:
            self.check(state, facts, kept, None if not nested else dice)
        except Broken as broken:
            raise Broken(f"{told}{', then a second cut' if nested else ''}: {broken}") from None
        return told

    def happened(self, recording: Recording, facts: List[dict], count: int, sent: List[Sent], kept: Kept) -> List[dict]:
        """The facts before a cut, which go on to hold; `kept` gets the bytes that must be there."""
        entries = recording.entries
        moment = entries[count].begun if count < len(entries) else entries[-1].ended
        last = entries[count - 1].end if count else 0
        # Between two entries the state stays the same: what was noted before the next one begins must hold in it, too.
        known = [fact for fact in facts if recording.count(fact["position"]) <= count and fact["position"] <= max(last, 0)]
        kept.add(sent, [fact for fact in facts if fact["at"] <= moment], moment, self.kind.bound)
        return [fact | {"position": 0} for fact in known]

    def check(self, state: Path, facts: List[dict], kept: Kept, dice: Optional[random.Random]) -> None:
        self.harness.boot.start()
        before = copy_if(dice, state, self.work / "before")
        mounted = Mounted(self.work, state, self.system, self.kind.commit, self.harness.recorder if dice else None, self.kind.flush)
        # The neighbour begins anew, too.
        later: List[dict] = [fact for fact in facts if fact["what"] != "neighbour"]
        first = len(later)
        origin = self.harness.origin
        try:
            Neighbour.check(mounted.folder, facts)
            if self.harness.is_replay:
                print(run("ls", "-laR", "--time-style=full-iso", str(mounted.folder)))
            self.kind.look(mounted.folder, facts)
            shutil.rmtree(mounted.folder / "neighbour", ignore_errors=True)
            if dice:
                sent, began, ended = self.watch(mounted, later, lambda place: self.kind.again(place, facts, kept), {})
            else:
                origin.forget()
                origin.pace = FAST
                self.kind.again(Place(mounted, self.harness.pawl, origin, {}, later), facts, kept)
        finally:
            mounted.unmount()
        if not dice:
            return
        second = self.work / "second-recording"
        os.replace(mounted.recording, second)
        recording = Recording(second)
        count = self.choose(recording, later[first:], (recording.count(began), recording.count(ended)), dice)
        States(recording, before, self.work).make(count, dice, state)
        self.check(state, self.happened(recording, later, count, sent, kept), kept, None)

    # Failures.
    def keep(self, folder: Path, number: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        copy(self.base, folder / "base")
        shutil.copy(self.kept_recording, folder / "recording")
        known = {"kind": self.kind_name, "system": self.system.name, "seed": self.seed, "number": number, "span": self.span,
                 "facts": self.facts, "sent": [vars(one) for one in self.sent], "memory": self.kind.memory,
                 "port": self.harness.origin.port}
        (folder / "session.json").write_text(json.dumps(known))

    def restore(self, folder: Path, known: dict) -> None:
        self.base, self.kept_recording = folder / "base", folder / "recording"
        self.span, self.facts = tuple(known["span"]), known["facts"]
        self.sent = [Sent(**one) for one in known["sent"]]
        self.kind.memory = known["memory"]


BOOT = "/proc/sys/kernel/random/boot_id"


class Boot:
    """The kernel's number of this boot, by which programs know that a machine was started anew: each cut is followed by another."""

    def __init__(self, work: Path) -> None:
        self.file = work / "boot_id"
        self.start()
        run("mount", "--bind", str(self.file), BOOT)

    def start(self) -> None:
        self.file.write_text(f"{uuid.uuid4()}\n")


def copy_if(wanted: object, source: Path, target: Path) -> Path:
    if wanted:
        copy(source, target)
    return target
