#!/usr/bin/env python3
"""The service under load: a long queue, many downloads at once, callers, WebSockets, and a day of polling.

It starts nginx and `pawl serve` on loopback, both on a memory disk, calls it as aria2's clients do, and prints the measurements.
The exit code is 1 if a target is missed. PHASES selects phases; add is always included.
"""

import argparse
import asyncio
import base64
import json
import multiprocessing
import os
import pathlib
import platform
import re
import shutil
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Scripts"))
import waiting  # noqa: E402

LENGTH = 32 << 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Origin:
    """nginx with one file of zeros under any name."""

    def __init__(self, folder):
        self.port = free_port()
        (folder / "www").mkdir()
        with open(folder / "www/file", "wb") as file:
            file.truncate(LENGTH)
        conf = folder / "nginx.conf"
        # Only its owner may read the folder; a worker of another user could not.
        user = "user root;" if os.geteuid() == 0 else ""
        conf.write_text(f"""
            {user} daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log /dev/null; events {{ worker_connections 4096; }}
            http {{ access_log off; sendfile on; server {{ listen 127.0.0.1:{self.port}; root {folder}/www;
            location / {{ try_files /file =404; }} }} }}""")
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([nginx, "-c", conf, "-p", folder], stderr=subprocess.DEVNULL)

    def url(self, number):
        return f"http://127.0.0.1:{self.port}/{number}"


