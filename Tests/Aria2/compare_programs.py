#!/usr/bin/env python3
"""Runs programs that use aria2c, once with aria2c and once with pawl under that name, and compares what they do.

usage: compare_programs.py PAWL [--programs FOLDER] [-v] [--aria2c PATH]

FOLDER has yt-dlp and a Python with aria2p (Scripts/python-clients). apt-fast and hfd.sh are shell scripts whose calls
are written here as they write them; the configuration file is that of a widely used container image.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import compare_rpc
import origin
import waiting

# Differences with their reasons.
KNOWN = {
    "container: a page elsewhere": "a page in a browser may use a name only with --host-name",
}


class Place:
    """A folder, servers, and a search path on which `aria2c` is the program."""

    def __init__(self, program, programs):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="programs-"))
        self.programs = programs
        os.makedirs(self.root + "/bin")
        os.symlink(program, self.root + "/bin/aria2c")
        self.http = origin.HTTPOrigin()

    def close(self):
        self.http.shutdown()
        shutil.rmtree(self.root, ignore_errors=True)

    @property
    def environment(self):
        return {
            "PATH": f"{self.root}/bin:{self.programs}:{os.environ['PATH']}", "HOME": self.root, "LANG": "C.UTF-8",
            "NO_PROXY": "127.0.0.1",
        }

    def run(self, line, folder, seconds=90):
        os.makedirs(f"{self.root}/{folder}", exist_ok=True)
        done = subprocess.run(
            line, cwd=f"{self.root}/{folder}", env=self.environment, capture_output=True, timeout=seconds, text=True,
            stdin=subprocess.DEVNULL, shell=isinstance(line, str),
        )
        return done.returncode, done.stdout + done.stderr

    def files(self, folder):
        found = {}
        for path, _, names in os.walk(f"{self.root}/{folder}"):
            for name in names:
                with open(os.path.join(path, name), "rb") as file:
                    data = file.read()
                key = os.path.relpath(os.path.join(path, name), f"{self.root}/{folder}")
                found[key] = hashlib.sha256(data).hexdigest()[:12]
        return found

    def read(self, path):
        try:
            with open(f"{self.root}/{path}") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def write(self, path, text):
        os.makedirs(os.path.dirname(f"{self.root}/{path}"), exist_ok=True)
        with open(f"{self.root}/{path}", "w") as file:
            file.write(text)
        return f"{self.root}/{path}"


# yt-dlp


def yt_dlp(place):
    base = place.http.base
    line = ["yt-dlp", "--no-config", "--downloader", "aria2c", "--no-part", "-o"]
    code, output = place.run([*line, "a.%(ext)s", base + "/a.mp4"], "plain")
    yield "yt-dlp: a file", (code, place.files("plain"))
    yield "yt-dlp: its agent", "Mozilla" in place.http.seen[-1][2].get("User-Agent", "")
    extra = ["--downloader-args", "aria2c:-x 4 -k 1M", "--limit-rate", "4M", "--add-header", "X-Own: yes"]
    code, output = place.run([*line, "b.%(ext)s", *extra, base + "/needs=X-Own=yes/b.mp4"], "options")
    yield "yt-dlp: options and a header", (code, place.files("options"))
    code, output = place.run([*line, "c.%(ext)s", "-R", "1", base + "/cutalways/norange/c.mp4"], "cut")
    yield "yt-dlp: a broken server", code != 0
    part = ["yt-dlp", "--no-config", "--downloader", "aria2c", "-o", "d.%(ext)s", base + "/d.mp4"]
    os.makedirs(place.root + "/part")
    code, output = place.run(part, "part")
    yield "yt-dlp: with .part", (code, place.files("part"))
    code, output = place.run(part, "part")
    yield "yt-dlp: again", (code, "has already been downloaded" in output)
    jar = "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t2000000000\tsession\tabc\n"
    cookies = ["--cookies", place.write("jar.txt", jar)]
    code, output = place.run([*line, "e.%(ext)s", *cookies, base + "/needs=Cookie=session=abc/e.mp4"], "cookies")
    yield "yt-dlp: cookies", (code, place.files("cookies"))


# apt-fast, hfd.sh


def apt_fast(place):
    base = place.http.base
    sums = {name: hashlib.sha256(origin.cached(name)).hexdigest() for name in ("a.deb", "b.deb", "c.deb")}
    entries = "".join(
        f"{base}/404/{name}\t{base}/{name}\n  checksum=sha-256={digest}\n  out={name}\n" for name, digest in sums.items()
    )
    listing = place.write("apt-fast.list", entries)
    call = (
        "aria2c --no-conf -c -j 5 -x 10 -s 10 -i {} --min-split-size=1M --stream-piece-selector=default "
        "--connect-timeout=600 --timeout=600 -m0 --header 'Accept: */*'"
    )
    code, _ = place.run(call.format(listing), "archives/partial")
    yield "apt-fast: packages with a mirror that fails", (code, place.files("archives"))
    code, _ = place.run(call.format(listing), "archives/partial")
    yield "apt-fast: again", (code, place.files("archives"))
    with open(place.root + "/archives/partial/b.deb", "r+b") as file:
        file.write(b"damaged")
    wrong = place.write("wrong.list", f"{base}/d.deb\n  checksum=sha-256={'0' * 64}\n  out=d.deb\n")
    code, _ = place.run(call.format(wrong), "wrong")
    yield "apt-fast: a wrong checksum", code


def hfd(place):
    base = place.http.base
    call = (
        "aria2c --console-log-level=error --file-allocation=none -x 4 -j 5 -s 4 -k 1M -c "
        "-i .hfd/aria2c_urls.txt --save-session=.hfd/aria2c_urls.txt"
    )
    text = ""
    for number, name in enumerate(["config.json", "model/weights.bin", "big.bin"]):
        folder, _, file = name.rpartition("/")
        gid = hashlib.sha256(name.encode()).hexdigest()[:16]
        text += f"{base}/needs=Authorization=Bearer t/{file}\n gid={gid}\n dir={folder}\n out={file}\n"
        text += " header=Authorization: Bearer t\n\n"
    place.write("model/.hfd/aria2c_urls.txt", text)
    code, _ = place.run(call, "model")
    yield "hfd.sh: a repository", (code, place.files("model"))
    os.remove(place.root + "/model/big.bin")
    text = f"{base}/big.bin\n gid={'1' * 16}\n dir=\n out=big.bin\n\n{base}/404/gone.bin\n gid={'2' * 16}\n dir=\n out=g\n\n"
    place.write("model/.hfd/aria2c_urls.txt", text)
    code, _ = place.run(call, "model")
    left = open(place.root + "/model/.hfd/aria2c_urls.txt").read()
    found = place.files("model")
    del found[".hfd/aria2c_urls.txt"]
    yield "hfd.sh: one is missing", (code, found, left.replace(base, "HTTP").split("\n")[0])


# A container's configuration


CONTAINER = """
# A comment
dir={root}/downloads
disk-cache=64M
file-allocation=none
no-file-allocation-limit=64M
continue=true
always-resume=false
max-resume-failure-tries=0
remote-time=true
input-file={root}/config/aria2.session
save-session={root}/config/aria2.session
save-session-interval=1
auto-save-interval=20
force-save=false
max-file-not-found=10
max-tries=0
retry-wait=10
connect-timeout=10
timeout=10
max-concurrent-downloads=5
max-connection-per-server=16
split=64
min-split-size=4M
piece-length=1M
allow-piece-length-change=true
lowest-speed-limit=0
max-overall-download-limit=0
max-download-limit=0
disable-ipv6=true
http-accept-gzip=true
reuse-uri=false
no-netrc=true
allow-overwrite=false
auto-file-renaming=true
content-disposition-default-utf8=true
listen-port=51413
dht-listen-port=51413
enable-dht=false
enable-dht6=false
dht-file-path={root}/config/dht.dat
dht-entry-point=dht.transmissionbt.com:6881
bt-enable-lpd=false
enable-peer-exchange=false
bt-max-peers=128
bt-request-peer-speed-limit=10M
max-overall-upload-limit=2M
max-upload-limit=0
seed-ratio=1.0
seed-time=0
bt-hash-check-seed=true
bt-seed-unverified=false
bt-tracker-connect-timeout=10
bt-tracker-timeout=10
bt-prioritize-piece=head=32M,tail=32M
rpc-save-upload-metadata=true
follow-torrent=true
pause-metadata=false
bt-save-metadata=true
bt-load-saved-metadata=true
bt-remove-unselected-file=true
bt-force-encryption=true
bt-detach-seed-only=true
user-agent=Transmission/3.00
peer-agent=Transmission 3.00
peer-id-prefix=-TR3000-
on-download-stop={root}/config/stop.sh
on-download-complete={root}/config/complete.sh
enable-rpc=true
rpc-allow-origin-all=true
rpc-listen-all=true
event-poll={poll}
rpc-listen-port={port}
rpc-secret=P3TERX
rpc-max-request-size=10M
console-log-level=notice
log-level=warn
quiet=false
summary-interval=0
show-console-readout=false
bt-tracker=
"""


class Daemon:
    """aria2c with the container's configuration."""

    def __init__(self, place):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        root = place.root
        os.makedirs(root + "/downloads", exist_ok=True)
        session = root + "/config/aria2.session"
        if not os.path.exists(session):
            place.write("config/aria2.session", "")
        for name in ("stop", "complete"):
            place.write(f"config/{name}.sh", f'#!/bin/sh\necho "$2 $3" | sed "s#{root}##" >> {root}/config/{name}.txt\n')
            os.chmod(f"{root}/config/{name}.sh", 0o755)
        conf = place.write("config/aria2.conf", CONTAINER.format(root=root, poll="epoll", port=self.port))
        command = [root + "/bin/aria2c", "--conf-path=" + conf]
        self.process, starts = compare_rpc.start(command, root, place.environment)
        self.client = compare_rpc.Client(self.port, "P3TERX")
        self.starts = starts and "result" in self.client.call("aria2.getVersion")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "it does not end"


