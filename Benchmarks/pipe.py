#!/usr/bin/env python3
"""Compares `pawl pipe` with img2dataset and aria2 on the samples of a dataset, against nginx on loopback.

    pipe.py --pawl BINARY [--img2dataset PROGRAM] [--samples N] [--hosts N] [--rounds N] [--memory FOLDER] [--markdown FILE]

Samples have 20 KiB. Hosts are addresses of loopback, so that no program waits for DNS. pawl and img2dataset write tar
shards without re-encoding, with a SHA-256 of each sample; aria2 writes files. Memory is the peak of the proportional set
size of all processes of a program, read five times a second. Programs run in turn, and the best round counts.
"""
import argparse, os, resource, shutil, signal, socket, subprocess, sys, tempfile, time
sys.dont_write_bytecode = True  # write no bytecode into the source folder
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Scripts"))
import report
import waiting

SIZE = 20 << 10
CONTENTS = 1000  # distinct ones


class Origin:
    """nginx: `/NUMBER.jpg` is one of the contents."""

    def __init__(self, folder):
        self.folder = folder
        root = os.path.join(folder, "root")
        os.makedirs(root)
        for number in range(CONTENTS):
            with open(f"{root}/{number:03}", "wb") as file:
                file.write(os.urandom(SIZE))
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(
                f"worker_processes 2; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
                "events { worker_connections 8192; }\n"
                f"http {{ access_log off; sendfile on; default_type image/jpeg; client_body_temp_path {folder}/body;\n"
                f"proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fast; uwsgi_temp_path {folder}/uwsgi;\n"
                f"scgi_temp_path {folder}/scgi; server {{ listen 0.0.0.0:{self.port} backlog=8192;\n"
                f"location ~ \"^/\\d*(\\d\\d\\d)\\.jpg$\" {{ alias {root}/$1; }} }} }}\n"
            )
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "nginx", "-p", folder, "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"])
        # nginx writes it when it listens.
        if not waiting.until_changed(folder, lambda: os.path.exists(f"{folder}/nginx.pid")):
            raise SystemExit("nginx does not start")

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def urls(self, samples, hosts):
        for number in range(samples):
            host = number % hosts
            yield f"http://127.1.{host // 250 % 250}.{host % 250 + 1}:{self.port}/{number:06}.jpg"


def tree(root):
    """Returns a process and its descendants."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                children.setdefault(int(file.read().rsplit(")", 1)[1].split()[1]), []).append(int(name))
        except OSError:
            continue
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def memory(root):
    """Returns the proportional set size of a process and its descendants in MiB."""
    total = 0
    for process in tree(root):
        try:
            with open(f"/proc/{process}/smaps_rollup") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
        except (OSError, StopIteration):
            continue
    return total / 1024


def run(command, source, folder, log):
    """Returns seconds, CPU seconds, MiB and exit code of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    with open(source, "rb") as jobs, open(log, "wb") as output:
        process = subprocess.Popen(command, stdin=jobs, stdout=output, stderr=subprocess.STDOUT, cwd=folder)
        peak = 0
        while True:
            try:
                code = process.wait(0.2)
                break
            except subprocess.TimeoutExpired:
                peak = max(peak, memory(process.pid))
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if code != 0:
        with open(log, "rb") as file:
            print(f"{command[0]}: exit code {code}: {file.read()[-500:].decode(errors='replace')}", file=sys.stderr)
    return wall, cpu, peak, code


def stored(folder):
    """Returns how many samples are in the tar files of a folder, or in its files."""
    count = 0
    for base, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".tar"):
                listed = subprocess.run(["tar", "tf", os.path.join(base, name)], capture_output=True, text=True).stdout
                count += sum(line.endswith(".jpg") for line in listed.splitlines())
            else:
                count += name.endswith(".jpg")
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pawl", required=True)
    parser.add_argument("--img2dataset")
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--memory", default="/dev/shm")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    pawl, folder = os.path.abspath(args.pawl), tempfile.mkdtemp(prefix="pawl-bench-", dir=args.memory)
    os.chmod(folder, 0o755)
    origin = None
    rows = {}
    try:
        origin = Origin(folder)
        urls, listing = f"{folder}/urls.txt", f"{folder}/aria2.txt"
        with open(urls, "w") as plain, open(listing, "w") as named:
            for number, url in enumerate(origin.urls(args.samples, args.hosts)):
                plain.write(url + "\n")
                named.write(f"{url}\n  out={number:06}.jpg\n")
        commands = {
            "pawl pipe": ([pawl, "pipe", "-q", "--robots", "ignore", "--allow-private-addresses", "--to", "out",
                           "--format", "tar", "--shard", "all"], urls),
            "aria2 -i, files": (["aria2c", "-q", "-j128", "--file-allocation=none", "-d", "out", "-i", listing], "/dev/null"),
        }
        if args.img2dataset:
            commands["img2dataset"] = ([
                os.path.abspath(args.img2dataset), "--url_list", urls, "--input_format", "txt", "--output_format", "webdataset",
                "--output_folder", "out", "--processes_count", str(os.cpu_count()), "--thread_count", "64",
                "--disable_all_reencoding", "True", "--number_sample_per_shard", "10000",
            ], "/dev/null")
        for _ in range(args.rounds):
            for name, (command, source) in commands.items():
                place = f"{folder}/run"
                os.mkdir(place)
                cost = run(command, source, place, f"{folder}/log")
                count = stored(f"{place}/out")
                shutil.rmtree(place)
                print(f"  {name}: {count:,} of {args.samples:,} stored, {count / cost[0]:,.0f}/s, {cost[1]:.1f} CPU s, "
                      f"{cost[2]:.0f} MiB", file=sys.stderr, flush=True)
                rows.setdefault(name, []).append((count, *cost))
    finally:
        if origin:
            origin.stop()
        shutil.rmtree(folder, ignore_errors=True)
    text = table(rows, args)
    print(text)
    report.save(args.markdown, text)


def table(rows, args):
    lines = [report.machine(os.path.abspath(args.pawl), None), "",
             f"### {args.samples:,} samples of {SIZE >> 10} KiB from {args.hosts:,} hosts", "",
             "| program | stored | samples/s, best and worst | CPU µs a sample | memory MiB |", "|---|---|---|---|---|"]
    for name, runs in rows.items():
        speeds = sorted((count / wall for count, wall, *_ in runs), reverse=True)
        cpu = min(cost / max(1, count) for count, _, cost, *_ in runs) * 1e6
        codes = sorted({r[4] for r in runs} - {0})
        name += f" (exit code {', '.join(map(str, codes))})" if codes else ""
        lines.append(f"| {name} | {min(r[0] for r in runs):,} | {speeds[0]:,.0f}, {speeds[-1]:,.0f} | {cpu:,.0f} | "
                     f"{max(r[3] for r in runs):,.0f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
