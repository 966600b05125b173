#!/usr/bin/env python3
"""Compares `pawl get` of whole collections with the programs that are made for each kind.

    collection.py --pawl BINARY --tools FOLDER [--cases tree,hub,image,stream] [--rounds N] [--files N] [--hub-mib N] [--layer-mib N]
                  [--segments N] [--hf FOLDER] [--hf-transfer FOLDER] [--yt-dlp FOLDER] [--memory FOLDER] [--markdown FILE]

tree: files of 1 to 100 KiB in 200 folders, an index of nginx over TLS behind a link of 40 ms and 200 Mbit/s (needs root), beside wget,
wget2, lftp and rclone; each program runs once more in the folder that it has filled. hub: 20 files from nginx with the API of a model hub, beside
`hf download` and hf_transfer: --hf and --hf-transfer are folders of Python environments that have huggingface_hub, the second one a
version below 1 with hf_transfer. image: six layers from Debian's docker-registry, beside skopeo and podman. stream: an HLS playlist of
segments of one second and about 300 KB over the link of `tree`, with HTTP/2 and with HTTP/1.1 only, beside ffmpeg (which verifies no
certificate) and yt-dlp (over HTTP/1.1; --yt-dlp is the folder of a Python environment that has it) with one fragment at a time, with
16 and with as many as pawl has connections by the server's log; each result must have all packets of the segments.
Programs run in turn, in another order in each round; the best round counts, the median is in brackets.
"""
import argparse, hashlib, io, json, os, random, re, shutil, signal, statistics, subprocess, sys, tarfile, tempfile
sys.dont_write_bytecode = True  # write no bytecode into the source folder
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Scripts"))
import report
import waiting
from cases import AtMost
from measuring import Failed, Runner
from origin import Far, Origin, common, free_port

LIMIT = 1800
COMMIT = "c" * 40


class Keeper(Runner):
    """Runs a command, and once more in the folder that it has filled."""

    keeps = False

    def start(self, command):
        if not self.keeps:
            return super().start(command)
        with open(self.errors, "wb") as errors:
            return subprocess.Popen([self.measure, self.cost_file] + command, cwd=self.folder, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)

    def again(self, command, size):
        self.keeps = True
        try:
            return self.complete(command, size, LIMIT)
        finally:
            self.keeps = False


class Case:
    """Programs that bring `size` bytes, or about as many: then `check` raises Failed if a folder has not the whole content."""

    def __init__(self, title, commands, size, repeats=False, check=None, targets=()):
        self.title, self.commands, self.size, self.repeats = title, commands, size, repeats
        self.check, self.targets = check, targets


def measured(case, rounds, runner):
    """The costs of each program, of the second runs too, and why programs failed."""
    costs, again, failures = {}, {}, {}
    for number in range(rounds):
        names = list(case.commands)
        random.Random(number).shuffle(names)
        for name in names:
            if name in failures:
                continue
            command = case.commands[name]
            try:
                runner.warm(case.size)
                cost = runner.complete(command, 0 if case.check else case.size, LIMIT)
                if case.check:
                    case.check(runner.folder)
                costs.setdefault(name, []).append(cost)
                if case.repeats:
                    again.setdefault(name, []).append(runner.again(command, case.size))
            except (Failed, OSError) as error:
                failures[name] = str(error)
            print(f"  {name}: {failures.get(name) or f'{costs[name][-1].wall:.2f} s'}", file=sys.stderr, flush=True)
    return costs, again, failures