def container(place):
    base = place.http.base
    daemon = Daemon(place)
    try:
        yield "container: starts", daemon.starts
        client = daemon.client
        options = client.result("aria2.getGlobalOption") or {}
        names = ["split", "max-connection-per-server", "min-split-size", "max-tries", "retry-wait", "user-agent",
                 "max-concurrent-downloads", "remote-time", "continue", "disk-cache", "seed-ratio", "bt-max-peers"]
        yield "container: options", {name: options.get(name) for name in names}
        for host in ("aria2:6800", "nas.local", "192.168.1.10:6800"):
            yield f"container: Host {host}", "result" in client.call("aria2.getVersion", host=host)
        page = {"host": "aria2:6800", "origin_field": "http://ariang.example"}
        yield "container: a page elsewhere", "result" in client.call("aria2.getVersion", **page)
        yield "container: no secret", client.call("aria2.getVersion", secret=False)["error"]["message"]
        gid = client.result("aria2.addUri", [base + "/a.bin"])
        yield "container: a download", client.wait(gid, ["complete", "error"])
        waiting.until_changed(place.root + "/config", lambda: place.read("config/complete.txt").endswith("\n"))
        yield "container: its hook", place.read("config/complete.txt")
        other = "00000000000000b1"
        heard = compare_rpc.messages_heard(
            daemon.port, other, lambda: client.call("aria2.addUri", [base + "/b.bin"], {"gid": other}), 2
        )
        yield "container: a WebSocket that only listens", heard
        slow = client.result("aria2.addUri", [base + "/slow50000/mid.bin"])
        yield "container: runs", client.wait(slow, ["active"])
        waiting.until_changed(place.root + "/config", lambda: slow in place.read("config/aria2.session"))
        yield "container: stops", daemon.stop()
    finally:
        daemon.stop()
    daemon = Daemon(place)
    try:
        yield "container: starts again", daemon.starts
        yield "container: knows what was unfinished", daemon.client.wait(slow, ["active"])
        yield "container: and nothing else", [
            len(daemon.client.result("aria2.tellStopped", 0, 10)), len(daemon.client.result("aria2.tellWaiting", 0, 10)),
        ]
    finally:
        daemon.stop()


