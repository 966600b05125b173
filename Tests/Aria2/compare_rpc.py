#!/usr/bin/env python3
"""Sends the same RPC calls to aria2c and to pawl aria2c, and compares the responses.

usage: compare_rpc.py PAWL [-v] [--aria2c PATH]

Identifiers, speeds and texts that are free to differ are normalised. KNOWN names the differences with their reasons.
"""

import argparse
import base64
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import xmlrpc.client

sys.path.append(os.path.join(os.path.dirname(__file__), "../../Scripts"))
import origin
import waiting

KNOWN = {
    "version": "another version, and no BitTorrent",
    "session info": "a number of its own",
    "methods": "Pawl has methods of its own besides",
    "torrent": "BitTorrent is not supported",
    "all options": "options of BitTorrent and of the system have no value",
    "options": "options of BitTorrent and of the system have no value",
    "bad option": "Pawl says what is wrong in its own words",
    "metalink garbage": "Pawl says what is wrong in its own words",
    "same gid again": "Pawl says that the identifier is taken",
    "none left": "Pawl counts only the results that it has",
    "dry run": "dry-run is refused over RPC",
    "dir outside": "Pawl writes only below --dir",
}


class Client:
    def __init__(self, port, secret=None):
        self.port, self.secret = port, secret
        self.names = {}

    def call(self, method, *parameters, secret=True, host=None, origin_field=None):
        parameters = list(parameters)
        if self.secret and secret and not method.startswith("system."):
            parameters.insert(0, "token:" + self.secret)
        body = json.dumps({"jsonrpc": "2.0", "id": "q", "method": method, "params": parameters}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/jsonrpc", body)
        if host:
            request.add_header("Host", host)
        if origin_field:
            request.add_header("Origin", origin_field)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            text = error.read()
            try:
                return json.loads(text)
            except ValueError:
                return {"http": error.code}
        except OSError as error:
            return {"refused": type(error).__name__}

    def result(self, method, *parameters):
        return self.call(method, *parameters).get("result")

    def wait(self, gid, wanted, seconds=20):
        with Listener(self.port, seconds) as listener:
            while True:
                status = (self.result("aria2.tellStatus", gid, ["status"]) or {}).get("status")
                if status in wanted:
                    return status
                if listener.next(gid) is None:
                    return "timeout"


class Listener:
    """A WebSocket that only listens, for so many seconds."""

    def __init__(self, port, seconds):
        self.end = time.monotonic() + seconds
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.connection.sendall(
            (
                f"GET /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
        )
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.receive()
        self.data = self.data.split(b"\r\n\r\n", 1)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def receive(self):
        self.connection.settimeout(max(0.001, self.end - time.monotonic()))
        data = self.connection.recv(4096)
        if not data:
            raise ConnectionError("the WebSocket was closed")
        self.data += data

    def next(self, gid):
        """The method of the next message about a download; `None` when there is none in time."""
        try:
            while True:
                while len(self.data) < 2:
                    self.receive()
                length, start = self.data[1] & 127, 2
                if length == 126:
                    while len(self.data) < 4:
                        self.receive()
                    length, start = struct.unpack(">H", self.data[2:4])[0], 4
                while len(self.data) < start + length:
                    self.receive()
                message = json.loads(self.data[start : start + length])
                self.data = self.data[start + length :]
                if message["params"][0]["gid"] == gid:
                    return message["method"]
        except (OSError, KeyError):
            return None


def messages_heard(port, gid, act, count, seconds=8):
    """What a WebSocket that only listens receives about a download."""
    with Listener(port, seconds) as listener:
        act()
        return [method for _ in range(count) if (method := listener.next(gid))]


def conversation(client, http, root):
    """Pairs of a name and a response."""
    call, result = client.call, client.result
    base = http.base
    yield "version", call("aria2.getVersion")
    yield "session info", call("aria2.getSessionInfo")
    yield "methods", call("system.listMethods")
    yield "notifications", call("system.listNotifications")
    yield "statistics", call("aria2.getGlobalStat")
    yield "no such method", call("aria2.nothing")
    yield "empty list", call("aria2.tellActive")
    yield "no URI", call("aria2.addUri", [])
    yield "no parameter", call("aria2.addUri")
    yield "wrong type", call("aria2.addUri", "x")
    yield "bad gid", call("aria2.tellStatus", "zz")
    yield "unknown gid", call("aria2.tellStatus", "00000000000000ff")
    yield "torrent", call("aria2.addTorrent", base64.b64encode(b"d4:infod4:name1:aee").decode())
    gid = result("aria2.addUri", [base + "/a.bin"], {"gid": "00000000000000a1"})
    yield "added", gid
    yield "completes", client.wait(gid, ["complete", "error"])
    yield "complete", call("aria2.tellStatus", gid, [
        "gid", "status", "totalLength", "completedLength", "errorCode", "errorMessage", "files", "dir", "numPieces",
        "pieceLength", "bitfield", "uploadLength", "connections",
    ])
    yield "uris of complete", call("aria2.getUris", gid)
    yield "files of complete", call("aria2.getFiles", gid)
    yield "servers of complete", call("aria2.getServers", gid)
    yield "change complete", call("aria2.changeOption", gid, {"max-download-limit": "10K"})
    yield "pause complete", call("aria2.pause", gid)
    yield "unpause complete", call("aria2.unpause", gid)
    yield "remove complete", call("aria2.remove", gid)
    yield "same gid again", call("aria2.addUri", [base + "/a.bin"], {"gid": "00000000000000a1"})
    again = result("aria2.addUri", [base + "/a.bin"])
    yield "a taken name", client.wait(again, ["complete", "error"])
    yield "its path", [f["path"] for f in result("aria2.getFiles", again) or []]
    bad = result("aria2.addUri", [base + "/404/a.bin"])
    yield "fails", client.wait(bad, ["complete", "error"])
    yield "failure", call("aria2.tellStatus", bad, ["status", "errorCode", "totalLength"])
    mixed = call("aria2.addUri", ["junk", base + "/b.bin"])
    yield "one bad URI of two", client.wait(mixed.get("result", ""), ["complete", "error"]) if "result" in mixed else mixed
    expanded = call("aria2.addUri", [base + "/{m,n}/c.bin"], {"parameterized-uri": "true"})
    yield "parameterized", client.wait(expanded.get("result", ""), ["complete", "error"])
    paused = result("aria2.addUri", [base + "/slow100000/mid.bin", base + "/m/mid.bin"], {"pause": "true", "out": "p.bin"})
    yield "paused", call("aria2.tellStatus", paused, ["status", "totalLength", "completedLength", "files", "errorCode"])
    yield "uris of paused", call("aria2.getUris", paused)
    yield "waiting", call("aria2.tellWaiting", 0, 10, ["status"])
    yield "waiting backwards", call("aria2.tellWaiting", -1, 10, ["status"])
    yield "pause paused", call("aria2.pause", paused)
    yield "change", call("aria2.changeOption", paused, {"max-download-limit": "50K"})
    yield "bad option", call("aria2.changeOption", paused, {"max-download-limit": "x"})
    yield "number ignored", call("aria2.changeOption", paused, {"split": 3})
    yield "read back", (result("aria2.getOption", paused) or {}).get("max-download-limit")
    yield "out read back", (result("aria2.getOption", paused) or {}).get("out")
    yield "change URIs", call("aria2.changeUri", paused, 1, [base + "/m/mid.bin"], [base + "/n/mid.bin"])
    yield "change URIs at -1", call("aria2.changeUri", paused, 1, [], [base + "/o/mid.bin"], -1)
    yield "change URIs of file 2", call("aria2.changeUri", paused, 2, [], [])
    yield "position", call("aria2.changePosition", paused, 0, "POS_SET")
    yield "position of complete", call("aria2.changePosition", gid, 0, "POS_SET")
    yield "position in another way", call("aria2.changePosition", paused, 0, "POS_X")
    yield "unpause", call("aria2.unpause", paused)
    yield "runs", client.wait(paused, ["active"])
    yield "active", [sorted(s) for s in result("aria2.tellActive", ["gid", "status", "dir"])]
    yield "remove active", call("aria2.remove", paused)
    yield "removed", client.wait(paused, ["removed"])
    yield "remove waiting", call("aria2.remove", result("aria2.addUri", [base + "/x.bin"], {"pause": "true"}))
    yield "stopped", len(result("aria2.tellStopped", 0, 100))
    yield "newest stopped", call("aria2.tellStopped", -1, 2, ["status"])
    yield "negative number", call("aria2.tellStopped", 0, -1)
    yield "forget", call("aria2.removeDownloadResult", gid)
    yield "forget again", call("aria2.removeDownloadResult", gid)
    followed = result("aria2.addUri", [base + "/metalink/e.bin.meta4"])
    yield "metalink by URL", client.wait(followed, ["complete", "error"])
    after = (result("aria2.tellStatus", followed, ["followedBy"]) or {}).get("followedBy", [])
    yield "followed", len(after)
    yield "follower", [client.wait(gid, ["complete", "error"]) for gid in after]
    yield "following", [(result("aria2.tellStatus", gid, ["following"]) or {}).get("following") == followed for gid in after]
    dry = result("aria2.addUri", [base + "/f.bin"], {"dry-run": "true"}) or ""
    yield "dry run", client.wait(dry, ["complete", "error"], 3)
    yield "dry file", os.path.exists(root + "/f.bin")
    yield "limit results", call("aria2.changeGlobalOption", {"max-download-result": "1"})
    yield "purge", call("aria2.purgeDownloadResult")
    yield "none left", result("aria2.getGlobalStat")
    yield "global change", call("aria2.changeGlobalOption", {"max-concurrent-downloads": "2"})
    yield "global read back", (result("aria2.getGlobalOption") or {}).get("max-concurrent-downloads")
    yield "bad global change", call("aria2.changeGlobalOption", {"max-concurrent-downloads": "0"}).get("error", {}).get("code")
    yield "unknown global change", call("aria2.changeGlobalOption", {"nothing": "1"})
    yield "save session", call("aria2.saveSession")
    yield "all options", sorted(result("aria2.getGlobalOption") or {})
    yield "pause all", call("aria2.pauseAll")
    yield "unpause all", call("aria2.unpauseAll")
    yield "multicall", call("system.multicall", [
        {"methodName": "aria2.tellActive", "params": []}, {"methodName": "aria2.tellStatus", "params": ["zz"]},
        {"methodName": "system.multicall", "params": [[]]}, "x", {"params": []},
    ])
    yield "metalink", call("aria2.addMetalink", base64.b64encode(origin.meta4(base, "d.bin").encode()).decode())
    yield "metalink garbage", call("aria2.addMetalink", base64.b64encode(b"<metalink").decode())
    yield "dir outside", "result" in call("aria2.addUri", [base + "/a.bin"], {"dir": "/nonexistent/x", "pause": "true"})
    server = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{client.port}/rpc")
    try:
        server.aria2.tellStatus("zz")
    except xmlrpc.client.Fault as fault:
        yield "XML fault", [fault.faultCode, fault.faultString]
    faults = server.system.multicall([{"methodName": "aria2.tellStatus", "params": ["zz"]}])
    yield "XML multicall fault", faults
    heard = "00000000000000a7"
    yield "notifications heard", messages_heard(
        client.port, heard, lambda: call("aria2.addUri", [base + "/g.bin"], {"gid": heard}), 2
    )
    yield "shutdown", call("aria2.shutdown")


def normal(value, root, base):
    def once(value):
        """aria2c lists a URI once for each of its connections."""
        if isinstance(value, dict):
            return {k: once(v) for k, v in value.items()}
        if not isinstance(value, list):
            return value
        seen, result = set(), []
        for item in value:
            if isinstance(item, dict) and set(item) == {"uri", "status"}:
                if item["uri"] in seen:
                    continue
                seen.add(item["uri"])
            result.append(once(item))
        return result

    text = json.dumps(once(value), sort_keys=True).replace(root, "ROOT").replace(base, "HTTP")
    text = re.sub(r'"(downloadSpeed|connections|uploadSpeed)": "\d+"', r'"\1": "N"', text)
    return re.sub(r"[0-9a-f]{16}\b", "GID", text)


def start(command, root, environment):
    """A process, and whether it accepts calls."""
    with open(root + "/log", "wb") as log, waiting.Readiness() as readiness:
        process = subprocess.Popen(
            command, cwd=root, env={**environment, **readiness.environment},
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.DEVNULL,
        )
        return process, readiness.wait(process, log.name, b"listening on TCP port")


def talk(program):
    root = os.path.realpath(tempfile.mkdtemp(prefix="rpc-"))
    http = origin.HTTPOrigin()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process, starts = start(
        program + ["--no-conf", "--enable-rpc", f"--rpc-listen-port={port}", "-d", root, f"--save-session={root}/s.session"],
        root, {**os.environ, "HOME": root},
    )
    try:
        responses = {"starts": starts}
        try:
            for name, response in conversation(Client(port), http, root):
                responses[name] = normal(response, root, http.base)
        except Exception as error:  # The rest of the conversation needs what failed.
            responses["broken"] = repr(error)
        try:
            responses["exit code"] = process.wait(15)
        except subprocess.TimeoutExpired:
            responses["exit code"] = "it does not end"
        return responses
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        shutil.rmtree(root, ignore_errors=True)


def report(what, theirs, ours, known, says_all):
    """Prints the differences; returns the number of those without a reason."""
    wrong = 0
    for name in dict.fromkeys([*theirs, *ours]):
        if theirs.get(name) == ours.get(name):
            if says_all:
                print(f"same  {name}: {ours.get(name)}")
            continue
        wrong += name not in known
        print(f"{'known' if name in known else 'DIFF '} {name} {known.get(name, '')}")
        print(f"    aria2c {theirs.get(name)}\n    pawl   {ours.get(name)}")
    print(f"{len(theirs)} {what}, {wrong} differ without a reason")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pawl")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--aria2c", default="aria2c")
    options = parser.parse_args()
    theirs = talk([options.aria2c])
    ours = talk([os.path.abspath(options.pawl), "aria2c"])
    return 1 if report("responses", theirs, ours, KNOWN, options.v) else 0


if __name__ == "__main__":
    sys.exit(main())
