"""`pawl get` as kinds of runs: one file and many, replaced and continued ones, collections and streams."""

from __future__ import annotations

import hashlib
import math
import os
import random
from pathlib import Path
from typing import Dict, List, Optional, Set

from disk import MIB
from origin import Origin, Sent, content
from place import TOLERANCE, UNJOURNALLED, Broken, Kept, Kind, Place, digest, names, write


class Get(Kind):
    """`pawl get` of files, whose right contents are known."""

    verb = "get"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        self.targets: Dict[str, bytes] = {}
        # The path of each target at the origin.
        self.paths: Dict[str, List[str]] = {}
        self.old: Dict[str, bytes] = {}
        self.arguments: List[str] = []
        # By chance a run is killed, and started again before the cut.
        self.has_kill = self.dice.random() < 0.4

    def add(self, path: str, name: str, length: int) -> bytes:
        self.targets[name] = self.payload(path, length)
        self.paths[name] = [path]
        return self.targets[name]

    @property
    def bound(self) -> float:
        count = sum(len(data) > UNJOURNALLED for data in self.targets.values())
        # A sync of a file and its journal is a few flushes; what remains is for a machine that does other things too.
        return 2.0 + 2 * math.ceil(min(count, 8) / 2) * (4 * self.flush / 1000 + 0.05) + 0.75

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        for name, data in self.old.items():
            write(folder / name, data)

    def run(self, place: Place) -> None:
        if self.has_kill:
            total = sum(map(len, self.targets.values()))
            place.get(self.arguments, kill=self.dice.randrange(total), verb=self.verb)
        code, errors = place.get(self.arguments, verb=self.verb)
        if code != 0:
            raise Broken(f"without any cut, pawl {self.verb} ends with {code}: {errors}")

    def target_of(self, fact: dict) -> Optional[str]:
        path = "/" + fact["url"].split("/", 3)[3].split("?")[0]
        return next((name for name, paths in self.paths.items() if path in paths), None)

    def finished(self, facts: List[dict]) -> Set[str]:
        found = {self.target_of(fact) for fact in facts if fact["what"] == "finished"}
        if any(fact["what"] == "exit" and fact["code"] == 0 for fact in facts):
            found |= set(self.targets)
        return found - {None}

    def look(self, folder: Path, facts: List[dict]) -> None:
        self.check_foreign(folder)
        finished = self.finished(facts)
        for name, data in self.targets.items():
            path = folder / name
            found = path.read_bytes() if path.exists() else None
            if name in finished and found != data:
                raise Broken(f"{name} was reported as finished and is {'gone' if found is None else digest(found)}")
            self.look_at(folder, name, data, found)
        allowed = set(self.foreign) | self.sides
        for name in self.targets:
            allowed |= {name, f"{name}.part", f"{name}.pawl"}
        for name in names(folder, "home") - allowed:
            if not os.path.basename(name).startswith(".pawl-"):
                raise Broken(f"the folder has a file {name}")

    def look_at(self, folder: Path, name: str, data: bytes, found: Optional[bytes]) -> None:
        if found is not None and found != data:
            raise Broken(f"{name} has its name and is not right: {digest(found)} instead of {digest(data)}")

    def again(self, place: Place, facts: List[dict], kept: Kept) -> None:
        finished = self.finished(facts)
        code, errors = place.get(self.arguments, verb=self.verb)
        if code != 0:
            raise Broken(f"the next run ends with {code}: {errors.strip()}")
        self.check_foreign(place.folder)
        for name, data in self.targets.items():
            path = place.folder / name
            found = path.read_bytes() if path.exists() else None
            if found != data:
                raise Broken(f"after the next run {name} is {'missing' if found is None else digest(found)}, not {digest(data)}")
        left = {name for name in names(place.folder, "home") - set(self.targets) - set(self.foreign) - self.sides
                # A draft is swept by what writes there a minute later.
                if not os.path.basename(name).startswith(".pawl-")}
        if left:
            raise Broken(f"after the next run there is also {sorted(left)}")
        self.check_traffic(finished, kept, place.origin.taken())
        self.check_recognized(finished, place.facts[len(facts):])

    def check_recognized(self, finished: Set[str], later: List[dict]) -> None:
        for fact in later:
            if fact["what"] == "finished" and self.target_of(fact) in finished and not fact["wasThere"]:
                raise Broken(f"{self.target_of(fact)} was reported as finished, and was downloaded again")

    def check_traffic(self, finished: Set[str], kept: Kept, sent: List[Sent]) -> None:
        again = kept.again(sent)
        for name, data in self.targets.items():
            count = sum(again.get(path, 0) for path in self.paths[name])
            if len(data) > UNJOURNALLED and count > TOLERANCE:
                raise Broken(f"{count} bytes of {name} were fetched again that had arrived {self.bound:.2f} s before the cut")
            twice = sum(one.end - one.start for one in sent if one.path in self.paths[name]) if name in finished else 0
            if twice > TOLERANCE:
                raise Broken(f"{name} was reported as finished, and {twice} bytes of it were fetched again")