# aria2p


ARIA2P = """
import sys, json, aria2p, websocket
port, base = int(sys.argv[1]), sys.argv[2]
api = aria2p.API(aria2p.Client(host="http://127.0.0.1", port=port, secret="P3TERX"))
events = websocket.create_connection(f"ws://127.0.0.1:{port}/jsonrpc", timeout=20, suppress_origin=True)
found = {}
def until(download, words):
    download.update()
    while download.status not in words:
        events.recv()
        download.update()
    return download.status
one = api.add_uris([base + "/a.bin"], options={"out": "one.bin"})
found["complete"] = until(one, ["complete", "error"])
found["figures"] = [one.name, one.total_length, one.completed_length, one.progress_string(), one.is_complete, one.error_code]
found["files"] = [[f.path.name, f.length, f.completed_length, f.selected] for f in one.files]
slow = api.add_uris([base + "/slow100000/mid.bin"], options={"max-download-limit": "100K"})
found["active"] = until(slow, ["active"])
found["limit"] = slow.options.max_download_limit
found["pause"] = bool(api.pause([slow])[0])
found["paused"] = until(slow, ["paused"])
found["resume"] = bool(api.resume([slow])[0])
found["active again"] = until(slow, ["active"])
more = api.add_uris([base + "/b.bin"], options={"pause": "true"})
found["waiting"] = until(more, ["paused"])
found["top"] = api.move_to_top(more)
found["bad"] = until(api.add_uris([base + "/404/c.bin"]), ["error", "complete"])
found["all"] = sorted(d.status for d in api.get_downloads())
found["remove"] = [r is True for r in api.remove([slow, more])]
found["autopurge"] = bool(api.autopurge())
found["left"] = len(api.get_downloads())
stats = api.get_stats()
found["stats"] = [stats.num_active, stats.num_waiting]
found["global"] = api.get_global_options().max_concurrent_downloads
found["set"] = api.set_global_options({"max-concurrent-downloads": "2"})
found["changed"] = api.get_global_options().max_concurrent_downloads
print(json.dumps(found))
"""


