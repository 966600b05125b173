#!/usr/bin/env python3
"""Kills `pawl get` of a collection by SIGKILL again and again, and counts what is fetched twice.

usage: kills.py PAWL hub|registry KILLS [SEED]

hub: a repository of 20 files of 10 MiB, into a folder and into the cache in turn. registry: an image with six layers of 8 MiB, into a
folder and into an archive in turn. Each kill comes when a random part of the rest was sent. Before the next run, every byte on disk is
compared with the content; a byte that was right there and is sent once more was fetched again. What is allowed of it, for each
response: the 64 KiB that are compared where no strong validator is known, and the write in progress, whose end was not recorded.
Files that were complete must not be requested at all. At the end every file must have its digest.
"""
import hashlib, json, os, random, signal, socket, subprocess, sys, tempfile, urllib.request

PAWL, KIND, KILLS = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 32)
HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = 4096
ALLOWED = (64 + 512) << 10
PACE = 0.01


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self, folder):
        self.port = free_port()
        script = {"hub": f"{HERE}/hub.py", "registry": f"{HERE}/../Registry/registry.py"}[KIND]
        more = [f"{folder}/files"] if KIND == "hub" else []
        self.process = subprocess.Popen([sys.executable, "-u", script, str(self.port), str(free_port())] + more,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if not self.process.stdout.readline():
            sys.exit("kills: the server has not started")

    def ask(self, path, body=None):
        url = f"http://127.0.0.1:{self.port}{path}"
        with urllib.request.urlopen(url, data=body.encode() if body else None, timeout=90) as reply:
            return reply.read()

    def log(self):
        return json.loads(self.ask("/_log"))


def contents():
    """What is served, by the names that the server's log has, and the names of complete files."""
    dice = random.Random(7)
    if KIND == "hub":
        return {f"f{number}.bin": dice.randbytes(10 << 20) for number in range(20)}
    layers = [random.Random(100 + number).randbytes(8 << 20) for number in range(6)]
    return {"sha256:" + hashlib.sha256(layer).hexdigest(): layer for layer in layers}


def names(key, content):
    """The names that the file may have on disk, complete."""
    return {key, hashlib.sha256(content).hexdigest()} if KIND == "hub" else {key.removeprefix("sha256:")}


def on_disk(folder, content_of):
    """For each content: the right blocks of its part file, or True if it is complete."""
    found = {}
    by_name = {name: key for key, content in content_of.items() for name in names(key, content)}
    for root, _, files in os.walk(folder):
        for file in files:
            path = os.path.join(root, file)
            stem = file.removesuffix(".part")
            key = by_name.get(stem)
            if key is None or os.path.islink(path):
                continue
            if stem == file:
                found[key] = True
                continue
            data, content = open(path, "rb").read(), content_of[key]
            found.setdefault(key, {place for place in range(0, len(data), BLOCK)
                                   if data[place:place + BLOCK] == content[place:place + BLOCK]})
    return found


def again(log, before):
    """Bytes that were on disk and were sent once more: the most of one response, and all."""
    most, total, complete = 0, 0, 0
    for entry in log:
        if "file" not in entry:
            continue
        known = before.get(entry["file"], set())
        if known is True:
            complete += 1
            continue
        start, end = entry["start"], entry["start"] + entry["sent"]
        count = sum(min(end, place + BLOCK) - max(start, place) for place in known if place < end and place + BLOCK > start)
        most, total = max(most, count), total + count
    return most, total, complete


def main():
    dice = random.Random(SEED)
    print(f"kills: {KIND}, {KILLS} kills, seed {SEED}")
    content_of = contents()
    size = sum(map(len, content_of.values()))
    figures = {"kills": 0, "rounds": 0, "most": 0, "again": 0, "complete": 0, "sent": 0, "runs": 0}
    with tempfile.TemporaryDirectory() as folder:
        if KIND == "hub":
            os.makedirs(f"{folder}/files/models/org/model")
            for name, content in content_of.items():
                open(f"{folder}/files/models/org/model/{name}", "wb").write(content)
        server = Server(folder)
        try:
            while figures["kills"] < KILLS:
                play(server, folder, content_of, size, dice, figures)
        finally:
            server.process.terminate()
            server.process.wait()
    print(f"{figures['kills']} kills in {figures['rounds']} downloads of {size >> 20} MiB: {figures['again']} bytes that were on disk "
          f"sent again in all, at most {figures['most']} in one response (allowed {ALLOWED}); {figures['complete']} requests for "
          f"complete files; {(figures['sent'] - figures['rounds'] * size) >> 10} KiB sent beyond the size, with what was in flight")
    if figures["most"] > ALLOWED or figures["complete"]:
        sys.exit("kills: more was fetched again than is allowed")


def play(server, folder, content_of, size, dice, figures):
    out = f"{folder}/out{figures['rounds']}"
    os.makedirs(out)
    other = figures["rounds"] % 2 == 1
    if KIND == "hub":
        target = [] if other else ["-d", "d"]
        command = [PAWL, "get", "-q", "hf://org/model"] + target
    else:
        target = ["-o", "image.tar"] if other else ["-d", "d"]
        command = [PAWL, "get", "-q", f"oci://127.0.0.1:{server.port}/org/img:large", "--platform", "linux/amd64"] + target
    environment = dict(os.environ, HOME=out, HF_HOME=f"{out}/hf", HF_ENDPOINT=f"http://127.0.0.1:{server.port}")
    server.ask("/_control", json.dumps({"pace": PACE}))
    figures["rounds"] += 1
    rounds = 0
    while True:
        before = on_disk(out, content_of)
        rest = size - sum(len(content_of[key]) if value is True else len(value) * BLOCK for key, value in before.items())
        server.ask("/_forget")
        process = subprocess.Popen(command, cwd=out, env=environment)
        figures["runs"] += 1
        # Some ten kills a download.
        kills = figures["kills"] < KILLS and rounds < 12 and rest > 0
        if kills:
            server.ask(f"/_wait?{dice.randrange(max(1, min(rest, size // 6)))}")
            process.send_signal(signal.SIGKILL)
            figures["kills"] += 1
            rounds += 1
        else:
            server.ask("/_control", json.dumps({"pace": PACE / 20}))
        code = process.wait()
        log = server.log()
        most, total, complete = again(log, before)
        figures["most"], figures["again"] = max(figures["most"], most), figures["again"] + total
        figures["complete"] += complete
        figures["sent"] += sum(entry.get("sent", 0) for entry in log)
        if not kills:
            break
    if code != 0:
        sys.exit(f"kills: the last run ended with {code}")
    check(out, content_of, other)


def check(out, content_of, other):
    if KIND == "registry" and other:
        subprocess.run(["tar", "-xf", "image.tar"], cwd=out, check=True)
    found = {}
    for root, _, files in os.walk(out):
        for file in files:
            found[hashlib.sha256(open(os.path.join(root, file), "rb").read()).hexdigest()] = file
    missing = [key for key, content in content_of.items() if hashlib.sha256(content).hexdigest() not in found]
    if missing:
        sys.exit(f"kills: not there, or not right: {missing}")


main()
