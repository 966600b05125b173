#!/usr/bin/env python3
"""Runs `pawl get` and its peers in turn against nginx on loopback and prints a table for each case.

    bench.py --pawl BINARY [--rounds N] [--cases NAME,NAME] [--wan URL --wan-mbit N] [--markdown FILE]

Only the ratios inside one table count: programs of one case run interleaved, round by round, and a round in which the
bare loop was slow (a busy neighbour) is dropped for all of them. Every run writes new files on a memory disk.
"""
import argparse, os, platform, shutil, socket, statistics, subprocess, sys, tempfile, time

GIB = 1 << 30
MEASURE = ""


class Result:
    def __init__(self, wall, cpu, memory):
        self.wall, self.cpu, self.memory = wall, cpu, memory


def run(command, folder, limit=300):
    """Runs one command to its end; wall seconds, CPU seconds and peak memory of it, `None` when it failed."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    told = folder + ".cost"
    try:
        done = subprocess.run([MEASURE, told] + command, cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return None
    with open(told) as file:
        wall, user, system, peak = map(float, file.read().split())
    return Result(wall, user + system, peak / 1024)


class Server:
    """nginx with one worker: plain, TLS with HTTP/2, 20 MB/s a connection, and the same with two slow ones in ten."""

    def __init__(self, folder):
        self.folder = folder
        self.root = os.path.join(folder, "www")
        os.makedirs(self.root)
        self.plain, self.tls, self.capped, self.tail = (free_port() for _ in range(4))
        self.certificate()
        conf = os.path.join(folder, "nginx.conf")
        with open(conf, "w") as file:
            file.write(f"""
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; root {self.root}; keepalive_requests 1000000; client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fcgi; uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi; http2_max_concurrent_streams 128;
  map $connection $pace {{ default 20m; "~[27]$" 20k; }}
  server {{ listen 127.0.0.1:{self.plain} backlog=1024; }}
  server {{ listen 127.0.0.1:{self.tls} ssl http2 backlog=1024;
           ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem; }}
  server {{ listen 127.0.0.1:{self.capped}; limit_rate 20m; }}
  server {{ listen 127.0.0.1:{self.tail}; limit_rate $pace; }}
}}""")
        self.process = subprocess.Popen(["nginx", "-c", conf, "-e", f"{folder}/error.log"])
        for port in (self.plain, self.tls, self.capped, self.tail):
            wait_for(port)

    def certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-keyout", f"{self.folder}/key.pem", "-out", f"{self.folder}/cert.pem",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"],
                       check=True, stderr=subprocess.DEVNULL)

    def file(self, name, size):
        path = os.path.join(self.root, name)
        with open(path, "wb") as file:
            left = size
            while left > 0:
                piece = os.urandom(min(left, 1 << 24))
                file.write(piece)
                left -= len(piece)

    def many(self, folder, count, size):
        os.makedirs(os.path.join(self.root, folder))
        for number in range(count):
            self.file(f"{folder}/f{number}", size)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    sys.exit(f"nginx does not listen on {port}")


class Case:
    def __init__(self, name, title, commands, unit, amount, bare=None, notes=""):
        self.name, self.title, self.commands = name, title, commands
        self.unit, self.amount, self.bare, self.notes = unit, amount, bare, notes


def url(port, path, tls=False):
    return f"{'https' if tls else 'http'}://127.0.0.1:{port}/{path}"


def single(server, tools, tls):
    """One file, one connection."""
    address = url(server.tls if tls else server.plain, "big", tls)
    cert = f"{server.folder}/cert.pem"
    pawl = [tools["pawl"], "get", "-q", "-x1", address] + (["--cacert", cert] if tls else [])
    commands = {
        "pawl -x1": pawl,
        "curl": ["curl", "-s", "-o", "big", address] + (["--cacert", cert, "--http1.1"] if tls else []),
        "wget": ["wget", "-q", "-O", "big", address] + ([f"--ca-certificate={cert}"] if tls else []),
        "wget2": ["wget2", "-q", "-O", "big", address] + ([f"--ca-certificate={cert}", "--no-http2"] if tls else []),
        "aria2 -x1": aria(address, 1, cert if tls else None),
        "lftp": ["lftp", "-c", f"set ssl:ca-file {cert}; get {address} -o big"],
        "axel -n1": ["axel", "-q", "-n1", "-o", "big"] + (["--insecure"] if tls else []) + [address],
    }
    if not tls:
        commands["limit: recv + pwrite"] = [tools["limits"], "copy", "127.0.0.1", str(server.plain), "/big", "big"]
        commands["limit: splice"] = [tools["limits"], "splice", "127.0.0.1", str(server.plain), "/big", "big"]
    return commands


def aria(address, connections, cert=None, extra=()):
    command = ["aria2c", "-q", f"-x{connections}", f"-s{connections}", "-k1M", "--file-allocation=none", "-o", "big"]
    return command + ([f"--ca-certificate={cert}"] if cert else []) + list(extra) + [address]


def segmented(server, tools, tls, connections, port=None):
    address = url(port or (server.tls if tls else server.plain), "big", tls)
    cert = f"{server.folder}/cert.pem"
    return {
        f"pawl -x{connections}": [tools["pawl"], "get", "-q", f"-x{connections}", address]
        + (["--cacert", cert] if tls else []),
        f"aria2 -x{connections}": aria(address, connections, cert if tls else None),
        f"axel -n{connections}": ["axel", "-q", f"-n{connections}", "-o", "big"] + (["--insecure"] if tls else [])
        + [address],
        f"lftp pget -n{connections}": ["lftp", "-c", f"set ssl:ca-file {cert}; pget -n {connections} {address} -o big"],
        "curl": ["curl", "-s", "-o", "big", address] + (["--cacert", cert, "--http1.1"] if tls else []),
    }


def many(server, tools, tls, folder, count):
    port = server.tls if tls else server.plain
    cert = f"{server.folder}/cert.pem"
    listing = f"{server.folder}/{folder}-{'tls' if tls else 'plain'}.txt"
    config = f"{server.folder}/{folder}-{'tls' if tls else 'plain'}.curl"
    with open(listing, "w") as file, open(config, "w") as curl:
        for number in range(count):
            address = url(port, f"{folder}/f{number}", tls)
            file.write(address + "\n")
            curl.write(f'url = "{address}"\noutput = "f{number}"\n')
    trust = ["--cacert", cert] if tls else []
    return {
        "pawl -j16": [tools["pawl"], "get", "-q", "-j16", "-i", listing] + trust,
        "pawl -j64": [tools["pawl"], "get", "-q", "-j64", "-i", listing] + trust,
        "wget2 --max-threads=16": ["wget2", "-q", "--max-threads=16", "-i", listing]
        + ([f"--ca-certificate={cert}"] if tls else []),
        "curl -Z --parallel-max 16": ["curl", "-s", "-Z", "--parallel-max", "16", "-K", config] + trust,
        "aria2 -j16": ["aria2c", "-q", "-j16", "--file-allocation=none", "-i", listing]
        + ([f"--ca-certificate={cert}"] if tls else []),
    }


def cases(server, tools, args):
    big = GIB
    yield Case("plain", "One 1 GiB file, plain HTTP, one connection", single(server, tools, False), "GiB", 1, "limit: recv + pwrite")
    yield Case("tls", "One 1 GiB file, TLS, one connection", single(server, tools, True), "GiB", 1)
    for connections in (4, 16):
        for tls in (False, True):
            yield Case(f"{'tls' if tls else 'plain'}-x{connections}",
                       f"One 1 GiB file, {'TLS' if tls else 'plain HTTP'}, {connections} connections",
                       segmented(server, tools, tls, connections), "GiB", 1)
    capped = segmented(server, tools, False, 16, server.capped)
    capped["pawl auto"] = [tools["pawl"], "get", "-q", url(server.capped, "big")]
    capped["pawl -x8"] = [tools["pawl"], "get", "-q", "-x8", url(server.capped, "big")]
    capped.pop("curl")
    yield Case("capped", "One 1 GiB file, the server gives 20 MB/s a connection", capped, "GiB", 1)
    tail = {
        "pawl -x8, none slow": [tools["pawl"], "get", "-q", "-x8", url(server.capped, "half")],
        "pawl -x8, slow tail": [tools["pawl"], "get", "-q", "-x8", url(server.tail, "half")],
        "aria2 -x8, none slow": aria(url(server.capped, "half"), 8),
        "aria2 -x8, slow tail": aria(url(server.tail, "half"), 8),
    }
    yield Case("tail", "One 512 MiB file, 20 MB/s a connection, in the slow tail one or two of eight get 20 KB/s", tail, "GiB", 0.5)
    yield Case("small", "10,000 files of 4 KiB, plain HTTP", many(server, tools, False, "small", 10000), "file", 10000)
    yield Case("small-tls", "10,000 files of 4 KiB, TLS", many(server, tools, True, "small", 10000), "file", 10000)
    yield Case("medium", "1,000 files of 100 KiB, plain HTTP", many(server, tools, False, "medium", 1000), "file", 1000)
    yield Case("medium-tls", "1,000 files of 100 KiB, TLS", many(server, tools, True, "medium", 1000), "file", 1000)
    digest = subprocess.run(["sha256sum", f"{server.root}/big"], capture_output=True, text=True).stdout.split()[0]
    plain = url(server.plain, "big")
    yield Case("checksum", "One 1 GiB file, checksum on and off", {
        "pawl -x1": [tools["pawl"], "get", "-q", "-x1", plain],
        "pawl -x1 --checksum sha-256": [tools["pawl"], "get", "-q", "-x1", "--checksum", f"sha-256={digest}", plain],
        "openssl dgst -sha256": ["openssl", "dgst", "-sha256", f"{server.root}/big"],
    }, "GiB", 1)
    yield Case("start", "Start-up", {
        "pawl --version": [tools["pawl"], "--version"],
        "curl --version": ["curl", "--version"],
        "pawl, a 1-byte file": [tools["pawl"], "get", "-q", url(server.plain, "one")],
        "curl, a 1-byte file": ["curl", "-s", "-O", url(server.plain, "one")],
    }, "run", 1)
    if args.wan:
        yield Case("wan", f"100 MiB over a link of {args.wan_mbit} Mbit/s", {
            "pawl auto": [tools["pawl"], "get", "-q", args.wan],
            "pawl -x16": [tools["pawl"], "get", "-q", "-x16", args.wan],
            "aria2 -x16": aria(args.wan, 16),
            "curl": ["curl", "-s", "-O", args.wan],
        }, "GiB", 100 / 1024)


def measure(case, rounds, folder):
    results = {name: [] for name in case.commands}
    for command in case.commands.values():
        run(command, folder)
    for number in range(rounds):
        order = list(case.commands)
        order = order[number % len(order):] + order[:number % len(order)]
        for name in order:
            results[name].append(run(case.commands[name], folder))
        print(f"  round {number + 1}/{rounds}", file=sys.stderr, flush=True)
    return results


def keep(case, results):
    """Leaves out rounds in which the bare loop took more than half again as long as its median."""
    if not case.bare:
        return results, 0
    bare = results[case.bare]
    middle = statistics.median(r.wall for r in bare if r)
    good = [i for i, r in enumerate(bare) if r and r.wall <= 1.5 * middle]
    return {name: [runs[i] for i in good] for name, runs in results.items()}, len(bare) - len(good)


def table(case, results, dropped):
    lines = [f"### {case.title}", ""]
    per = {"GiB": "CPU s/GiB", "file": "CPU µs/file", "run": "CPU ms"}[case.unit]
    rate = {"GiB": "MiB/s", "file": "files/s", "run": "runs/s"}[case.unit]
    rows = []
    for name, runs in results.items():
        good = [r for r in runs if r]
        if not good:
            rows.append((name, None))
            continue
        wall = statistics.median(r.wall for r in good)
        cpu = statistics.median(r.cpu for r in good)
        rows.append((name, (wall, cpu, max(r.memory for r in good), min(r.wall for r in good), len(good))))
    peers = [r for n, r in rows if r and not n.startswith(("pawl", "limit", "openssl"))]
    best_wall = min((r[0] for r in peers), default=None)
    best_cpu = min((r[1] for r in peers), default=None)
    scale = {"GiB": 1, "file": 1e6, "run": 1e3}[case.unit]
    speed = {"GiB": 1024, "file": 1, "run": 1}[case.unit]
    lines.append(f"| program | wall s | best s | {rate} | {per} | memory MiB | wall ÷ best peer | CPU ÷ best peer |")
    lines.append("|---|---|---|---|---|---|---|---|")
    for name, row in rows:
        if not row:
            lines.append(f"| {name} | failed | | | | | | |")
            continue
        wall, cpu, memory, quick, count = row
        ratio_wall = f"{wall / best_wall:.2f}" if best_wall else ""
        ratio_cpu = f"{cpu / best_cpu:.2f}" if best_cpu else ""
        lines.append(f"| {name} | {wall:.3f} | {quick:.3f} | {case.amount * speed / wall:,.0f} "
                     f"| {cpu * scale / case.amount:.2f} | {memory:.0f} | {ratio_wall} | {ratio_cpu} |")
    if dropped:
        lines.append(f"\n{dropped} rounds left out: the bare loop was slow in them.")
    lines.append("\nCommands: " + "; ".join(f"`{short(c)}`" for c in case.commands.values()) + "\n")
    return "\n".join(lines)


def short(command):
    words = [os.path.basename(w) if w.startswith("/") else w for w in command]
    return " ".join(words)


def versions():
    def first(*command):
        try:
            return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0].strip()
        except (OSError, IndexError):
            return f"{command[0]}: not there"
    with open("/proc/cpuinfo") as file:
        model = next((l.split(":")[1].strip() for l in file if l.startswith("model name")), platform.machine())
    nginx = subprocess.run(["nginx", "-v"], capture_output=True, text=True).stderr.strip()
    return [f"{os.cpu_count()} × {model}, Linux {platform.release()}", nginx] + [
        first(t, "--version") for t in ("curl", "wget", "wget2", "aria2c", "axel", "lftp")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pawl", required=True)
    parser.add_argument("--tools", required=True, help="folder of the built limits and measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", default="")
    parser.add_argument("--memory", default="/dev/shm")
    parser.add_argument("--wan")
    parser.add_argument("--wan-mbit", type=float, default=0)
    parser.add_argument("--markdown")
    args = parser.parse_args()
    global MEASURE
    MEASURE = os.path.abspath(os.path.join(args.tools, "measure"))
    tools = {"pawl": os.path.abspath(args.pawl), "limits": os.path.abspath(os.path.join(args.tools, "limits"))}
    wanted = set(filter(None, args.cases.split(",")))
    folder = tempfile.mkdtemp(prefix="pawl-bench-", dir=args.memory)
    os.chmod(folder, 0o755)
    server = Server(folder)
    try:
        server.file("big", GIB)
        server.file("half", GIB // 2)
        server.file("one", 1)
        server.many("small", 10000, 4096)
        server.many("medium", 1000, 100 * 1024)
        text = ["; ".join(versions()), ""]
        for case in cases(server, tools, args):
            if wanted and case.name not in wanted:
                continue
            print(case.title, file=sys.stderr, flush=True)
            results, dropped = keep(case, measure(case, args.rounds, os.path.join(folder, "out")))
            text.append(table(case, results, dropped))
            print(text[-1], flush=True)
        if args.markdown:
            with open(args.markdown, "w") as file:
                file.write("\n".join(text) + "\n")
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