class Large(Get):
    name = "large"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        length = self.dice.randrange(2 * MIB, 26 * MIB)
        self.add("/large.bin", "large.bin", length)
        self.connections = self.dice.choice([1, 1, 8])
        # So that a few checkpoints are made on the way.
        self.pace = length / self.dice.choice([0.3, 4, 6]) / self.connections
        self.arguments = ["-x", str(self.connections), origin.url("/large.bin")]
        if self.dice.random() < 0.4:
            data = self.targets["large.bin"]
            self.arguments += ["--checksum", "sha-256=" + hashlib.sha256(data).hexdigest()]


class FileList(Get):
    name = "list"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        for number in range(self.dice.randrange(5, 60)):
            length = self.dice.choice([0, self.dice.randrange(1, 5000), self.dice.randrange(300_000)])
            self.add(f"/small{number}", f"d/small{number}", length)
        for number in range(self.dice.randrange(4)):
            self.add(f"/middle{number}", f"d/middle{number}", self.dice.randrange(MIB, 4 * MIB))
        self.pace = self.dice.choice([0.5, 4, 0]) * MIB
        self.arguments = ["-d", "d", "-i", "home/list.txt", "--save-cookies", "home/cookies.txt"]

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        urls = [self.origin.url(paths[0]) for paths in self.paths.values()]
        self.dice.shuffle(urls)
        write(folder / "home/list.txt", "".join(f"{url}\n" for url in urls).encode())

    def look(self, folder: Path, facts: List[dict]) -> None:
        super().look(folder, facts)
        cookies = folder / "home/cookies.txt"
        has_ended = any(fact["what"] == "exit" and fact["code"] == 0 for fact in facts)
        if has_ended and not cookies.exists() or cookies.exists() and "visited" not in cookies.read_text():
            raise Broken("the file of cookies is gone, or empty")


class Overwrite(Get):
    """A file that is replaced: its name has the old content or the new one at any time."""

    name = "overwrite"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        self.add("/file.bin", "file.bin", self.dice.choice([self.dice.randrange(MIB), self.dice.randrange(MIB, 12 * MIB)]))
        self.old["file.bin"] = content(seed + 3, self.dice.randrange(1, 6 * MIB))
        self.pace = len(self.targets["file.bin"]) / 3
        self.arguments = ["--if-exists", "overwrite", origin.url("/file.bin")]

    def look_at(self, folder: Path, name: str, data: bytes, found: Optional[bytes]) -> None:
        if found not in (data, self.old[name]):
            raise Broken(f"{name} is {'gone' if found is None else digest(found)}, neither the old content nor the new one")

    def check_traffic(self, finished: Set[str], kept: Kept, sent: List[Sent]) -> None:
        # The command replaces what has the name, also its own result.
        super().check_traffic(set(), kept if not finished else Kept(), sent)

    def check_recognized(self, finished: Set[str], later: List[dict]) -> None:
        pass


