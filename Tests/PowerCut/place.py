"""What all kinds of runs have: programs on a file system, what is known of them, and the bytes that must stay."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Dict, List, Optional, Set, Tuple

from disk import MIB, Mounted
from origin import Origin, Sent, content

# Files of at most this length that arrive in one response have no journal.
UNJOURNALLED = MIB
# What is in sockets' buffers when a response is given up, and the bytes that are compared.
TOLERANCE = 576 << 10
PATIENCE = 60


class Broken(Exception):
    """A law."""


class Place:
    """A mounted file system with the programs that run on it, and what they have said."""

    def __init__(self, mounted: Mounted, pawl: Path, origin: Origin, sabotage: Dict[str, str], facts: List[dict]) -> None:
        self.mounted, self.folder, self.pawl, self.origin, self.facts = mounted, mounted.folder, pawl, origin, facts
        self.home = self.folder / "home"
        # The socket file is on another file system, as in /run.
        self.socket = mounted.folder.parent / "socket"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "TMPDIR": str(mounted.folder.parent),
                            "PAWL_SOCKET": str(self.socket)} | sabotage

    def note(self, what: str, **values) -> None:
        """Something that its user knows now: it must hold after every later cut."""
        self.facts.append({"what": what, "position": self.mounted.position(), "at": time.monotonic()} | values)

    def start(self, *arguments: str, program: str = "", **more) -> subprocess.Popen:
        """Starts `pawl`, or a program beside it."""
        return subprocess.Popen([str(self.pawl.parent / program if program else self.pawl), *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                text=True, **more)

    def get(self, arguments: List[str], kill: Optional[int] = None, verb: str = "get") -> Tuple[int, str]:
        """Runs `pawl get` or another command; `kill`: SIGKILL after so many bytes. Returns its exit code and its errors."""
        process = self.start(verb, "--json", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        reader = threading.Thread(target=self.read, args=(process,))
        reader.start()
        errors: List[str] = []
        drain = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        drain.start()
        try:
            if kill is not None:
                self.origin.wait(kill, 20)
                process.kill()
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Broken(f"pawl {verb} has not ended after {PATIENCE} s") from None
        finally:
            reader.join()
            drain.join()
            process.stdout.close()
            process.stderr.close()
        self.note("killed" if code == -signal.SIGKILL else "exit", code=code)
        if os.environ.get("PAWL_POWERCUT_SHOW"):
            print(errors[0])
        return code, errors[0]

    def read(self, process: subprocess.Popen) -> None:
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "finished":
                self.note("finished", file=event["path"], url=event["url"], wasThere=event["wasThere"])


def digest(data: bytes) -> str:
    return f"{len(data)} bytes, {hashlib.sha256(data).hexdigest()[:12]}"


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def names(folder: Path, *without: str) -> Set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")
            if not path.is_dir() and not any(path.is_relative_to(folder / name) for name in (*without, "lost+found", "neighbour"))}


def merged(ranges: List[Tuple[int, int]]) -> List[Tuple[int, int]]:
    result: List[Tuple[int, int]] = []
    for start, end in sorted(ranges):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def common(first: List[Tuple[int, int]], second: List[Tuple[int, int]]) -> int:
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in first for b in second)


class Kept:
    """The bytes that the promise of Documentation/Reliability.md says to be on disk after a cut at a time."""

    def __init__(self) -> None:
        self.ranges: Dict[str, List[Tuple[int, int]]] = {}

    def add(self, sent: List[Sent], facts: List[dict], cut: float, bound: float) -> None:
        kills = [fact["at"] for fact in facts if fact["what"] == "killed"]
        for one in sent:
            # What a killed process had not synced is at risk until the next one has: it begins with that.
            is_at_risk = any(kill - bound < one.at <= kill + 0.2 and cut < kill + 1.5 + bound for kill in kills)
            if one.at < cut - bound and not is_at_risk:
                self.ranges.setdefault(one.path, []).append((one.start, one.end))

    def again(self, sent: List[Sent]) -> Dict[str, int]:
        """By path: how many of these bytes were sent once more."""
        result: Dict[str, int] = {}
        for path, ranges in self.ranges.items():
            later = merged([(one.start, one.end) for one in sent if one.path == path])
            result[path] = common(merged(ranges), later)
        return result


class Kind:
    """One kind of run, with all its choices made by a seed."""

    name = ""
    # What it needs beside `pawl`.
    program = ""
    pace = 6.0 * MIB

    def __init__(self, seed: int, origin: Origin) -> None:
        self.dice = random.Random(seed)
        self.seed, self.origin = seed, origin
        self.flush = self.dice.choice([0, 0, 3, 25])
        self.commit = self.dice.choice([1, 1, 5])
        # What other programs have there.
        self.foreign: Dict[str, bytes] = {"other.txt": content(seed + 1, 5000), "d/other.part": content(seed + 2, 70_000)}
        self.sides: Set[str] = set()
        # What the run without a cut has shown, for --replay.
        self.memory: Dict[str, str] = {}

    def payload(self, path: str, length: int) -> bytes:
        data = content(self.dice.randrange(1 << 40), length)
        self.origin.files[path] = data
        return data

    def prepare(self, folder: Path) -> None:
        for name, data in self.foreign.items():
            write(folder / name, data)
        (folder / "home").mkdir()

    def check_foreign(self, folder: Path) -> None:
        for name, data in self.foreign.items():
            found = (folder / name).read_bytes() if (folder / name).exists() else None
            if found != data:
                raise Broken(f"another program's file {name} is {'gone' if found is None else digest(found)}, it was {digest(data)}")

    # What a kind does.
    def run(self, place: Place) -> None:
        raise NotImplementedError

    def look(self, folder: Path, facts: List[dict]) -> None:
        """The laws of what the cut has left, before anything is started."""
        raise NotImplementedError

    def again(self, place: Place, facts: List[dict], kept: Kept) -> None:
        """Runs the same again, and checks the laws of what comes of it."""
        raise NotImplementedError

    bound = 2.0