def table(case, costs, again, failures):
    def best(part, field):
        return min((min(getattr(cost, field) for cost in c) for name, c in part.items() if name != "pawl" and name not in failures),
                   default=None)

    def cell(part, name, field):
        if name not in part:
            return ""
        values = [getattr(cost, field) for cost in part[name]]
        peer = best(part, field)
        ratio = f" = {min(values) / peer:.2f} of the best" if name == "pawl" and peer else ""
        return f"{min(values):.2f} ({statistics.median(values):.2f}){ratio}"

    head = ["program", "wall s", "CPU s", "memory MiB"] + (["again: wall s"] if case.repeats else []) + ["command"]
    rows = [f"### {case.title}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, command in case.commands.items():
        words = [word for word in command if word != "env" and not re.match("[A-Z_]+=", word)]
        text = f"`{' '.join(os.path.basename(word) if os.path.isabs(word) else word for word in words)[:160]}`"
        if name in failures:
            cells = [f"failed: {failures[name]}"] + [""] * (len(head) - 3)
        else:
            cells = [cell(costs, name, "wall"), cell(costs, name, "cpu"), f"{max(c.memory for c in costs[name]):.0f}"]
            cells += [cell(again, name, "wall")] if case.repeats else []
        rows.append("| " + " | ".join([name] + cells + [text]) + " |")
    judged = {name: report.Row(c, False) for name, c in costs.items() if name not in failures}
    rows += [""] + report.judgements([target.judge(judged, None) for target in case.targets]) if case.targets else []
    return "\n".join(rows) + "\n"


def have(commands):
    """Those whose program is there."""
    return {name: command for name, command in commands.items() if shutil.which(command[0])}


# MARK: cases

def tree(args, folder, runner):
    origin = Origin(folder)
    dice, total = random.Random(1), 0
    for number in range(args.files):
        at = f"{origin.root}/tree/d{number % 200:03}"
        os.makedirs(at, exist_ok=True)
        size = dice.randrange(1 << 10, 100 << 10)
        with open(f"{at}/f{number:05}.bin", "wb") as file:
            file.write(dice.randbytes(size))
        total += size
    far = None
    try:
        far = Far(origin, os.path.abspath(f"{args.tools}/link"), 40, 200, 0)
        url, ca = f"https://{Far.HOST}/tree/", origin.cert
        wget = ["-q", "-r", "-np", "-nH", "--cut-dirs=1", "-e", "robots=off", f"--ca-certificate={ca}", "-N"]
        lftp = f"set ssl:ca-file {ca}; set cmd:fail-exit yes; mirror --parallel="
        rclone = ["rclone", "copy", "--quiet", "--http-url", url, "--ca-cert", ca, ":http:", "."]
        commands = have({
            "pawl": [os.path.abspath(args.pawl), "get", "-q", "--recursive", "--cacert", ca, "-d", ".", url],
            "wget": ["wget", *wget, url], "wget2": ["wget2", *wget, url],
            "wget2 x16": ["wget2", *wget, "--max-threads=16", url],
            "lftp x16": ["lftp", "-c", f"{lftp}16 {url} ."],
            "rclone": rclone, "rclone x32": rclone + ["--transfers=32", "--checkers=32"],
        })
        case = Case(f"{args.files} files of 1 to 100 KiB in 200 folders over 40 ms, 200 Mbit/s, TLS", commands, total, repeats=True)
        return table(case, *measured(case, args.rounds, runner))
    finally:
        if far:
            far.stop()
        origin.stop()


def hub(args, folder, runner):
    os.makedirs(f"{folder}/hub/files")
    rows, tags, size = [], [], args.hub_mib << 20
    for number in range(20):
        content = os.urandom(size)
        sha = hashlib.sha256(content).hexdigest()
        with open(f"{folder}/hub/files/f{number}.bin", "wb") as file:
            file.write(content)
        rows.append({"type": "file", "path": f"f{number}.bin", "size": size, "oid": f"{number:040}",
                     "lfs": {"oid": sha, "size": size, "pointerSize": 134}})
        tags.append(f'"/org/model/resolve/{COMMIT}/f{number}.bin" {sha};')
    siblings = [{"rfilename": row["path"]} for row in rows]
    info = {"id": "org/model", "modelId": "org/model", "sha": COMMIT, "private": False, "siblings": siblings}
    for name, value in (("info", info), ("tree", rows)):
        with open(f"{folder}/hub/{name}.json", "w") as file:
            json.dump(value, file)
    port = free_port()
    with open(f"{folder}/hub.conf", "w") as file:
        file.write(f"""{common(folder + "/hub", folder)}
  map_hash_bucket_size 256;
  map $uri $tag {{ {" ".join(tags)} }}
  server {{
    listen 127.0.0.1:{port} backlog=1024; default_type application/json;
    location /api/models/org/model/tree/ {{ try_files /tree.json =404; }}
    location /api/models/org/model {{ try_files /info.json =404; }}
    location /org/model/resolve/{COMMIT}/ {{
      alias {folder}/hub/files/; default_type application/octet-stream; etag off;
      add_header ETag '"$tag"'; add_header X-Linked-ETag '"$tag"'; add_header X-Linked-Size {size}; add_header X-Repo-Commit {COMMIT};
    }}
  }}
}}""")
    nginx = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "nginx", "-c", f"{folder}/hub.conf", "-e", f"{folder}/hub-error.log"])
    try:
        if not waiting.until_changed(folder, lambda: os.path.exists(f"{folder}/nginx.pid")):
            sys.exit("nginx does not start")
        env = ["env", f"HF_ENDPOINT=http://127.0.0.1:{port}", f"HF_HOME={folder}/hf", "HF_HUB_DISABLE_XET=1", "HF_HUB_DISABLE_PROGRESS_BARS=1"]
        commands = {"pawl": env + [os.path.abspath(args.pawl), "get", "-q", "hf://org/model", "-d", "."]}
        if args.hf:
            hf = os.path.abspath(f"{args.hf}/bin/hf")
            commands["hf"] = env + [hf, "download", "org/model", "--local-dir", "."]
            commands["hf x16"] = commands["hf"] + ["--max-workers", "16"]
        if args.hf_transfer:
            python = os.path.abspath(f"{args.hf_transfer}/bin/python")
            script = 'from huggingface_hub import snapshot_download as s; s("org/model", local_dir=".")'
            commands["hf_transfer"] = env + ["HF_HUB_ENABLE_HF_TRANSFER=1", python, "-c", script]
        case = Case(f"a repository of 20 files of {args.hub_mib} MiB, plain HTTP on loopback", commands, 20 * size)
        return table(case, *measured(case, args.rounds, runner))
    finally:
        nginx.terminate()
        nginx.wait()