class Service:
    def __init__(self, pawl, folder, active):
        self.port = free_port()
        self.root, self.socket = folder / "root", folder / "socket"
        command = [pawl, "serve", "--root", self.root, "--socket", self.socket, "--port", str(self.port)]
        command += ["--secret", "load", "--jobs", str(active), "--quiet"]
        with waiting.Readiness() as readiness:
            self.process = subprocess.Popen(command, env=os.environ | readiness.environment)
            if not readiness.wait(self.process):
                raise SystemExit("the service does not start")

    def memory(self):
        """Resident memory in MiB."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def own_delays(self):
        """How many wakings of its web thread the service has timed, and how many took 5 ms at most."""
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(self.socket))
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            text = b"".join(iter(lambda: one.recv(65536), b"")).decode()
        found = {name: float(value) for name, value in re.findall(r"^pawl_loop_delay_seconds(\S+) (\S+)", text, re.M)}
        return found["_count"], found['_bucket{le="0.005"}']


def request(method, *params, id=1):
    return {"id": id, "method": method, "params": ["token:load", *params]}


class Caller:
    """One persistent connection."""

    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def call(self, body):
        data = json.dumps(body).encode()
        self.writer.write(b"POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
        return await self.reader.readexactly(length)


async def fill(service, origin, count):
    caller = await Caller().open(service.port)
    start = time.monotonic()
    for first in range(0, count, 500):
        calls = [request("aria2.addUri", [origin.url(n)], {"out": f"f{n}"}) for n in range(first, min(count, first + 500))]
        responses = json.loads(await caller.call(calls))
        assert all("result" in response for response in responses), responses[0]
    return time.monotonic() - start


CALLS = [
    request("aria2.getGlobalStat"), request("aria2.tellActive", ["gid", "status", "completedLength", "downloadSpeed"]),
    request("aria2.tellWaiting", 0, 20, ["gid", "status"]), request("aria2.tellStopped", -1, 20, ["gid", "status", "errorCode"]),
    request("aria2.getGlobalOption"),
]


async def rate(service, per_second, seconds):
    """Calls at a steady rate, on ten connections; latencies in milliseconds, and how late the generator made the calls."""
    latencies, late = [], []
    start = time.monotonic() + 0.1

    async def one(number, connections):
        caller = await Caller().open(service.port)
        for call in range(number, per_second * seconds, connections):
            due = start + call / per_second
            await asyncio.sleep(max(0, due - time.monotonic()))
            begun = time.monotonic()
            late.append((begun - due) * 1000)
            await caller.call(CALLS[call % len(CALLS)])
            latencies.append((time.monotonic() - begun) * 1000)

    await asyncio.gather(*(one(number, 10) for number in range(10)))
    return sorted(latencies), sorted(late)


def listen(port, count):
    """WebSockets that authenticate and then only listen, in a separate process, as in real use.

    Prints `ready` when all are open, and the number of those that received a message at the end of standard input.
    """
    data = json.dumps(request("aria2.getSessionInfo")).encode()
    frame = b"\x81" + (bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))) + b"\0\0\0\0" + data
    sockets, received = [], set()
    for _ in range(count):
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(b"GET /jsonrpc HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + base64.b64encode(os.urandom(16)) + b"\r\n\r\n")
        seen = b""
        while b"\r\n\r\n" not in seen:
            seen += one.recv(4096)
        one.sendall(frame)
        while b'"sessionId"' not in seen:
            seen += one.recv(4096)
        one.setblocking(False)
        sockets.append(one)
    print("ready", flush=True)
    # A few times a second is enough: nothing depends on it, and it leaves the cores to the service.
    while not select.select([sys.stdin], [], [], 0.25)[0]:
        for one in sockets:
            try:
                if one.recv(1 << 18):
                    received.add(one)
            except BlockingIOError:
                pass
    print(len(received), flush=True)


# AriaNg's request once a second (the keys of its list).
KEYS = ["gid", "totalLength", "completedLength", "uploadSpeed", "downloadSpeed", "connections", "numSeeders", "seeder", "status",
        "errorCode", "verifiedLength", "verifyIntegrityPending"]
POLL = [request("aria2.getGlobalStat"), request("aria2.tellActive", KEYS), request("aria2.tellWaiting", 0, 20, KEYS),
        request("aria2.tellStopped", -1, 20, KEYS)]


async def poll(service, count, polls_per_batch=10):
    """A client's polls, one after the other without pause; memory after each tenth."""
    body = POLL * polls_per_batch
    connections = 2

    async def some(batches):
        caller = await Caller().open(service.port)
        for _ in range(batches):
            await caller.call(body)

    memories = []
    start = time.monotonic()
    for _ in range(10):
        await asyncio.gather(*(some(-(-count // (10 * connections * polls_per_batch))) for _ in range(connections)))
        memories.append(service.memory())
    return memories, time.monotonic() - start


def sweep(root):
    """Removes finished files, so that the memory disk suffices; returns their number."""
    count = 0
    for entry in os.scandir(root):
        if entry.is_file() and not entry.name.endswith((".part", ".pawl")):
            os.unlink(entry.path)
            count += 1
    return count


def keep_sweeping(root, swept):
    while True:
        swept.value += sweep(root)
        time.sleep(0.1)


async def measure_rate(service, options, report, swept, what):
    start, before, (count, quick) = time.monotonic(), swept.value, service.own_delays()
    latencies, late = await rate(service, options.rate, options.seconds)
    speed = (swept.value - before) * LENGTH / (time.monotonic() - start) / (1 << 20)
    p99 = latencies[len(latencies) * 99 // 100]
    words = f"p50 {latencies[len(latencies) // 2]:.1f} ms, p99 {p99:.1f} ms, longest {latencies[-1]:.1f} ms"
    count, quick = (after - before for after, before in zip(service.own_delays(), (count, quick)))
    words += f"; the web thread woke within 5 ms: {quick / count:.1%}"
    words += f"; the generator was late: p99 {late[len(late) * 99 // 100]:.1f} ms"
    report(f"{options.rate} calls a second for {options.seconds} s{what}, {options.active} downloads running at {speed:.0f} MiB/s",
           words, p99 < 20)


async def measure_sockets(service, options, report, swept):
    before = service.memory()
    command = [sys.executable, __file__, "--listen", str(service.port), "--sockets", str(options.sockets)]
    listener = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    await asyncio.to_thread(listener.stdout.readline)
    after = service.memory()
    await measure_rate(service, options, report, swept, f" beside {options.sockets} WebSockets that only listen")
    hearing, _ = await asyncio.to_thread(listener.communicate, "")
    report(f"{options.sockets} WebSockets that only listen", f"{(after - before) * 1024 / options.sockets:.0f} KiB each, "
           f"events received by {hearing.strip()}", int(hearing) == options.sockets)


async def measure_polls(service, options, report):
    # Limit the transfers: at full speed they would only delay the polls.
    caller = await Caller().open(service.port)
    await caller.call(request("aria2.changeGlobalOption", {"max-overall-download-limit": "20M"}))
    memories, took = await poll(service, options.polls)
    grown = memories[-1] - min(memories[:2])
    report(f"{options.polls} polls of four calls each, downloads going on at 20 MiB/s",
           f"MiB after each tenth: {', '.join(f'{m:.1f}' for m in memories)}; {took:.0f} s", grown < 8)


async def run(options, folder, report):
    origin = Origin(folder)
    service = Service(options.pawl, folder, options.active)
    phases = options.phases.split(",")
    try:
        took = await fill(service, origin, options.queue)
        report(f"{options.queue} downloads added in batches of 500", f"{took:.1f} s", True)
        # A process of its own: a thread would take turns with the calls.
        swept = multiprocessing.Value("q", 0)
        sweeper = multiprocessing.Process(target=keep_sweeping, args=(service.root, swept), daemon=True)
        sweeper.start()
        if "calls" in phases:
            await measure_rate(service, options, report, swept, "")
        if "sockets" in phases:
            await measure_sockets(service, options, report, swept)
        if "polls" in phases:
            await measure_polls(service, options, report)
        sweeper.kill()
        service.process.send_signal(signal.SIGTERM)
        report("stopped in good order", f"exit code {service.process.wait(30)}", service.process.returncode == 0)
    finally:
        service.process.kill()
        origin.process.terminate()
        origin.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pawl", default=".build/release/pawl")
    parser.add_argument("--queue", type=int, default=10_000)
    parser.add_argument("--active", type=int, default=64)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--sockets", type=int, default=1000)
    parser.add_argument("--polls", type=int, default=86_400)
    parser.add_argument("--phases", default="calls,sockets,polls")
    parser.add_argument("--listen", type=int, metavar="PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.listen:
        return listen(options.listen, options.sockets)
    failed = []

    def report(what, words, holds):
        print(f"| {what} | {words} | {'holds' if holds else 'falls short'} |", flush=True)
        if not holds:
            failed.append(what)

    print(f"{os.cpu_count()} cores, {platform.platform()}\n\n| load | measured | |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="pawl-load-") as folder:
        asyncio.run(run(options, pathlib.Path(folder), report))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
