"""A file system on a loop device whose writes and flushes are recorded, and the states that a power cut could leave of it."""

from __future__ import annotations

import mmap
import os
import random
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import List, Tuple

SECTOR = 512
MIB = 1 << 20


@dataclass(frozen=True)
class System:
    """A file system: how it is made and mounted."""

    name: str
    kind: str
    size: int
    make: Tuple[str, ...]
    options: Tuple[str, ...]
    interval: str

    def mount_options(self, commit: int) -> str:
        return ",".join(self.options + ((f"{self.interval}={commit}",) if self.interval else ()))


EXT4 = ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard")
SYSTEMS = {
    system.name: system
    for system in [
        System("ext4", "ext4", 96 * MIB, EXT4, ("data=ordered",), "commit"),
        System("ext4-writeback", "ext4", 96 * MIB, EXT4, ("data=writeback",), "commit"),
        # mkfs.xfs makes none of less than 300 MiB.
        System("xfs", "xfs", 320 * MIB, ("mkfs.xfs", "-q", "-f", "-K"), ("nouuid",), ""),
        System("btrfs", "btrfs", 256 * MIB, ("mkfs.btrfs", "-q", "-f", "-K"), ("nodiscard",), "commit"),
    ]
}


def run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def copy(source: Path, target: Path) -> None:
    run("cp", "--sparse=always", str(source), str(target))


def make_image(system: System, image: Path) -> None:
    with open(image, "wb") as file:
        file.truncate(system.size)
    run(*system.make, str(image))


class Mounted:
    """An image that is mounted, with a recorder below it or without."""

    def __init__(self, work: Path, image: Path, system: System, commit: int = 1, recorder: Path | None = None, flush: int = 0) -> None:
        self.folder = work / "mounted"
        self.folder.mkdir(exist_ok=True)
        self.recorder = None
        self.below = image
        self.recording = work / "recording"
        if recorder is not None:
            self.below = work / "device"
            self.below.touch()
            self.recorder = subprocess.Popen([str(recorder), str(image), str(self.below), str(self.recording), str(flush)],
                                             stdout=subprocess.PIPE, text=True)
            if self.recorder.stdout.readline() != "serving\n":
                raise RuntimeError("the recorder has not started")
        try:
            device = run("losetup", "--find", "--show", "--direct-io=on", str(self.below)).strip()
            try:
                run("mount", "-t", system.kind, "-o", system.mount_options(commit), device, str(self.folder))
            finally:
                # It goes when nothing uses it any more.
                run("losetup", "--detach", device)
        except BaseException:
            self.release()
            raise

    def position(self) -> int:
        """The length of the recording: what is before it has happened."""
        return os.stat(self.recording).st_size if self.recorder else 0

    def unmount(self) -> None:
        run("umount", str(self.folder))
        self.release()

    def release(self) -> None:
        if self.recorder:
            run("umount", "--lazy", str(self.below))
            self.recorder.wait(60)
            self.recorder.stdout.close()
            self.recorder = None


@dataclass(frozen=True)
class Entry:
    is_flush: bool
    begun: float
    ended: float
    offset: int
    length: int
    # Of its data, and of its end, in the recording.
    data: int
    end: int


HEADER = struct.Struct("<QQQII")


class Recording:
    """What a disk was told, in order."""

    def __init__(self, path: Path) -> None:
        self.entries: List[Entry] = []
        size = path.stat().st_size
        with open(path, "rb") as file:
            self.bytes = mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ) if size else b""
        place = 0
        while place < size:
            begun, ended, offset, length, kind = HEADER.unpack_from(self.bytes, place)
            place += HEADER.size
            self.entries.append(Entry(kind == 2, begun / 1e9, ended / 1e9, offset, length, place, place + length))
            place += length

    def count(self, position: int) -> int:
        """The number of entries that had happened at a position."""
        return sum(entry.end <= position for entry in self.entries)

    def durable(self, count: int) -> int:
        """How many of the first `count` entries were before the end of the last flush."""
        return next((number for number in range(count, 0, -1) if self.entries[number - 1].is_flush), 0)


class States:
    """Makes the states after cuts, fastest where their numbers rise."""

    def __init__(self, recording: Recording, base: Path, work: Path) -> None:
        self.recording, self.base, self.advanced = recording, base, work / "advanced"
        self.applied = -1

    def make(self, count: int, dice: random.Random, target: Path) -> str:
        """The first `count` entries happened, then the power was cut. Returns in words which of the last writes are there."""
        durable = self.recording.durable(count)
        if self.applied < 0 or self.applied > durable:
            copy(self.base, self.advanced)
            self.applied = 0
        self.write(self.advanced, ((entry.offset, self.recording.bytes[entry.data:entry.end])
                                   for entry in self.recording.entries[self.applied:durable] if not entry.is_flush))
        self.applied = durable
        copy(self.advanced, target)
        late = self.recording.entries[durable:count]
        words, pieces = survivors(late, self.recording, dice)
        self.write(target, pieces)
        return f"{len(late)} writes after the last flush, {words}"

    @staticmethod
    def write(path: Path, pieces) -> None:
        file = os.open(path, os.O_RDWR)
        try:
            for offset, data in pieces:
                os.pwrite(file, data, offset)
        finally:
            os.close(file)


def survivors(late: List[Entry], recording: Recording, dice: random.Random) -> Tuple[str, List[Tuple[int, bytes]]]:
    """Which of the writes after the last flush reached the medium: any may have, whole or in sectors."""

    def whole(entry: Entry) -> List[Tuple[int, bytes]]:
        return [(entry.offset, recording.bytes[entry.data:entry.end])]

    def sectors(entry: Entry, chance: float) -> List[Tuple[int, bytes]]:
        return [(entry.offset + place, recording.bytes[entry.data + place:min(entry.end, entry.data + place + SECTOR)])
                for place in range(0, entry.length, SECTOR) if dice.random() < chance]

    def some(entry: Entry, chance: float, torn: float) -> List[Tuple[int, bytes]]:
        if dice.random() < torn:
            return sectors(entry, chance)
        return whole(entry) if dice.random() < chance else []

    mode = dice.choice(["none", "all", "first", "each", "each", "each", "torn", "without one", "only one"])
    if mode == "none" or not late:
        return "none of them kept", []
    if mode == "all":
        return "all of them kept", [piece for entry in late for piece in whole(entry)]
    if mode == "first":
        number = dice.randrange(len(late))
        return (f"the first {number} of them kept and the next one torn",
                [piece for entry in late[:number] for piece in whole(entry)] + sectors(late[number], dice.random()))
    if mode in ("without one", "only one"):
        number = dice.randrange(len(late))
        return (f"all but number {number} kept" if mode == "without one" else f"only number {number} kept",
                [piece for index, entry in enumerate(late) if (index == number) == (mode == "only one") for piece in whole(entry)])
    chance, torn = dice.choice([0.1, 0.5, 0.9]), 0.3 if mode == "torn" else 0.02
    return (f"each of them kept with a chance of {chance}, {torn} of them torn",
            [piece for entry in late for piece in some(entry, chance, torn)])
