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
import zlib

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
    "by GET with a callback": "a page elsewhere could read the response: a callback requires the secret",
    "another path": "the page is at the other paths",
    "statistics of all": "Pawl counts only the results that it has",
    "stopped window": "those that ended in the same second are in the order in which they were added",
    "saved": "sessions name no folder: nothing is written outside --dir",
    "exit code": "results that were purged are not counted",
    "scheme": "a scheme that cannot be used is refused at once",
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

    def message(self):
        """The next message; `None` when there is none in time."""
        try:
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
            return message
        except (OSError, ValueError):
            return None

    def next(self, gid):
        """The method of the next message about a download; `None` when there is none in time."""
        while (message := self.message()) is not None:
            if message.get("params", [{}])[0].get("gid") == gid:
                return message["method"]


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


def raw(port, method, path, body=None, **headers):
    """The status, the content type and the body of a response."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, method=method)
    for name, value in headers.items():
        request.add_header(name.replace("_", "-"), value)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            status, kind, data = response.status, response.headers.get("Content-Type"), response.read()
    except urllib.error.HTTPError as error:
        status, kind, data = error.code, error.headers.get("Content-Type"), error.read()
    except OSError as error:
        return type(error).__name__
    return [status, kind, data.decode(errors="replace")]


def masked(text):
    """A text message of a client (RFC 6455 §5.2)."""
    data = text.encode()
    head = bytes([0x81, 0x80 | len(data)]) if len(data) < 126 else b"\x81\xfe" + struct.pack(">H", len(data))
    return head + b"\0\0\0\0" + data


def exchange(port, *texts):
    """What a WebSocket that sends these messages receives, without notifications."""
    with Listener(port, 8) as socket_:
        for text in texts:
            socket_.connection.sendall(masked(text))
        responses = []
        while len(responses) < len(texts):
            message = socket_.message()
            if message is None:
                break
            if not (isinstance(message, dict) and "method" in message):
                responses.append(message)
        return responses


def sequences(client, http, root):
    """More calls as clients make them; pairs of a name and a response."""
    call, result, port, base = client.call, client.result, client.port, http.base
    slow = base + "/slow100000/mid.bin"

    def status(gid, *keys):
        return call("aria2.tellStatus", gid, list(keys) or ["status", "errorCode"])

    def ended(gid):
        return client.wait(gid, ["complete", "error", "removed"])

    def post(text, **headers):
        return raw(port, "POST", "/jsonrpc", text.encode(), **headers)

    version = '{"jsonrpc":"2.0","id":%s,"method":"aria2.tellActive","params":[]}'
    for name, identifier in [("a number", "7"), ("a text", '"x"'), ("null", "null")]:
        yield f"id is {name}", post(version % identifier)
    yield "no id", post('{"jsonrpc":"2.0","method":"aria2.tellActive"}')
    yield "no version", post('{"id":"q","method":"aria2.tellActive"}')
    yield "no parameters", post('{"jsonrpc":"2.0","id":"q","method":"aria2.getSessionInfo","params":{}}')[0]
    yield "no JSON", post("{nothing")[:2]
    yield "empty body", post("")[:2]
    yield "an array of nothing", post("[]")
    yield "a text", post('"x"')[:2]
    yield "a batch", post("[" + version % 1 + "," + version % 2 + ',{"jsonrpc":"2.0","id":3,"method":"none"}]')
    yield "a batch with junk", post("[1," + version % 1 + "]")
    yield "plain text type", post(version % 1, Content_Type="text/plain")
    query = "?method=aria2.tellActive&id=q"
    parameters = base64.b64encode(b'[["gid"]]').decode()
    yield "by GET", raw(port, "GET", "/jsonrpc" + query)
    yield "by GET with parameters", raw(port, "GET", f"/jsonrpc{query}&params={parameters}")
    yield "by GET with a callback", raw(port, "GET", f"/jsonrpc{query}&jsoncallback=cb")
    batch = base64.b64encode(("[" + version % 1 + "]").encode()).decode()
    yield "a batch by GET", raw(port, "GET", f"/jsonrpc?params={batch}")
    yield "another path", raw(port, "POST", "/other", (version % 1).encode())[0]
    yield "no such method by XML", xml(port, "aria2.nothing")
    yield "XML junk", raw(port, "POST", "/rpc", b"<junk")[0]

    yield "WebSocket", exchange(port, version % 1)
    yield "WebSocket batch", exchange(port, "[" + version % 1 + "," + version % 2 + "]")
    yield "WebSocket junk", exchange(port, "{nothing")
    yield "WebSocket two calls", exchange(port, version % 1, '{"jsonrpc":"2.0","id":"b","method":"none"}')

    # Downloads by XML-RPC.
    gid = xml(port, "aria2.addUri", [base + "/xml.bin"], {"out": "sub/x.bin", "header": ["A: 1", "B: 2"]})
    yield "added by XML", gid
    yield "its end", ended(gid)
    yield "its status by XML", xml(port, "aria2.tellStatus", gid, ["status", "totalLength", "files", "numPieces"])
    yield "its options", {
        key: value for key, value in (result("aria2.getOption", gid) or {}).items() if key in ("out", "header", "dir")
    }
    yield "XML multicall", xml(port, "system.multicall", [
        {"methodName": "aria2.tellStatus", "params": [gid, ["status"]]}, {"methodName": "aria2.none", "params": []},
    ])
    yield "XML integers", xml(port, "aria2.tellStopped", 0, 5, ["status"])
    yield "XML remove result", xml(port, "aria2.removeDownloadResult", gid)

    # Errors.
    for name, path in [("404", "/404/e.bin"), ("403", "/403/e.bin"), ("401", "/401/e.bin"), ("410", "/410/e.bin")]:
        gid = result("aria2.addUri", [base + path])
        yield f"error {name}", [ended(gid), status(gid, "status", "errorCode", "completedLength", "numPieces", "files")]
    for name, uri, options in [
        ("refused", "http://127.0.0.1:1/e.bin", {"max-tries": "1"}), ("no host", "http://nosuch.invalid/e.bin", {}),
        ("checksum", base + "/e1.bin", {"checksum": "sha-1=" + "0" * 40}), ("loop", base + "/loop/e.bin", {}),
        ("500", base + "/500/e.bin", {"max-tries": "1"}), ("503", base + "/503/e.bin", {"max-tries": "1"}),
        ("exists", base + "/e2.bin", {"auto-file-renaming": "false", "out": "there.bin"}),
        ("a folder in its place", base + "/e3.bin", {"out": "folder"}),
    ]:
        origin.write(root + "/there.bin", b"old")
        origin.write(root + "/folder/x", b"")
        gid = result("aria2.addUri", [uri], options)
        yield f"error {name}", [ended(gid), status(gid)]
    yield "a number as option", [ended(result("aria2.addUri", [base + "/n.bin"], {"split": 4, "out": "n.bin"}))]
    yield "unknown option", [ended(result("aria2.addUri", [base + "/n1.bin"], {"nosuch": "1"}))]
    yield "bad value", call("aria2.addUri", [base + "/n2.bin"], {"split": "x"})
    yield "bad checksum", call("aria2.addUri", [base + "/n2.bin"], {"checksum": "sha-1=x"})
    yield "bad gid option", call("aria2.addUri", [base + "/n2.bin"], {"gid": "x"}).get("error", {}).get("code")
    yield "bad position", call("aria2.addUri", [base + "/n2.bin"], {}, -1)
    yield "position of text", call("aria2.addUri", [base + "/n2.bin"], {}, "x")
    yield "options of text", call("aria2.addUri", [base + "/n2.bin"], "x")
    yield "adler32", [ended(result("aria2.addUri", [base + "/ad.bin"], {
        "checksum": "adler32=%08x" % zlib.adler32(origin.cached("ad.bin"))}))]

    # The queue.
    call("aria2.changeGlobalOption", {"max-concurrent-downloads": "1"})
    first = "00000000000000b1"
    # Also so that this notification does not come later, among others.
    yield "heard at start", messages_heard(
        port, first, lambda: call("aria2.addUri", [slow], {"gid": first, "out": "q1.bin"}), 1
    )
    client.wait(first, ["active"])
    for number in (2, 3, 4):
        call("aria2.addUri", [f"{base}/q{number}.bin"], {"gid": f"00000000000000b{number}"})
    call("aria2.addUri", [f"{base}/q5.bin"], {"gid": "00000000000000b5"}, 0)
    call("aria2.addUri", [f"{base}/q6.bin"], {"gid": "00000000000000b6"}, 99)

    def line(*window):
        return [item["gid"][-2:] for item in result("aria2.tellWaiting", *(window or (0, 99)), ["gid"])]

    yield "order", line()
    yield "window", [line(1, 2), line(-1, 2), line(-2, 99), line(3, 0), line(99, 1), line(-99, 1)]
    for place, how in [(1, "POS_SET"), (-1, "POS_CUR"), (1, "POS_CUR"), (0, "POS_END"), (-1, "POS_END"), (99, "POS_CUR")]:
        yield f"move {place} {how}", [call("aria2.changePosition", "00000000000000b3", place, how), line()]
    yield "statistics of all", {k: v for k, v in result("aria2.getGlobalStat").items() if k != "downloadSpeed"}
    yield "short gid", call("aria2.tellStatus", "00000000000000B2", ["gid", "status"])
    yield "prefix", call("aria2.tellStatus", "0000", ["gid"])
    yield "servers", [sorted(server) for file in result("aria2.getServers", first) for server in file["servers"]][:1]
    yield "peers", "error" in call("aria2.getPeers", first)
    yield "URIs of active", sorted({item["status"] for item in result("aria2.getUris", first)})
    yield "pause waiting", [call("aria2.pause", "00000000000000b2"), line(), status("00000000000000b2", "status")]
    yield "unpause it", [call("aria2.unpause", "00000000000000b2"), line()]
    yield "unpause waiting", call("aria2.unpause", "00000000000000b4")
    yield "unpause active", call("aria2.unpause", first)
    yield "remove waiting", [call("aria2.forceRemove", "00000000000000b6"), status("00000000000000b6", "status", "errorCode")]
    yield "remove again", call("aria2.remove", "00000000000000b6")
    yield "change of active", call("aria2.changeOption", first, {"max-download-limit": "90K"})
    yield "change of waiting", call("aria2.changeOption", "00000000000000b4", {"out": "named.bin", "split": "3"})
    yield "read back", {k: result("aria2.getOption", "00000000000000b4").get(k) for k in ("out", "split")}
    yield "change of nothing", call("aria2.changeOption", first, {})
    yield "change of unknown", call("aria2.changeOption", "00000000000000ff", {})
    yield "change without options", call("aria2.changeOption", first)
    yield "heard at pause", messages_heard(port, first, lambda: call("aria2.forcePause", first), 1)
    yield "paused", [client.wait(first, ["paused"]), status(first, "status", "connections", "downloadSpeed")]
    yield "runs meanwhile", [ended("00000000000000b%d" % n) for n in (2, 3, 5, 4)]
    yield "heard at unpause", messages_heard(port, first, lambda: call("aria2.unpause", first), 1)
    yield "runs", client.wait(first, ["active"])
    yield "saved", [call("aria2.saveSession"), saved(root)]
    yield "heard at removal", messages_heard(port, first, lambda: call("aria2.remove", first), 1)
    yield "removed", [ended(first), status(first, "status", "errorCode", "errorMessage")]
    lost = "00000000000000c1"
    yield "heard at error", messages_heard(
        port, lost, lambda: call("aria2.addUri", [base + "/404/l.bin"], {"gid": lost}), 2)
    yield "stopped window", [call("aria2.tellStopped", -1, 3, ["status"]), call("aria2.tellStopped", 0, 2, ["status"])]
    yield "remove result of active", call("aria2.removeDownloadResult", "00000000000000ff")
    yield "file of the waiting", os.path.exists(root + "/named.bin")
    yield "purge", [call("aria2.purgeDownloadResult"), result("aria2.tellStopped", 0, 9)]

    # Global options.
    for name, value in [
        ("max-overall-download-limit", "1M"), ("max-download-limit", "2K"), ("split", "3"), ("dir", root + "/sub"),
        ("out", "x"), ("log-level", "warn"), ("user-agent", "x"), ("save-session-interval", "5"), ("header", "C: 3"),
        ("max-concurrent-downloads", "9"), ("rpc-secret", "y"), ("min-split-size", "1M"),
        ("max-overall-download-limit", "0"),
    ]:
        response = call("aria2.changeGlobalOption", {name: value})
        yield f"global {name} {value}".replace(root, "ROOT"), [response, (result("aria2.getGlobalOption") or {}).get(name)]
    gid = result("aria2.addUri", [base + "/g1.bin"])
    yield "with the global folder", [ended(gid), status(gid, "dir", "files")]
    yield "its option", {k: result("aria2.getOption", gid).get(k) for k in ("split", "user-agent", "dir", "max-download-limit")}
    many = origin.meta4(base, "m1.bin", "m2.bin")
    gids = result("aria2.addMetalink", base64.b64encode(many.encode()).decode(), {"out": "ignored"}, 0)
    yield "Metalink", [ended(gid) for gid in gids]
    yield "its files", sorted(f["path"] for gid in gids for f in result("aria2.getFiles", gid))
    yield "nested multicall", call("system.multicall", [{"methodName": "system.multicall", "params": []}])
    yield "multicall of text", call("system.multicall", "x")
    yield "multicall of nothing", call("system.multicall", [])
    yield "multicall without parameter", call("system.multicall")
    yield "multicall adds", [len(item) if isinstance(item, list) else item for item in result("system.multicall", [
        {"methodName": "aria2.addUri", "params": [[base + "/mc.bin"]]}, {"methodName": "aria2.pauseAll"},
        {"methodName": "aria2.getVersion", "params": [1]},
    ])]
    running = result("aria2.addUri", [slow], {"out": "last.bin", "gid": "00000000000000d1"})
    yield "scheme", "result" in call("aria2.addUri", ["nosuch://x/y"])
    yield "unpause all", call("aria2.unpauseAll")
    yield "runs at the end", client.wait(running, ["active"])
    yield "shutdown", call("aria2.forceShutdown")


def saved(root):
    """The lines of the session file that do not differ from run to run."""
    with open(root + "/s.session") as file:
        lines = file.read().split("\n")
    return sorted(line for line in lines if line.startswith(("http", " out=", " pause=", " gid=", " dir=")))


def xml(port, method, *parameters):
    server = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{port}/rpc")
    try:
        return getattr(server, method)(*parameters)
    except xmlrpc.client.Fault as fault:
        return {"fault": fault.faultCode, "text": fault.faultString}
    except xmlrpc.client.ProtocolError as error:
        return error.errcode


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


def talk(program, conversation):
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
    wrong = 0
    for topic in (conversation, sequences):
        theirs = talk([options.aria2c], topic)
        ours = talk([os.path.abspath(options.pawl), "aria2c"], topic)
        wrong += report("responses", theirs, ours, KNOWN, options.v)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
