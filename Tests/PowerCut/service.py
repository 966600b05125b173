"""The service as a kind of run: every call that has returned holds after a power cut."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Dict, List, Optional, Set

from disk import MIB
from place import PATIENCE, TOLERANCE, UNJOURNALLED, Broken, Kept, Kind, Place, digest, names
from origin import Origin

sys.path.append(str(Path(__file__).resolve().parents[2] / "Scripts"))
import waiting  # noqa: E402

ABSENT = "absent"


class Refused(Exception):
    """A call that the service has refused."""


class SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(str(self.path))


class Running:
    """A service that runs on a mounted file system."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.hooks = self.hooks_of(place)
        hook = place.mounted.folder.parent / "hook"
        position = f"$(stat -c %s {place.mounted.recording} 2>/dev/null || echo 0)"
        hook.write_text(f'#!/bin/sh\nunset LD_PRELOAD\necho "$1 {position}" >>{self.hooks}\n')
        hook.chmod(0o755)
        self.hooks.touch()
        place.socket.unlink(missing_ok=True)
        self.process = place.start("serve", "--root", "root", "--socket", str(place.socket), "--port", "0", "--no-sessions",
                                   "--log-format", "json", "--on-complete", str(hook), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.log: List[str] = []
        self.serves = threading.Event()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        if not self.serves.wait(PATIENCE) or self.process.poll() is not None:
            self.kill()
            raise Broken(f"the service does not start: {' '.join(self.log)}")

    @staticmethod
    def hooks_of(place: Place) -> Path:
        """The file that hooks write to, which is on another file system: the cut does not concern it."""
        return place.mounted.folder.parent / "hooks"

    def read(self) -> None:
        for line in self.process.stderr:
            self.log.append(line.strip())
            if '"serving"' in line:
                self.serves.set()
        self.serves.set()

    def call(self, method: str, *parameters: object) -> object:
        connection = SocketConnection(self.place.socket)
        try:
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": list(parameters)})
            connection.request("POST", "/jsonrpc", body, {"Content-Type": "application/json"})
            reply = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if "error" in reply:
            raise Refused(f"{method}: {reply['error'].get('message')}")
        return reply["result"]

    def kill(self) -> None:
        self.process.kill()
        self.end()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.end()

    def end(self) -> None:
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Broken("the service does not stop") from None
        finally:
            self.reader.join()
            self.process.stderr.close()


class Model:
    """What the queue may say, by the calls that were asked and those that have returned."""

    def __init__(self, facts: List[dict]) -> None:
        done = {fact["call"]: fact for fact in facts if fact["what"] == "done"}
        self.values: Dict[str, Dict[str, List[object]]] = {}
        self.ends: Dict[str, str] = {}
        for fact in facts:
            if fact["what"] == "asked":
                for path, changes in fact["changes"].items():
                    known = self.values.setdefault(path, {"there": [False]})
                    for key, value in changes.items():
                        if fact["call"] not in done:
                            known.setdefault(key, [ABSENT]).append(value)
                        elif done[fact["call"]]["accepted"]:
                            known[key] = [value]
        self.finished = {fact["path"]: fact for fact in facts if fact["what"] == "seen finished"}


class ServiceKind(Kind):
    name = "service"
    bound = 2.0

    def __init__(self, seed: int, origin: Origin) -> None:
        super().__init__(seed, origin)
        self.bound = 2.0 + 4 * (4 * self.flush / 1000 + 0.05) + 0.75
        self.pace = self.dice.choice([2, 8]) * MIB
        self.has_kill = self.dice.random() < 0.3
        self.paths = [f"/file{number}.bin" for number in range(12)]
        for path in self.paths:
            self.payload(path, self.dice.choice([self.dice.randrange(1, 400_000), self.dice.randrange(MIB, 5 * MIB)]))
        # The content of a URL that replaces another.
        for path in self.paths:
            origin.files["/other" + path] = origin.files[path]
        # A rule that only the response can meet: the file is moved when it is complete.
        self.ruled = set(self.dice.sample(self.paths, 4))
        for path in self.ruled:
            origin.types[path] = origin.types["/other" + path] = "video/mp4"
        self.calls = 0

    # The run: calls by chance.
    def run(self, place: Place) -> None:
        self.ids: Dict[str, str] = {}
        Running.hooks_of(place).unlink(missing_ok=True)
        service = Running(place)
        try:
            place.note("secret", value=(place.folder / "root/.pawl/secret").read_text())
            self.ask(place, service, {"": {"rules": "films"}}, "pawl.setRules", [{"match": "type:video", "folder": "films"}])
            for step in range(self.dice.randrange(12, 40)):
                self.step(place, service)
                self.notice(place, service)
                service.process.poll()
                time.sleep(self.dice.choice([0, 0, 0.05, 0.3]))
                if self.has_kill and step == 10:
                    service.kill()
                    place.note("killed")
                    service = Running(place)
        finally:
            service.kill()
            self.note_hooks(place)

    @staticmethod
    def note_hooks(place: Place) -> None:
        for line in Running.hooks_of(place).read_text().split("\n"):
            if line:
                place.facts.append({"what": "hook", "id": line.split()[0], "position": int(line.split()[1]), "at": 0.0})

    def ask(self, place: Place, service: Running, changes: Dict[str, dict], method: str, *parameters: object) -> object:
        self.calls += 1
        place.note("asked", call=self.calls, changes=changes, method=method)
        try:
            result = service.call(method, *parameters)
        except Refused:
            place.note("done", call=self.calls, accepted=False)
            return None
        had_effect = any(result.values()) if isinstance(result, dict) else result is not False
        place.note("done", call=self.calls, accepted=had_effect)
        return result

    def step(self, place: Place, service: Running) -> None:
        new = [path for path in self.paths if path not in self.ids]
        known = [path for path in self.ids if self.ids[path]]
        if new and (not known or self.dice.random() < 0.4):
            return self.add(place, service, self.dice.choice(new))
        if not known:
            return
        path = self.dice.choice(known)
        name = self.ids[path]
        way = self.dice.randrange(10)
        if way == 0:
            self.ask(place, service, {path: {"paused": True}}, "pawl.pause", name)
        elif way == 1:
            self.ask(place, service, {path: {"paused": False}}, "pawl.resume", name)
        elif way == 2:
            self.ask(place, service, {path: {"paused": False}}, "pawl.start", name)
        elif way == 3:
            keeps = self.dice.random() < 0.5
            self.ask(place, service, {path: {"there": False, "kept": keeps}}, "pawl.remove", name, {"keepFile": keeps})
            self.ids[path] = ""
        elif way == 4:
            text = f"renamed-{self.calls}.bin"
            self.ask(place, service, {path: {"name": text}}, "pawl.rename", name, text)
        elif way == 5:
            value = self.dice.randrange(1, 9)
            self.ask(place, service, {path: {"priority": value}}, "pawl.priority", name, value)
        elif way == 6:
            text = f"text {self.calls}"
            self.ask(place, service, {path: {"description": text}}, "pawl.set", name, {"description": text})
        elif way == 7 and path not in self.ruled:
            folder = f"folder{self.dice.randrange(3)}"
            self.ask(place, service, {path: {"folder": folder}}, "pawl.set", name, {"folder": folder})
        elif way == 8:
            self.ask(place, service, {path: {"address": "/other" + path}}, "pawl.url", name, self.origin.url("/other" + path))
        else:
            value = self.dice.randrange(1, 6)
            self.ask(place, service, {"": {"slots": value}}, "pawl.slots", value)

    def add(self, place: Place, service: Running, path: str) -> None:
        start = self.dice.choice(["enqueued", "enqueued", "paused"])
        folder = self.dice.choice(["", "folder0"])
        changes = {"there": True, "paused": start == "paused", "group": "g1", "address": path}
        job = {"url": self.origin.url(path), "group": "g1", "start": start}
        if path not in self.ruled:
            changes["folder"] = job["folder"] = folder
        self.ids[path] = ""
        result = self.ask(place, service, {path: changes}, "pawl.add", [job])
        if result and "id" in result[0]:
            self.ids[path] = result[0]["id"]

    def notice(self, place: Place, service: Running) -> None:
        for row in service.call("pawl.list", {}):
            path = self.path_of(row)
            if row["state"] == "finished":
                place.note("seen finished", path=path, id=row["id"])

    @staticmethod
    def path_of(row: dict) -> str:
        return "/" + row["url"].split("/", 3)[3].removeprefix("other/")

    # The laws.
    def look(self, folder: Path, facts: List[dict]) -> None:
        self.check_foreign(folder)
        contents = {digest(data) for data in self.origin.files.values()}
        if not (folder / "root").exists():
            return
        for name in names(folder / "root", ".pawl"):
            is_own = name.endswith((".part", ".pawl")) or "/.pawl" in f"/{name}"
            if not is_own and digest((folder / "root" / name).read_bytes()) not in contents:
                raise Broken(f"{name} has its name and is no content that was served")

    def again(self, place: Place, facts: List[dict], kept: Kept) -> None:
        model = Model(facts)
        Running.hooks_of(place).unlink(missing_ok=True)
        service = Running(place)
        try:
            secrets = [fact["value"] for fact in facts if fact["what"] == "secret"]
            if secrets and (place.folder / "root/.pawl/secret").read_text() != secrets[0]:
                raise Broken("the service has another secret than before")
            rows = {self.path_of(row): row for row in service.call("pawl.list", {})}
            for path, values in model.values.items():
                self.compare(path, values, rows.get(path), model, service)
            self.calls = max([fact["call"] for fact in facts if fact["what"] == "asked"], default=0)
            self.ask(place, service, {"": {"slots": 4}}, "pawl.slots", 4)
            self.ask(place, service, {path: {"paused": False} for path in rows}, "pawl.resumeAll")
            rows = self.await_end(service)
            self.check_files(place, model, rows)
            self.check_hooks(service, facts, model, rows)
        finally:
            service.stop()
            self.note_hooks(place)
        left = self.files(place.folder)
        right = {self.file_of(row) for row in rows.values()}
        for name in left - right:
            if name not in self.allowed:
                raise Broken(f"at the end there is {name}, which no download has")
        again = kept.again(place.origin.taken())
        for path in self.paths:
            count = again.get(path, 0) + again.get("/other" + path, 0)
            length = len(self.origin.files[path])
            is_finished = path in model.finished
            if count > TOLERANCE and (length > UNJOURNALLED or is_finished) and path in rows:
                raise Broken(f"{count} bytes of {path} were fetched again that had arrived {self.bound:.2f} s before the cut")

    def compare(self, path: str, values: Dict[str, List[object]], row: Optional[dict], model: Model, service: Running) -> None:
        """What the queue says of a download after the cut, and what it may say."""
        if path == "":
            slots = service.call("pawl.limits")["slots"]
            if "slots" in values and slots not in values["slots"] and ABSENT not in values["slots"]:
                raise Broken(f"slots are {slots}, not {values['slots']}")
            folders = [rule["folder"] for rule in service.call("pawl.rules")] or [ABSENT]
            if "rules" in values and folders[0] not in values["rules"]:
                raise Broken(f"the rules' folders are {folders}, not {values['rules']}")
            return
        if (row is not None) not in values["there"]:
            raise Broken(f"{path} is {'there' if row else 'not there'}, and a call that had returned says otherwise")
        if row is None:
            return
        for key in ("priority", "description", "group", "folder", "name"):
            if key in values and ABSENT not in values[key] and row[key] not in values[key]:
                raise Broken(f"{key} of {path} is {row[key]!r}, not one of {values[key]}")
        is_paused = row["state"] == "paused"
        if path in model.finished and row["state"] != "finished":
            raise Broken(f"{path} had finished, and is {row['state']}")
        # All of it has arrived: a pause comes too late.
        is_ending = row["state"] in ("verifying", "publishing", "finished", "failed")
        if "paused" in values and not is_ending and is_paused not in values["paused"]:
            raise Broken(f"{path} is {row['state']}, and paused is one of {values['paused']}")

    def await_end(self, service: Running) -> Dict[str, dict]:
        end = time.monotonic() + PATIENCE
        while True:
            rows = {self.path_of(row): row for row in service.call("pawl.list", {})}
            states = {path: row["state"] for path, row in rows.items() if row["state"] != "finished"}
            if not states:
                return rows
            if any(state == "failed" for state in states.values()) or time.monotonic() > end:
                raise Broken(f"after {PATIENCE} s, or failed: {states}: "
                             + "; ".join(str(row["error"] and row["error"]["message"]) for row in rows.values() if row["error"]))
            time.sleep(0.05)

    @staticmethod
    def file_of(row: dict) -> str:
        return f"{row['folder']}/{row['name']}".lstrip("/")

    @staticmethod
    def files(folder: Path) -> Set[str]:
        return {name for name in names(folder / "root") if not name.startswith(".pawl/")}

    def check_files(self, place: Place, model: Model, rows: Dict[str, dict]) -> None:
        self.check_foreign(place.folder)
        for path, row in rows.items():
            file = place.folder / "root" / self.file_of(row)
            if (row["folder"] == "films") != (path in self.ruled):
                raise Broken(f"{path} is in the folder {row['folder']!r}, and the rules want it elsewhere")
            if not file.exists() or file.read_bytes() != self.origin.files[path]:
                raise Broken(f"{path} has finished, and {self.file_of(row)} is {digest(file.read_bytes()) if file.exists() else 'missing'}")
        # Of downloads that were removed, only finished files may stay: those that were to be kept, or whose removal was not confirmed.
        # So may one that got its name when the URL was replaced.
        self.allowed: Set[str] = set()
        for path, values in model.values.items():
            was_replaced = any(address not in (path, ABSENT) for address in values.get("address", []))
            if path and (was_replaced or path not in rows and (True in values.get("kept", [True]) or len(values["there"]) > 1)):
                for name in self.files(place.folder):
                    if (place.folder / "root" / name).read_bytes() == self.origin.files[path] and not name.endswith((".part", ".pawl")):
                        self.allowed.add(name)

    def check_hooks(self, service: Running, facts: List[dict], model: Model, rows: Dict[str, dict]) -> None:
        before = {fact["id"] for fact in facts if fact["what"] == "hook"}
        ids = {row["id"] for row in rows.values()}

        def missing() -> Set[str]:
            return ids - before - {line.split()[0] for line in service.hooks.read_text().split("\n") if line}

        if not waiting.until_changed(service.hooks.parent, lambda: not missing(), 10):
            raise Broken(f"the hook has not run for finished downloads: {sorted(missing())}")
