"""A program with a background session (PawlSession) as a kind of run."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Dict, List, Optional, Set

from disk import MIB
from origin import Origin
from place import PATIENCE, TOLERANCE, UNJOURNALLED, Broken, Kept, Kind, Place, digest, names, write


class Program:
    """It runs on a mounted file system; its delegate moves each finished file, syncs the folder, and says what it was told."""

    def __init__(self, place: Place, *arguments: str) -> None:
        self.place = place
        self.process = place.start("state", *arguments, program=Background.program, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines: List[str] = []
        self.changed = threading.Condition()
        self.has_ended = False
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self) -> None:
        for line in self.process.stdout:
            words = line.split()
            if words[:3] == ["all", "are", "there"]:
                self.place.note("made")
            elif words[0] == "complete":
                self.place.note("complete", task=int(words[2]), code=int(words[3]))
            with self.changed:
                self.lines.append(line.strip())
                self.changed.notify_all()
        with self.changed:
            self.has_ended = True
            self.changed.notify_all()

    def wait(self, condition) -> None:
        """Until `condition` of its lines."""
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self.lines) or self.has_ended, PATIENCE) or not condition(self.lines):
                self.process.kill()
                raise Broken(f"the session's program says only {self.lines[-5:]}, {self.process.stderr.read()[-500:]}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        self.place.note("killed")


class Background(Kind):
    """Tasks that outlive their program: none is lost, and each of them gets its file and its end."""

    name, program = "background", "SessionProgram"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        self.bound = 2.0 + 2 * (4 * self.flush / 1000 + 0.05) + 0.75
        self.pace = self.dice.choice([2, 6]) * MIB
        self.paths = [f"/task{number}" for number in range(self.dice.randrange(1, 6))]
        for path in self.paths:
            self.payload(path, self.dice.choice([self.dice.randrange(1, 400_000), self.dice.randrange(MIB, 4 * MIB)]))
        self.has_kill = self.dice.random() < 0.4

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        (folder / "out").mkdir()
        (folder / "state").mkdir()

    def right(self, task: int) -> bytes:
        return self.origin.files[self.paths[task]]

    def run(self, place: Place) -> None:
        program = Program(place, "run", "out", *map(self.origin.url, self.paths))
        try:
            if self.has_kill:
                # Some may have ended before all were made.
                program.wait(lambda lines: "all are there" in lines or any(line.startswith("complete") for line in lines))
                self.origin.wait(self.dice.randrange(sum(len(self.right(task)) for task in range(len(self.paths)))), PATIENCE)
            else:
                program.wait(lambda lines: sum(line.startswith("complete") for line in lines) == len(self.paths))
        finally:
            program.kill()
        if self.has_kill:
            self.end_all(place)

    def end_all(self, place: Place) -> List[str]:
        program = Program(place, "again", "out")
        try:
            program.wait(lambda lines: any(line.startswith("over") for line in lines))
        finally:
            program.kill()
        return program.lines

    @staticmethod
    def completed(facts: List[dict]) -> Set[int]:
        for fact in facts:
            if fact["what"] == "complete" and fact["code"] != 0:
                raise Broken(f"task {fact['task']} ended with {fact['code']}")
        return {fact["task"] for fact in facts if fact["what"] == "complete"}

    def look(self, folder: Path, facts: List[dict]) -> None:
        self.check_foreign(folder)
        self.check_files(folder, self.completed(facts))

    def check_files(self, folder: Path, needed: Set[int]) -> None:
        for task in range(len(self.paths)):
            file = folder / f"out/task {task}"
            if file.exists() and file.read_bytes() != self.right(task):
                raise Broken(f"the file of task {task} is {digest(file.read_bytes())}")
            if task in needed and not file.exists():
                raise Broken(f"the file of task {task} is gone")

    def again(self, place: Place, facts: List[dict], kept: Kept) -> None:
        first = len(place.facts)
        before = self.completed(facts)
        lines = self.end_all(place)
        after = self.completed(place.facts[first:])
        self.check_foreign(place.folder)
        is_made = any(fact["what"] == "made" for fact in facts)
        self.check_files(place.folder, before | after)
        lost = set(range(len(self.paths))) - before - after if is_made else set()
        if lost:
            raise Broken(f"of tasks {sorted(lost)} nothing was heard again: {lines}")
        left = [name for name in names(place.folder / "state") if name.endswith((".part", ".pawl")) or "/task" in f"/{name}"]
        if left:
            raise Broken(f"at the end there is {left}")
        self.check_traffic(before, kept)

    def check_traffic(self, before: Set[int], kept: Kept) -> None:
        sent = self.origin.taken()
        again = kept.again(sent)
        for task, path in enumerate(self.paths):
            if len(self.right(task)) > UNJOURNALLED and again.get(path, 0) > TOLERANCE:
                raise Broken(f"{again[path]} bytes of task {task} were fetched again that had arrived {self.bound:.2f} s before the cut")
            if task in before and any(one.path == path for one in sent):
                raise Broken(f"task {task} was complete, and was fetched again")