def layout(folder, layers, size):
    """An image of so many layers, each with one file of random bytes."""
    os.makedirs(f"{folder}/blobs/sha256")

    def put(content, kind):
        digest = hashlib.sha256(content).hexdigest()
        with open(f"{folder}/blobs/sha256/{digest}", "wb") as file:
            file.write(content)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": "sha256:" + digest, "size": len(content)}

    rows = []
    for number in range(layers):
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            member = tarfile.TarInfo(f"f{number}")
            member.size = size
            archive.addfile(member, io.BytesIO(os.urandom(size)))
        rows.append(put(content.getvalue(), "layer.v1.tar"))
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [row["digest"] for row in rows]}}
    manifest = put(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                               "config": put(json.dumps(config).encode(), "config.v1+json"), "layers": rows}).encode(), "manifest.v1+json")
    manifest["annotations"] = {"org.opencontainers.image.ref.name": "1"}
    for name, value in (("oci-layout", {"imageLayoutVersion": "1.0.0"}), ("index.json", {"schemaVersion": 2, "manifests": [manifest]})):
        with open(f"{folder}/{name}", "w") as file:
            json.dump(value, file)
    # Without the padding of the archives, which is compressed on the way into the registry.
    return layers * size


def image(args, folder, runner):
    total = layout(f"{folder}/source", 6, args.layer_mib << 20)
    name = f"127.0.0.1:{free_port()}"
    with open(f"{folder}/registry.yml", "w") as file:
        file.write(f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {folder}/data}}}}\nhttp: {{addr: '{name}'}}\n")
    with open(f"{folder}/registry.log", "wb") as log:
        registry = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "docker-registry", "serve", f"{folder}/registry.yml"],
                                    stdout=log, stderr=log)
    try:
        push = ["skopeo", "copy", "--quiet", "--retry-times", "10", "--dest-tls-verify=false", f"oci:{folder}/source:1", f"docker://{name}/a/b:1"]
        subprocess.run(push, check=True)
        where = f"docker://{name}/a/b:1"
        podman = ["podman", "--root", f"{folder}/out/root", "--runroot", f"{folder}/out/run", "--storage-driver", "vfs"]
        commands = have({
            "pawl": [os.path.abspath(args.pawl), "get", "-q", where, "-d", "out", "--platform", "linux/amd64"],
            "pawl -o tar": [os.path.abspath(args.pawl), "get", "-q", where, "-o", "out.tar", "--platform", "linux/amd64"],
            "skopeo": ["skopeo", "copy", "--quiet", "--src-tls-verify=false", where, "oci:out:1"],
            "skopeo tar": ["skopeo", "copy", "--quiet", "--src-tls-verify=false", where, "oci-archive:out.tar:1"],
            "podman": podman + ["pull", "--quiet", "--tls-verify=false", f"{name}/a/b:1"],
        })
        case = Case(f"an image of six layers of {args.layer_mib} MiB, docker-registry on loopback", commands, total)
        return table(case, *measured(case, args.rounds, runner))
    finally:
        registry.terminate()
        registry.wait()


def packets(path):
    """A hash of the packets of each stream, which copying into another container leaves as they are."""
    command = ["ffmpeg", "-v", "error", "-i", path, "-map", "0", "-c", "copy", "-f", "streamhash", "-"]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def segments(folder, seconds):
    """A playlist of so many segments; the noise keeps the encoder at the rate that it is given."""
    os.makedirs(folder)
    picture = "testsrc2=size=640x360:rate=25,noise=alls=12:allf=t"
    rates = ["-c:v", "mpeg2video", "-b:v", "2300k", "-g", "25", "-c:a", "aac"]
    inputs = ["-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", "sine", "-t", str(seconds)]
    output = ["-hls_time", "1", "-hls_playlist_type", "vod", "-hls_segment_filename", f"{folder}/s%05d.ts", f"{folder}/film.m3u8"]
    subprocess.run(["ffmpeg", "-v", "error"] + inputs + rates + output, stdin=subprocess.DEVNULL, check=True)
    return [os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder) if name.endswith(".ts")]