def aria2p(place):
    daemon = Daemon(place)
    try:
        script = place.write("clients/aria2p_calls.py", ARIA2P)
        code, output = place.run([f"{place.programs}/python", script, str(daemon.port), place.http.base], "clients")
        yield "aria2p: ends", code
        try:
            found = json.loads(output.strip().split("\n")[-1])
        except ValueError:
            found = {"broken": output[-2000:]}
        for key, value in found.items():
            yield f"aria2p: {key}", value
    finally:
        daemon.stop()


def all_of(program, programs):
    results = {}
    for scenario in (apt_fast, hfd, container, yt_dlp, aria2p):
        place = Place(program, programs)
        try:
            for name, value in scenario(place):
                results[name] = re.sub(r"[0-9a-f]{16}", "GID", repr(value).replace(place.root, "ROOT"))
        except Exception as error:  # The rest of the scenario needs what failed.
            results[scenario.__name__ + " is broken"] = repr(error)
        finally:
            place.close()
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pawl")
    parser.add_argument("--programs", default=".build/clients/bin")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--aria2c", default=shutil.which("aria2c"))
    options = parser.parse_args()
    programs = os.path.abspath(options.programs)
    theirs = all_of(options.aria2c, programs)
    ours = all_of(os.path.abspath(options.pawl), programs)
    wrong = compare_rpc.report("results of programs", theirs, ours, KNOWN, options.v)
    return 1 if wrong or any(name.endswith(" broken") for name in theirs) else 0


if __name__ == "__main__":
    sys.exit(main())
