"""The kinds of runs: what is started on a file system, and the laws that hold for what is found on it after a power cut."""

from __future__ import annotations

from typing import Callable, Dict

from background import Background
from gets import FileList, Large, Metalink, Overwrite, Resume, Stream, Tree
from origin import Origin
from place import Kind
from service import ServiceKind
from shards import Shards
from stores import Hub, Image, Objects, Repair, Torrent

KINDS: Dict[str, Callable[[int, Origin], Kind]] = {
    kind.name: kind for kind in [
        Large, FileList, Overwrite, Resume, Metalink, Tree, Stream, Hub, Image, Objects, Torrent, Repair, Shards, Background, ServiceKind]
}
