"""What is fetched from hubs, registries and object stores, by torrents and by `pawl repair`, as kinds of runs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Dict, List, Optional, Set

from disk import MIB
from gets import Get
from origin import Origin, Sent
from place import Broken, Kept, Place, digest, names, write


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Hub(Get):
    """A repository of a model hub, in the cache that its libraries share."""

    name = "hub"
    COMMIT = "c0ffee" * 6 + "c0ff"
    CACHE = "hub/models--org--model"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        rows: List[dict] = []
        # What libraries find, by its name in a snapshot.
        self.links: Dict[str, str] = {}
        for number in range(self.dice.randrange(2, 12)):
            is_large = self.dice.random() < 0.5
            path = self.dice.choice(["", "onnx/"]) + (f"f{number}.bin" if is_large else f"f{number}.txt")
            data = self.payload(f"/org/model/resolve/{self.COMMIT}/{path}", self.dice.randrange(1, 3 * MIB if is_large else 20_000))
            row = {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()}
            if is_large:
                row["lfs"] = {"oid": sha256(data), "size": len(data), "pointerSize": 130}
            rows.append(row)
            blob = f"{self.CACHE}/blobs/{sha256(data) if is_large else row['oid']}"
            self.targets[blob] = data
            # As its event names it, and as it is requested.
            self.paths[blob] = [f"/model@{self.COMMIT}/{path}", f"/org/model/resolve/{self.COMMIT}/{path}"]
            self.links[path] = blob
        origin.files["/api/models/org/model/revision/main"] = json.dumps({"id": "org/model", "sha": self.COMMIT, "siblings": [
            {"rfilename": row["path"]} for row in rows]}).encode()
        origin.files[f"/api/models/org/model/tree/{self.COMMIT}"] = json.dumps(rows).encode()
        self.reference, self.tree = f"{self.CACHE}/refs/main", f"{self.CACHE}/trees/{self.COMMIT}.json"
        locks = {f"hub/.locks/models--org--model/{Path(blob).name}.lock" for blob in self.targets}
        self.sides = {self.snapshot(path) for path in self.links} | {self.reference, self.tree, "hub/CACHEDIR.TAG"} | locks
        self.pace = self.dice.choice([1, 4]) * MIB
        self.arguments = ["hf://org/model", "--endpoint-url", origin.url("")]

    def snapshot(self, path: str) -> str:
        return f"{self.CACHE}/snapshots/{self.COMMIT}/{path}"

    def run(self, place: Place) -> None:
        place.environment["HF_HUB_CACHE"] = str(place.folder / "hub")
        super().run(place)

    def again(self, place: Place, facts: List[dict], kept: Kept) -> None:
        place.environment["HF_HUB_CACHE"] = str(place.folder / "hub")
        super().again(place, facts, kept)
        self.check_cache(place.folder, is_whole=True)

    def look(self, folder: Path, facts: List[dict]) -> None:
        super().look(folder, facts)
        has_ended = any(fact["what"] == "exit" and fact["code"] == 0 for fact in facts)
        self.check_cache(folder, is_whole=has_ended)

    def check_cache(self, folder: Path, is_whole: bool) -> None:
        """What the hub's libraries read without a network."""
        reference = folder / self.reference
        if reference.exists() and reference.read_text() != self.COMMIT:
            raise Broken(f"refs/main names {reference.read_text()!r}")
        for path, blob in self.links.items():
            link = folder / self.snapshot(path)
            if link.is_symlink() and not link.exists():
                raise Broken(f"the snapshot has a link {path} to a blob that is not there")
            if link.exists() and link.read_bytes() != self.targets[blob]:
                raise Broken(f"{path} of the snapshot is {digest(link.read_bytes())}")
            if not link.exists() and (is_whole or reference.exists()):
                raise Broken(f"the snapshot has no {path}, and {'the command had ended' if is_whole else 'refs/main names it'}")
        tree = folder / self.tree
        if tree.exists() and set(json.loads(tree.read_text())["files"]) != set(self.links):
            raise Broken("the list of the commit's files is not right")