def stream(args, folder, runner):
    origin = Origin(folder)
    sizes = segments(f"{origin.root}/stream", args.segments)
    whole = packets(f"{origin.root}/stream/film.m3u8")
    if not whole:
        sys.exit("ffmpeg does not read the segments that it has made")
    link = "over 40 ms, 200 Mbit/s, TLS"

    def check(at):
        if packets(f"{at}/film.ts") != whole:
            raise Failed("it has not all packets of the segments")

    def part(protocol, port):
        url = f"https://{Far.HOST}:{port}/stream/film.m3u8"
        commands = {
            "pawl": [os.path.abspath(args.pawl), "get", "-q", "--cacert", origin.cert, url, "-o", "film.ts"],
            "ffmpeg": ["ffmpeg", "-v", "error", "-i", url, "-c", "copy", "film.ts"],
        }
        # A run that is not measured: the server's log has its connections.
        runner.complete(commands["pawl"], 0, LIMIT)
        count = far.connections(port, "Pawl")
        peers = {"yt-dlp" if number == 1 else f"yt-dlp x{number}": number for number in sorted({1, count, 16})}
        if yt_dlp:
            one = ["env", f"SSL_CERT_FILE={origin.cert}", yt_dlp, "-q", "--ignore-config", "--compat-options", "no-certifi",
                   "--hls-use-mpegts", "-o", "film.ts", url]
            commands.update({name: one + ([] if number == 1 else ["-N", str(number)]) for name, number in peers.items()})
        targets = [AtMost("pawl", "wall", 0.5, "ffmpeg")]
        targets += [AtMost("pawl", "wall", 1, name) for name, number in peers.items() if number in (count, 16)]
        title = f"a stream of {len(sizes)} segments, {sum(sizes) / 1e6:.0f} MB, {link}, {protocol}; connections of pawl: {count}"
        # ffmpeg writes the packets anew, in more or fewer bytes.
        case = Case(title, commands, sum(sizes), check=check, targets=targets)
        return table(case, *measured(case, args.rounds, runner))

    yt_dlp = args.yt_dlp and os.path.abspath(f"{args.yt_dlp}/bin/yt-dlp")
    versions = [report.first("ffmpeg", "-version").partition(" Copyright")[0]]
    versions += ["yt-dlp " + report.first(yt_dlp, "--version")] if yt_dlp else []
    far = None
    try:
        far = Far(origin, os.path.abspath(f"{args.tools}/link"), 40, 200, 0)
        parts = [part("HTTP/2", far.logged), part("HTTP/1.1", far.logged_http1)]
        return "\n".join(parts + ["; ".join(versions) + "\n"])
    finally:
        if far:
            far.stop()
        origin.stop()


CASES = {"tree": tree, "hub": hub, "image": image, "stream": stream}
LINKED = ("tree", "stream")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pawl", required=True)
    parser.add_argument("--tools", required=True, help="folder of the built link and measure")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--hub-mib", type=int, default=64)
    parser.add_argument("--layer-mib", type=int, default=100)
    parser.add_argument("--hf", help="a Python environment with huggingface_hub")
    parser.add_argument("--hf-transfer", help="one with huggingface_hub below 1, and hf_transfer")
    parser.add_argument("--segments", type=int, default=100)
    parser.add_argument("--yt-dlp", help="a Python environment with yt-dlp")
    parser.add_argument("--memory", default="/dev/shm")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    text = [report.machine(os.path.abspath(args.pawl), None) + "\n"]
    for name in args.cases.split(","):
        if name in LINKED and (os.geteuid() != 0 or not os.path.exists("/dev/net/tun")):
            print(f"{name} is left out: a link needs root and /dev/net/tun", file=sys.stderr)
            continue
        print(name, file=sys.stderr, flush=True)
        folder = tempfile.mkdtemp(prefix="pawl-bench-", dir=args.memory)
        os.chmod(folder, 0o755)
        try:
            part = CASES[name](args, folder, Keeper(os.path.abspath(f"{args.tools}/measure"), f"{folder}/out"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(part, flush=True)
        text.append(part)
    report.save(args.markdown, "\n".join(text))


if __name__ == "__main__":
    main()
