#!/usr/bin/env python3
"""What verifying, repairing and zsync cost, against nginx on loopback.

    integrity.py --pawl BINARY --tools FOLDER [--cases verify,repair,zsync] [--rounds N] [--disk FOLDER] [--memory FOLDER]
                 [--markdown FILE]

Files are on a memory disk, those of repair (three times 4 GiB) in the folder of --disk.

verify: `pawl get` with --verify off and auto, without and with a digest that nginx states, and `pawl verify` beside
sha256sum. repair: one bad MiB in 4 GiB, by the pieces of a Metalink. zsync: two versions of a Debian package's content,
beside Debian's zsync. Programs of a case run in turn, and medians count; bytes fetched are those of nginx's log.
"""
import argparse, base64, hashlib, os, re, shutil, signal, statistics, subprocess, sys, tempfile
sys.dont_write_bytecode = True  # write no bytecode into the source folder
from measuring import Failed, Runner
from origin import free_port
import report
import waiting

GIB, MIB = 1 << 30, 1 << 20
LIMIT = 600
PACKAGES = ("git", "libc6", "perl-base")


class Origin:
    """nginx: `root`, and one folder of it whose responses state digests."""

    def __init__(self, folder):
        self.folder, self.root = folder, os.path.join(folder, "www")
        os.makedirs(self.root)
        self.port, self.process = free_port(), None

    def start(self, fields=()):
        """`fields` are (path, name, value) of response fields."""
        self.stop()
        places = "".join(f'location = {path} {{ add_header {name} "{value}"; }}\n' for path, name, value in fields)
        with open(f"{self.folder}/nginx.conf", "w") as file:
            file.write(
                f"worker_processes 1; daemon off; pid {self.folder}/nginx.pid; error_log {self.folder}/error.log;\n"
                f"events {{ worker_connections 1024; }}\nhttp {{ sendfile on; root {self.root}; log_format sent \"$body_bytes_sent $uri\";\n"
                f"access_log {self.folder}/sent.log sent; client_body_temp_path {self.folder}/body;\n"
                f"proxy_temp_path {self.folder}/proxy; fastcgi_temp_path {self.folder}/fcgi; uwsgi_temp_path {self.folder}/uwsgi;\n"
                f"scgi_temp_path {self.folder}/scgi; server {{ listen 127.0.0.1:{self.port}; {places} }} }}\n")
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "nginx", "-c", f"{self.folder}/nginx.conf",
                                         "-e", f"{self.folder}/error.log"])
        if not waiting.until_changed(self.folder, lambda: os.path.exists(f"{self.folder}/nginx.pid")):
            raise Failed("nginx does not start")

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def sent(self, path):
        """The bytes of bodies sent of a path so far."""
        with open(f"{self.folder}/sent.log") as file:
            return sum(int(count) for count, uri in map(str.split, file) if uri == path)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