class Image(Get):
    """An image of a registry, as a layout in a folder or as one archive."""

    name = "image"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        self.is_archive = self.dice.random() < 0.5
        kind = "application/vnd.oci.image."
        root = "img.tar.blobs" if self.is_archive else "img"
        layers = [self.blob(root, self.dice.randrange(1, 3 * MIB), kind + "layer.v1.tar") for _ in range(self.dice.randrange(1, 6))]
        config = self.blob(root, 300, kind + "config.v1+json")
        self.manifest = json.dumps({"schemaVersion": 2, "mediaType": kind + "manifest.v1+json", "config": config, "layers": layers}).encode()
        origin.files["/v2/org/img/manifests/v1"] = self.manifest
        self.sides = {f"{root}/{name}" for name in ("oci-layout", "index.json", "archive", f"blobs/sha256/{sha256(self.manifest)}")}
        self.pace = self.dice.choice([1, 4]) * MIB
        self.arguments = [f"oci://127.0.0.1:{origin.port}/org/img:v1", "--platform", "linux/amd64",
                          *(["-o", "img.tar"] if self.is_archive else ["-d", "img"])]

    def blob(self, root: str, length: int, kind: str) -> dict:
        data = self.payload("/new", length)
        if kind.endswith("json"):
            data = json.dumps({"architecture": "amd64", "os": "linux", "author": data.hex()}).encode()
        name = sha256(data)
        path = f"/v2/org/img/blobs/sha256:{name}"
        self.origin.files[path] = data
        self.targets[f"{root}/blobs/sha256/{name}"] = data
        self.paths[f"{root}/blobs/sha256/{name}"] = [f"/org/img@sha256:{name}", path]
        return {"mediaType": kind, "digest": f"sha256:{name}", "size": len(data)}

    def run(self, place: Place) -> None:
        super().run(place)
        if self.is_archive:
            self.memory = {"img.tar": digest((place.folder / "img.tar").read_bytes())}

    def look(self, folder: Path, facts: List[dict]) -> None:
        has_ended = any(fact["what"] == "exit" and fact["code"] == 0 for fact in facts)
        archive = folder / "img.tar"
        if self.is_archive:
            if archive.exists() and digest(archive.read_bytes()) != self.memory["img.tar"]:
                raise Broken(f"img.tar has its name and is {digest(archive.read_bytes())}")
            if has_ended and not archive.exists():
                raise Broken("pawl get had ended with 0, and img.tar is not there")
            # Its blobs are removed once it has its name.
            facts = [] if archive.exists() else facts
            self.sides |= {"img.tar", "img.tar.part"}
        else:
            self.check_layout(folder, is_whole=has_ended)
        super().look(folder, facts)

    def check_layout(self, folder: Path, is_whole: bool) -> None:
        """The index is written last."""
        index = folder / "img/index.json"
        if not index.exists():
            if is_whole:
                raise Broken("pawl get had ended with 0, and there is no index")
            return
        entries = json.loads(index.read_text())["manifests"]
        if [entry["digest"] for entry in entries] != [f"sha256:{sha256(self.manifest)}"]:
            raise Broken(f"the index has {entries}")
        if json.loads((folder / "img/oci-layout").read_text()) != {"imageLayoutVersion": "1.0.0"}:
            raise Broken("the layout has no right mark")
        for name, data in {**self.targets, f"img/blobs/sha256/{sha256(self.manifest)}": self.manifest}.items():
            if not (folder / name).exists() or (folder / name).read_bytes() != data:
                raise Broken(f"the index names the image, and {name} is not there or not right")

    def again(self, place: Place, facts: List[dict], kept: Kept) -> None:
        if not self.is_archive:
            super().again(place, facts, kept)
            self.check_layout(place.folder, is_whole=True)
            return
        was_there = (place.folder / "img.tar").exists()
        code, errors = place.get(self.arguments)
        if code != 0:
            raise Broken(f"the next run ends with {code}: {errors.strip()}")
        self.check_foreign(place.folder)
        left = names(place.folder, "home") - set(self.foreign)
        if left != {"img.tar"} or digest((place.folder / "img.tar").read_bytes()) != self.memory["img.tar"]:
            raise Broken(f"after the next run there is {sorted(left)}, or img.tar is not right")
        sent = place.origin.taken()
        if was_there and any("/blobs/" in one.path for one in sent):
            raise Broken("the archive was there, and its blobs were fetched again")
        self.check_traffic(set() if was_there else self.finished(facts), kept, sent)


