"""`pawl pipe` as a kind of run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Dict, List, Optional

from disk import MIB
from origin import Origin
from place import PATIENCE, Broken, Kept, Kind, Place, digest, names, write


class Shards(Kind):
    """`pawl pipe`: archives that are published whole or not at all."""

    name = "pipe"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        self.pace = self.dice.choice([0.5, 0]) * MIB
        self.has_kill = self.dice.random() < 0.4
        self.inputs: Dict[str, str] = {}
        for shard in range(3):
            lines = []
            for number in range(self.dice.randrange(1, 40)):
                path = f"/{shard}-{number}.jpg"
                self.payload(path, self.dice.randrange(1, 120_000))
                lines.append(json.dumps({"url": origin.url(path), "id": f"{shard}-{number}"}))
            self.inputs[f"00{shard}"] = "".join(line + "\n" for line in lines)

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        (folder / "shards").mkdir()
        for name, lines in self.inputs.items():
            write(folder / "home" / name, lines.encode())

    def pipe(self, place: Place, name: str, kill: Optional[int] = None) -> int:
        process = place.start("pipe", "-q", "-i", f"home/{name}", "--to", "shards", "--format", "tar", "--shard", name, "--robots",
                              "ignore", "--allow-private-addresses", stdout=subprocess.DEVNULL)
        try:
            if kill is not None:
                self.origin.wait(self.origin.total + kill, 10)
                process.kill()
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Broken(f"pawl pipe has not ended after {PATIENCE} s") from None
        if code == 0:
            place.note("published", shard=name)
        return code

    def run(self, place: Place) -> None:
        for name in self.inputs:
            if self.has_kill:
                self.pipe(place, name, self.dice.randrange(1, 500_000))
            code = self.pipe(place, name)
            if code != 0:
                raise Broken(f"without any cut, pawl pipe ends with {code}")
        self.memory = self.found(place.folder)

    @staticmethod
    def found(folder: Path) -> Dict[str, str]:
        return {name: digest((folder / "shards" / name).read_bytes()) for name in names(folder / "shards")}

    def look(self, folder: Path, facts: List[dict]) -> None:
        self.check_foreign(folder)
        published = {fact["shard"] for fact in facts if fact["what"] == "published"}
        for name, found in self.found(folder).items():
            if not name.startswith(".pawl") and found != self.memory.get(name):
                raise Broken(f"{name} has its name and is {found}, not {self.memory.get(name)}")
        missing = {f"{name}.{end}" for name in published for end in ("tar", "jsonl")} - names(folder / "shards")
        if missing:
            raise Broken(f"pawl pipe had ended with 0, and {sorted(missing)} are not there")

    def again(self, place: Place, facts: List[dict], kept: Kept) -> None:
        published = {fact["shard"] for fact in facts if fact["what"] == "published"}
        for name in self.inputs:
            code = self.pipe(place, name)
            if code != 0:
                raise Broken(f"the next run of shard {name} ends with {code}")
        self.check_foreign(place.folder)
        found = self.found(place.folder)
        if found != self.memory:
            raise Broken(f"after the next run there is {found}, not {self.memory}")
        again = sorted({one.path for one in self.origin.taken() if f"00{one.path[1]}" in published})
        if again:
            raise Broken(f"samples of a published shard were fetched again: {again}")
