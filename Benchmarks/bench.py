#!/usr/bin/env python3
"""Runs `pawl get` and its peers in turn against nginx on loopback; prints a table and the verdicts of each case.

    bench.py --pawl BINARY --tools FOLDER [--before BINARY] [--rounds N] [--cases NAME,NAME] [--markdown FILE]
             [--disk FOLDER] [--python PROGRAM] [--wan URL ...]

Only the ratios inside one table are meaningful: programs of one case run interleaved, round by round, and the best round
of each is judged, and so is the median (it alone where the number of connections is random). Every run writes new files, on a memory
disk or in the folder of --disk; there the table also says what each program syncs. A program that fails is reported in the table and
not run again in that case.
"""
import argparse, os, shlex, shutil, signal, sys, tempfile, time
sys.dont_write_bytecode = True  # write no bytecode into the source folder
from cases import AtMost, Cases, GIB, MIB
from measuring import Failed, Runner
from origin import Far, Origin
import report

LIMIT = 120  # maximum seconds of one run


class Wan:
    """A link that the caller has set up, and how a program reaches it."""

    def __init__(self, args):
        self.url, self.mbit, self.loss, self.size = args.wan, args.mbit, args.loss, args.wan_size * MIB
        self.prefix = shlex.split(args.prefix)


def measure(case, rounds, runner):
    """One round to warm up, then the measured rounds: the costs of every program, and the reasons of failures."""
    failures, measured = {}, []
    for number in range(rounds * case.times + 1):
        order = list(case.commands)
        order = order[number % len(order):] + order[:number % len(order)]
        costs = {}
        for name in order:
            if name in failures:
                continue
            try:
                costs[name] = runner.run(case.commands[name], case.size, LIMIT, case.paced)
            except Failed as failure:
                failures[name] = str(failure)
                print(f"  {name}: {failure}", file=sys.stderr, flush=True)
        if number > 0:
            measured.append(costs)
    return measured, failures


def beside(case, pawl, before):
    """Runs the same commands with an earlier build, as a baseline for the new one."""
    for name, command in [(n, c) for n, c in case.commands.items() if pawl in c]:
        old = "pawl before" + name.removeprefix("pawl")
        case.commands[old] = [before if word == pawl else word for word in command]
        case.targets = [*case.targets, *(AtMost(name, what, 1.05, old) for what in ("wall", "cpu"))]


def trace(case, runner, wan):
    if not case.traced:
        return None
    name, host, port = case.traced
    prefix = wan.prefix if case.name == "wan" else []
    return runner.trace(case.commands[name], host, port, LIMIT, prefix)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pawl", required=True)
    parser.add_argument("--before", help="an earlier build, to run beside it")
    parser.add_argument("--tools", required=True, help="folder of the built limits and measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", default="")
    parser.add_argument("--memory", default="/dev/shm")
    parser.add_argument("--disk", help="a folder on a real disk for what the programs write")
    parser.add_argument("--python", help="a Python that has hf_transfer")
    parser.add_argument("--markdown")
    parser.add_argument("--wan", help="URL of a file behind a link that is there already")
    parser.add_argument("--wan-size", type=float, default=100, help="its size in MiB")
    parser.add_argument("--mbit", type=float, default=0, help="the link's rate")
    parser.add_argument("--loss", type=float, default=0, help="the link's loss in percent")
    parser.add_argument("--prefix", default="", help="command before each client of the link")
    return parser.parse_args()


# Names of several cases; `far` is every case over a link.
GROUPS = {"near": {"small", "small-tls"}, "medium": {"medium", "medium-tls"}}


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    wanted = set().union(*(GROUPS.get(name, {name}) for name in args.cases.split(",") if name))
    began = time.monotonic()
    folder = tempfile.mkdtemp(prefix="pawl-bench-", dir=args.memory)
    os.chmod(folder, 0o755)
    origin, wan, pawl = None, Wan(args), os.path.abspath(args.pawl)
    tool = lambda name: os.path.abspath(os.path.join(args.tools, name))
    text, verdicts = [report.machine(pawl, args.python) + "\n"], []
    files = tempfile.mkdtemp(prefix="pawl-bench-", dir=args.disk) if args.disk else folder
    try:
        origin = Origin(folder)
        for name, size in (("big", GIB), ("half", GIB // 2), ("quarter", GIB // 4), ("one", 1)):
            origin.file(name, size)
        origin.many("small", 10000, 4096)
        origin.many("medium", 1000, 100 * 1024)
        origin.many("pages", 200, 300_000)
        runner = Runner(tool("measure"), os.path.join(files, "out"))
        for case in Cases(origin, pawl, tool("limits"), wan, args.python).all():
            if wanted and case.name not in wanted and not (case.link and "far" in wanted):
                continue
            if case.link and (os.geteuid() != 0 or not os.path.exists("/dev/net/tun")):
                print(f"{case.name} is left out: a link needs root and /dev/net/tun", file=sys.stderr)
                continue
            if args.before:
                beside(case, pawl, os.path.abspath(args.before))
            print(f"{time.monotonic() - began:5.0f} s  {case.title}", file=sys.stderr, flush=True)
            far = Far(origin, tool("link"), *case.link) if case.link else None
            try:
                rounds, failures = measure(case, args.rounds, runner)
            finally:
                if far:
                    far.stop()
            part, judged = report.section(case, rounds, failures, trace(case, runner, wan))
            if args.disk:
                part += report.syncs({n: runner.syncs(c, LIMIT) for n, c in case.commands.items() if n not in failures})
            text.append(part)
            verdicts += [(case.name, verdict) for verdict in judged]
            print(part, flush=True)
    finally:
        if origin:
            origin.stop()
        for used in {folder, files}:
            shutil.rmtree(used, ignore_errors=True)
        text.append(report.summary(verdicts))
        print(text[-1], flush=True)
        report.save(args.markdown, "\n".join(text))


if __name__ == "__main__":
    main()