class Resume(Get):
    """A file of another program that is continued: nothing of it is lost."""

    name = "resume"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        data = self.add("/file.bin", "file.bin", self.dice.randrange(4 * MIB, 14 * MIB))
        self.old["file.bin"] = data[:self.dice.randrange(MIB, len(data))]
        self.pace = (len(data) - len(self.old["file.bin"])) / self.dice.choice([0.5, 3])
        self.arguments = ["--if-exists", "resume", origin.url("/file.bin")]

    def look_at(self, folder: Path, name: str, data: bytes, found: Optional[bytes]) -> None:
        old = self.old[name]
        if found is not None and (not data.startswith(found) or len(found) < len(old)):
            raise Broken(f"{name} has its name and is neither what it was nor a longer part of the content: {digest(found)}")
        part = folder / f"{name}.part"
        if found is None and not (part.exists() and part.read_bytes().startswith(old)):
            raise Broken(f"what was there of {name} is neither there nor in its part file")

    def check_traffic(self, finished: Set[str], kept: Kept, sent: List[Sent]) -> None:
        kept.ranges.setdefault("/file.bin", []).append((0, len(self.old["file.bin"])))
        # Both ends, the middle and holes are compared before.
        super().check_traffic(finished, kept, sent)


class Metalink(Get):
    name = "metalink"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        entries = []
        for number in range(3):
            name = f"d/part{number}.bin"
            data = self.add(f"/part{number}.bin", name, self.dice.randrange(400_000, 7 * MIB))
            self.origin.files[f"/mirror/part{number}.bin"] = data
            self.paths[name].append(f"/mirror/part{number}.bin")
            piece = 256 << 10
            pieces = "".join(f"<hash>{hashlib.sha256(data[start:start + piece]).hexdigest()}</hash>"
                             for start in range(0, len(data), piece))
            entries.append(f'<file name="part{number}.bin"><size>{len(data)}</size>'
                           f'<hash type="sha-256">{hashlib.sha256(data).hexdigest()}</hash>'
                           f'<pieces length="{piece}" type="sha-256">{pieces}</pieces>'
                           + "".join(f"<url>{origin.url(path)}</url>" for path in self.paths[name]) + "</file>")
        self.metalink = f'<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">{"".join(entries)}</metalink>'
        self.pace = 1.5 * MIB
        self.arguments = ["-d", "d", "--metalink", "home/files.meta4"]

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        write(folder / "home/files.meta4", self.metalink.encode())


class Tree(Get):
    """A folder of a web server, with folders in it."""

    name = "tree"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        pages: Dict[str, List[str]] = {"/tree/": []}
        for number in range(self.dice.randrange(3, 25)):
            folder = self.dice.choice(["", "one/", "one/two/"])
            for above, link in [("/tree/", "one/"), ("/tree/one/", "two/")]:
                if f"/tree/{folder}".startswith(above + link) and link not in pages.setdefault(above, []):
                    pages[above].append(link)
            length = self.dice.choice([self.dice.randrange(1, 200_000), self.dice.randrange(1, 200_000), self.dice.randrange(MIB, 3 * MIB)])
            self.add(f"/tree/{folder}f{number}.bin", f"tree/{folder}f{number}.bin", length)
            pages.setdefault(f"/tree/{folder}", []).append(f"f{number}.bin")
        for page, links in pages.items():
            origin.files[page] = (f"<html><head><title>Index of {page}</title></head><body><h1>Index of {page}</h1>"
                                  + "".join(f'<a href="{link}">{link}</a>' for link in ["../"] + links) + "</body></html>").encode()
        self.pace = self.dice.choice([1, 4]) * MIB
        self.arguments = ["--recursive", "-d", "tree", origin.url("/tree/")]

class Stream(Get):
    """A playlist whose segments become one file."""

    name = "stream"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        count = self.dice.randrange(4, 16)
        parts = [self.segment(number) for number in range(count)]
        for number, part in enumerate(parts):
            origin.files[f"/v/s{number}.ts"] = part
        origin.files["/v/v.m3u8"] = ("#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:4\n"
                                     + "".join(f"#EXTINF:4,\ns{number}.ts\n" for number in range(count)) + "#EXT-X-ENDLIST\n").encode()
        self.targets["v.ts"], self.paths["v.ts"] = b"".join(parts), ["/v/v.m3u8"]
        self.pace = len(self.targets["v.ts"]) / self.dice.choice([1, 8, 12])
        self.arguments = [origin.url("/v/v.m3u8")]

    def segment(self, number: int) -> bytes:
        dice = random.Random(self.seed + number)
        # Packets of a transport stream.
        return b"".join(bytes([0x47, 0x41 if index == 0 else 1, 0, 0x10 | index & 15]) + dice.randbytes(184)
                        for index in range(self.dice.randrange(100, 5000)))