class Objects(Get):
    """An object of a store, or a prefix."""

    name = "objects"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        self.pace = self.dice.choice([1, 4]) * MIB
        store = ["--endpoint-url", origin.url(""), "--region", "x", "--no-sign-request"]
        if self.dice.random() < 0.4:
            self.put("large.bin", "large.bin", self.dice.randrange(2 * MIB, 12 * MIB))
            self.arguments = ["s3://bucket/large.bin", "-x", str(self.dice.choice([1, 4])), *store]
            return
        rows = []
        for number in range(self.dice.randrange(3, 25)):
            key = self.dice.choice(["", "one/"]) + f"o{number}"
            data = self.put(f"data/{key}", f"d/{key}", self.dice.choice([self.dice.randrange(1, 100_000), self.dice.randrange(MIB, 3 * MIB)]))
            rows.append(f"<Contents><Key>data/{key}</Key><LastModified>2026-01-05T10:00:00.000Z</LastModified>"
                        f'<ETag>"{hashlib.md5(data).hexdigest()}"</ETag><Size>{len(data)}</Size></Contents>')
        listing = ('<?xml version="1.0"?><ListBucketResult><Name>bucket</Name><Prefix>data/</Prefix><IsTruncated>false</IsTruncated>'
                   f"<KeyCount>{len(rows)}</KeyCount>{''.join(rows)}</ListBucketResult>").encode()
        origin.files["/bucket"] = origin.files["/bucket/"] = listing
        self.arguments = ["s3://bucket/data/", "--recursive", "-d", "d", *store]

    def put(self, key: str, name: str, length: int) -> bytes:
        self.targets[name] = self.payload(f"/bucket/{key}", length)
        self.paths[name] = [f"/{key}", f"/bucket/{key}"]
        return self.targets[name]


class Torrent(Get):
    """A torrent's files from a web seed; pieces have bytes of two of them."""

    name = "torrent"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        files = []
        for number in range(self.dice.randrange(1, 6)):
            data = self.add(f"/seed/t/f{number}.bin", f"d/t/f{number}.bin", self.dice.randrange(1, 3 * MIB))
            files.append({"length": len(data), "path": [f"f{number}.bin"]})
        whole, piece = b"".join(self.targets.values()), 64 << 10
        pieces = b"".join(hashlib.sha1(whole[start:start + piece]).digest() for start in range(0, len(whole), piece))
        self.torrent = bencode({"url-list": origin.url("/seed/"), "info": {
            "files": files, "name": "t", "piece length": piece, "pieces": pieces}})
        self.pace = self.dice.choice([1, 4]) * MIB
        self.arguments = ["-d", "d", "--torrent", "home/t.torrent"]

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        write(folder / "home/t.torrent", self.torrent)


def bencode(value: object) -> bytes:
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, list):
        return b"l" + b"".join(map(bencode, value)) + b"e"
    if isinstance(value, dict):
        return b"d" + b"".join(bencode(key) + bencode(value[key]) for key in sorted(value)) + b"e"
    data = value if isinstance(value, bytes) else str(value).encode()
    return b"%d:%s" % (len(data), data)


class Repair(Get):
    """A damaged file that is repaired: its name has the damaged content or the right one at any time."""

    name, verb = "repair", "repair"

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        data = self.add("/f.bin", "f.bin", self.dice.randrange(MIB, 10 * MIB))
        damaged = bytearray(data)
        for _ in range(self.dice.randrange(1, 12)):
            place = self.dice.randrange(len(data))
            damaged[place:place + 5000] = bytes(len(damaged[place:place + 5000]))
        self.old["f.bin"] = bytes(damaged[:self.dice.choice([len(data), len(data), self.dice.randrange(1, len(data))])])
        piece = 128 << 10
        pieces = "".join(f"<hash>{sha256(data[start:start + piece])}</hash>" for start in range(0, len(data), piece))
        self.metalink = (f'<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f.bin"><size>{len(data)}</size>'
                         f'<hash type="sha-256">{sha256(data)}</hash><pieces length="{piece}" type="sha-256">{pieces}</pieces>'
                         f"<url>{origin.url('/f.bin')}</url></file></metalink>").encode()
        self.compares = self.dice.random() < 0.4
        self.pace = self.dice.choice([1, 3]) * MIB
        self.arguments = ["f.bin", *(["--from", origin.url("/f.bin")] if self.compares else ["--metalink", "home/f.meta4"])]

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        write(folder / "home/f.meta4", self.metalink)
        (folder / "f.bin").chmod(0o640)

    def look_at(self, folder: Path, name: str, data: bytes, found: Optional[bytes]) -> None:
        if found not in (data, self.old[name]):
            raise Broken(f"{name} is {'gone' if found is None else digest(found)}, neither the damaged content nor the right one")
        if (folder / name).stat().st_mode & 0o777 != 0o640:
            raise Broken(f"the permissions of {name} are lost")

    def check_traffic(self, finished: Set[str], kept: Kept, sent: List[Sent]) -> None:
        # A comparison receives all of the content.
        if not self.compares:
            super().check_traffic(finished, kept, sent)

    def check_recognized(self, finished: Set[str], later: List[dict]) -> None:
        pass