def write(path, size):
    """Writes random bytes, and returns their SHA-256 and those of each MiB."""
    whole, pieces = hashlib.sha256(), []
    with open(path, "wb") as file:
        for _ in range(size // MIB):
            block = os.urandom(MIB)
            file.write(block)
            whole.update(block)
            pieces.append(hashlib.sha256(block).hexdigest())
    return whole, pieces


def medians(runner, commands, rounds, size=0):
    """The median wall and CPU seconds of each command."""
    costs = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            cost = runner.run(command, size, LIMIT)
            if number > 0:
                costs[name].append(cost)
    return {name: (statistics.median(c.wall for c in found), statistics.median(c.cpu for c in found), max(c.memory for c in found))
            for name, found in costs.items()}


def table(title, rows):
    lines = [f"### {title}", "", "| program | wall s | CPU s | memory MiB |", "|---|---|---|---|"]
    return "\n".join(lines + [f"| {n} | {wall:.2f} | {cpu:.2f} | {memory:.0f} |" for n, (wall, cpu, memory) in rows.items()]) + "\n"


def verdict(text, value, most):
    return f"- {report.mark(value <= most)} {text}: {value:.3f} (target ≤ {most:g})\n"


def verify(origin, runner, args):
    digest, _ = write(f"{origin.root}/big", GIB)
    os.link(f"{origin.root}/big", f"{origin.root}/sha")
    os.link(f"{origin.root}/big", f"{origin.root}/crc")
    # `pawl verify` says the CRC32C that it found.
    said = subprocess.run([args.pawl, "verify", f"{origin.root}/big", "--checksum", "crc32c=00000000"], capture_output=True, text=True)
    crc = base64.b64encode(bytes.fromhex(re.search(r"got ([0-9a-f]{8})", said.stdout + said.stderr).group(1))).decode()
    origin.start([("/sha", "Repr-Digest", f"sha-256=:{base64.b64encode(digest.digest()).decode()}:"),
                  ("/crc", "x-goog-hash", f"crc32c={crc}")])
    get = lambda name, *options: [args.pawl, "get", "-q", *options, origin.url(name)]
    rows = medians(runner, {
        "-x1, nothing stated, --verify off": get("big", "-x1", "--verify", "off"),
        "-x1, nothing stated, --verify auto": get("big", "-x1"),
        "-x1, SHA-256 stated, --verify auto": get("sha", "-x1"),
        "-x8, CRC32C stated, --verify off": get("crc", "-x8", "--verify", "off"),
        "-x8, CRC32C stated, --verify auto": get("crc", "-x8"),
        "sha256sum": ["sha256sum", f"{origin.root}/big"],
    }, args.rounds)
    text = table("--verify auto, 1 GiB", rows)
    for title, start in (("nothing stated", "-x1, nothing stated"), ("CRC32C over 8 connections", "-x8, CRC32C stated")):
        auto, off = rows[f"{start}, --verify auto"], rows[f"{start}, --verify off"]
        text += verdict(f"{title}: wall, auto ÷ off (CPU {auto[1] / off[1]:.2f})", auto[0] / off[0], 1.02)
    more = rows["-x1, SHA-256 stated, --verify auto"][0] - rows["-x1, nothing stated, --verify off"][0]
    text += f"- SHA-256 stated: {more:.2f} s more, sha256sum alone {rows['sha256sum'][0]:.2f} s\n"
    files = [f"{origin.root}/big"]
    for number in range(3):
        path = f"{origin.root}/more{number}"
        write(path, GIB)
        files.append(path)
    sums = f"{origin.root}/SHA256SUMS"
    with open(sums, "w") as out:
        subprocess.run(["sha256sum", *map(os.path.basename, files)], cwd=origin.root, stdout=out, check=True)
    alone = ["taskset", "-c", "0"]
    rows = medians(runner, {
        "pawl verify, 4 files, one core": alone + [args.pawl, "verify", "--sums", sums, *files],
        "sha256sum, 4 files, one core": alone + ["sha256sum", *files],
        "pawl verify, 4 files": [args.pawl, "verify", "--sums", sums, *files],
        "sha256sum, 4 files": ["sha256sum", *files],
    }, args.rounds)
    text += "\n" + table("pawl verify, 4 × 1 GiB", rows)
    text += verdict("one core: CPU ÷ sha256sum's",
                    rows["pawl verify, 4 files, one core"][1] / rows["sha256sum, 4 files, one core"][1], 1.05)
    return text + verdict("all cores: wall ÷ sha256sum's", rows["pawl verify, 4 files"][0] / rows["sha256sum, 4 files"][0], 0.6)


def repair(origin, runner, args):
    size = args.repair << 30
    path = f"{origin.folder}/image"
    whole, pieces = write(f"{origin.root}/image", size)
    shutil.copyfile(f"{origin.root}/image", path)
    with open(f"{origin.folder}/image.meta4", "w") as file:
        file.write('<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="image">'
                   f"<size>{size}</size><hash type=\"sha-256\">{whole.hexdigest()}</hash><pieces length=\"{MIB}\" type=\"sha-256\">"
                   + "".join(f"<hash>{piece}</hash>" for piece in pieces)
                   + f"</pieces><url>{origin.url('image')}</url></file></metalink>")
    origin.start()
    walls, fetched = [], []
    for number in range(args.rounds):
        with open(path, "r+b") as file:
            file.seek((number * 7919 + 13) * MIB % size)
            file.write(bytes(MIB))
        before = origin.sent("/image")
        walls.append(runner.run([args.pawl, "repair", path, "--metalink", f"{origin.folder}/image.meta4"], 0, LIMIT).wall)
        fetched.append(origin.sent("/image") - before)
        subprocess.run(["cmp", path, f"{origin.root}/image"], check=True)
    text = f"### Repair of one bad MiB in {args.repair} GiB\n\n- {statistics.median(walls):.2f} s (median of {args.rounds})\n"
    return text + verdict("MiB fetched, the most of all rounds", max(fetched) / MIB, 2)


def contents(package, folder):
    """The uncompressed content of the newest and the oldest version in Debian's archive; `None` unless there are two."""
    listed = subprocess.run(["apt-cache", "madison", package], capture_output=True, text=True).stdout.splitlines()
    versions = list(dict.fromkeys(line.split("|")[1].strip() for line in listed))
    if len(versions) < 2:
        return None
    paths = []
    for word, version in (("new", versions[0]), ("old", versions[-1])):
        place = tempfile.mkdtemp(dir=folder)
        if subprocess.run(["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", f"{package}={version}"], cwd=place).returncode != 0:
            return None
        paths.append(f"{folder}/{package}-{word}.tar")
        with open(paths[-1], "wb") as out:
            subprocess.run(["dpkg-deb", "--fsys-tarfile", os.path.join(place, os.listdir(place)[0])], stdout=out, check=True)
    return versions[0], versions[-1], *paths


def zsync(origin, runner, args):
    text = "### zsync\n\n| package | size MiB | zsync KiB | pawl KiB | pawl ÷ zsync | |\n|---|---|---|---|---|---|\n"
    origin.start()
    for package in PACKAGES:
        found = contents(package, origin.folder)
        if not found:
            text += f"| {package} | there are no two versions of it in the archive | | | | |\n"
            continue
        new, old, target, seed = found
        name = os.path.basename(target)
        shutil.copyfile(target, f"{origin.root}/{name}")
        subprocess.run(["zsyncmake", "-o", f"{name}.zsync", "-u", origin.url(name), name], cwd=origin.root, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        counts = []
        for command in (["zsync", "-q", "-i", seed, "-o", "made", origin.url(f"{name}.zsync")],
                        [args.pawl, "get", "-q", "--zsync", origin.url(f"{name}.zsync"), "--seed", seed, "-o", "made"]):
            before = origin.sent(f"/{name}")
            runner.run(command, os.path.getsize(target), LIMIT)
            subprocess.run(["cmp", f"{runner.folder}/made", target], check=True)
            counts.append(origin.sent(f"/{name}") - before)
        share = counts[1] / max(counts[0], 1)
        text += (f"| {package} {old} → {new} | {os.path.getsize(target) / MIB:.1f} | {counts[0] / 1024:,.0f} | {counts[1] / 1024:,.0f} "
                 f"| {share:.3f} | {report.mark(share <= 1)} |\n")
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pawl", required=True)
    parser.add_argument("--tools", required=True, help="folder of the built measure")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", default="verify,repair,zsync")
    parser.add_argument("--repair", type=int, default=4, help="GiB of the file to repair")
    parser.add_argument("--disk", default="/var/tmp")
    parser.add_argument("--memory", default="/dev/shm")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    args.pawl = os.path.abspath(args.pawl)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    text = [report.machine(args.pawl, None) + "\n"]
    for case in args.cases.split(","):
        folder = tempfile.mkdtemp(prefix="pawl-bench-", dir=args.disk if case == "repair" else args.memory)
        os.chmod(folder, 0o755)
        origin = Origin(folder)
        try:
            runner = Runner(os.path.abspath(f"{args.tools}/measure"), f"{folder}/out")
            text.append({"verify": verify, "repair": repair, "zsync": zsync}[case](origin, runner, args))
        except Failed as failure:
            text.append(f"### {case}\n\nfailed: {failure}\n")
        finally:
            origin.stop()
            shutil.rmtree(folder, ignore_errors=True)
        print(text[-1], flush=True)
    report.save(args.markdown, "\n".join(text))


if __name__ == "__main__":
    main()
