#!/usr/bin/env python3
"""Resolves many host names with `pawl pipe`, against a resolver that bears 200 queries a second.

    names.py --pawl BINARY [--before BINARY] [--names N] [--rate N] [--jobs N] [--markdown FILE]

Each sample has a host name of its own. glibc asks for IPv4 and IPv6, so a name is two queries. Of the queries beyond the rate the
resolver drops half and sends for the others SERVFAIL. The programs run in a network and mount namespace with a resolv.conf of
its own, so they use the system's getaddrinfo. Needs root.
"""
import argparse, json, os, shutil, signal, subprocess, sys, tempfile, time
sys.dont_write_bytecode = True  # write no bytecode into the source folder
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../Scripts"))
import pipe
import report

ADDRESS = "127.0.0.53"


def isolated():
    """Runs this script again in a network of its own, with a route that leads nowhere: without one Pawl waits for the network."""
    script = 'ip link set lo up && ip link add d0 type veth peer name d1 && ip link set d1 up && ip link set d0 up && ip addr add 10.213.250.1/24 dev d0 && ip route add default via 10.213.250.2 && mount --bind "$0" /etc/resolv.conf && INSIDE=1 exec "$@"'
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as settings:
        settings.write(f"nameserver {ADDRESS}\n")
        settings.flush()
        command = ["unshare", "-m", "-n", "/bin/sh", "-c", script, settings.name, sys.executable, *sys.argv]
        environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        return subprocess.run(command, env=environment).returncode


def measured(program, folder, port, args):
    """Returns the row of a program."""
    log = f"{folder}/resolver.log"
    words = [sys.executable, os.path.join(HERE, "../Scripts/slow_resolver.py"), ADDRESS, str(args.rate), "--log", log]
    resolver = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        assert resolver.stdout.readline() == b"ready\n", "the resolver does not start"
        with open(f"{folder}/jobs", "w") as jobs:
            jobs.writelines(f"http://h{number}.example:{port}/{number:06}.jpg\n" for number in range(args.names))
        command = [program, "pipe", "-q", "--robots", "ignore", "--allow-private-addresses", "-j", str(args.jobs)]
        wall, cpu, memory, code = pipe.run(command, f"{folder}/jobs", folder, f"{folder}/results")
    finally:
        resolver.terminate()
        resolver.wait()
    with open(f"{folder}/results") as lines:
        results = [json.loads(line) for line in lines if line.startswith("{")]
    resolved = sum(result["code"] != 19 and result["status"] == "ok" for result in results)
    again = sum(result["attempts"] > 1 for result in results)
    with open(log) as file:
        counts = dict(line.split() for line in file)
    return [f"{resolved / args.names:.3%}", f"{args.names - resolved}", f"{again}", f"{wall:.0f}", f"{cpu:.0f}", f"{memory:.0f}",
            counts["resolved"], counts["failed"], counts["dropped"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pawl", required=True)
    parser.add_argument("--before")
    parser.add_argument("--names", type=int, default=50_000)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=128)
    parser.add_argument("--markdown")
    args = parser.parse_args()
    if "INSIDE" not in os.environ:
        sys.exit(isolated())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="pawl-bench-")
    os.chmod(folder, 0o755)
    origin = None
    try:
        origin = pipe.Origin(folder)
        programs = {"pawl pipe": args.pawl, **({"before": args.before} if args.before else {})}
        head = ["program", "resolved", "failed", "retried by the download", "s", "CPU s", "MiB", "NOERROR", "SERVFAIL", "dropped"]
        rows = [head, ["---"] * len(head)]
        for name, program in programs.items():
            rows.append([name, *measured(os.path.abspath(program), folder, origin.port, args)])
        text = "".join("| " + " | ".join(row) + " |\n" for row in rows)
        print(text)
        report.save(args.markdown, text)
    finally:
        if origin:
            origin.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
