"""Tables and verdicts in Markdown."""
import os, platform, re, shlex, statistics, subprocess
from cases import best


class Row:
    """Medians of the rounds that count."""

    def __init__(self, costs):
        self.wall = statistics.median(c.wall for c in costs)
        self.cpu = statistics.median(c.cpu for c in costs)
        self.quick = min(c.wall for c in costs)
        self.memory = max(c.memory for c in costs)


def keep(case, rounds):
    """Leaves out rounds in which the bare loop took more than half again as long as its median."""
    bare = [r[case.bare].wall for r in rounds if case.bare in r]
    if not bare:
        return rounds
    middle = statistics.median(bare)
    return [r for r in rounds if case.bare in r and r[case.bare].wall <= 1.5 * middle]


def section(case, rounds, failures, trace):
    """The case's table, and its verdicts as (text, holds, figures)."""
    kept = keep(case, rounds)
    rows = {n: Row(c) if (c := [r[n] for r in kept if n in r]) else None for n in case.commands}
    rate = {"GiB": "MiB/s", "file": "files/s", "run": "runs/s"}[case.unit]
    per = {"GiB": "CPU s/GiB", "file": "CPU µs/file", "run": "CPU ms"}[case.unit]
    scale = {"GiB": 1, "file": 1e6, "run": 1e3}[case.unit]
    speed = 1024 if case.unit == "GiB" else 1
    bare = rows.get(case.bare)
    over = " CPU ÷ limit |" if bare else ""
    lines = [f"### {case.title}", "",
             f"| program | wall s | best s | {rate} | {per} | memory MiB | wall ÷ best peer | CPU ÷ best peer |{over} command |",
             "|---" * (9 + bool(bare)) + "|"]
    for name, row in rows.items():
        command = f"`{short(case.commands[name])}`"
        if not row:
            lines.append(f"| {name} | failed: {failures.get(name, '')} | | | | | | |{' |' if bare else ''} {command} |")
            continue
        cells = [name, f"{row.wall:.3f}", f"{row.quick:.3f}", f"{case.amount * speed / row.wall:,.0f}",
                 f"{row.cpu * scale / case.amount:.2f}", f"{row.memory:.0f}"]
        cells += [ratio(row.wall, best(rows, "wall"), "wall"), ratio(row.cpu, best(rows, "cpu"), "cpu")]
        cells += [ratio(row.cpu, bare, "cpu")] if bare else []
        lines.append("| " + " | ".join(cells + [command]) + " |")
    lines.append("")
    if len(kept) < len(rounds):
        lines.append(f"{len(rounds) - len(kept)} of {len(rounds)} rounds left out: the bare loop was slow in them.\n")
    if trace:
        lines.append(f"Connections of {case.traced[0]}: {course(trace)}.\n")
    verdicts = [target.judge(rows, trace) for target in case.targets]
    lines += [f"- {mark(holds)} {text}: {figures}" for text, holds, figures in verdicts]
    return "\n".join(lines) + "\n", verdicts


def ratio(value, other, what):
    return f"{value / getattr(other, what):.2f}" if other else ""


def mark(holds):
    return {True: "**holds**", False: "**falls short**", None: "**open**"}[holds]


def course(trace):
    """When the number of connections changed."""
    told, last = [], 0
    for at, count, _ in trace:
        if count != last:
            told.append(f"{count} at {at:.1f} s")
        last = count
    return ", ".join(told[:20])


def summary(verdicts):
    lines = ["## Verdicts", "", "| case | target | measured | |", "|---|---|---|---|"]
    lines += [f"| {case} | {text} | {figures} | {mark(holds)} |" for case, (text, holds, figures) in verdicts]
    return "\n".join(lines) + "\n"


def short(command):
    words = shlex.join(os.path.basename(w) if w.startswith("/") else w for w in command)
    return re.sub(r"/\S*/pawl-bench-\w+/", "", words)


def machine(pawl):
    with open("/proc/cpuinfo") as file:
        model = next((l.split(":")[1].strip() for l in file if l.startswith("model name")), platform.machine())
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / (1 << 20)
    with open("/proc/sys/net/ipv4/tcp_congestion_control") as file:
        control = file.read().strip()
    parts = [f"{os.cpu_count()} × {model}, {memory:.0f} GiB, Linux {platform.release()}, {control}"]
    parts += [first(t, "--version") for t in (pawl, "curl", "wget", "wget2", "aria2c", "axel", "lftp")]
    return "; ".join(parts + [first("nginx", "-v"), first("openssl", "version")])


def first(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return next(line.strip() for line in done.stdout.splitlines() if line.strip())
    except (OSError, StopIteration):
        return f"{os.path.basename(command[0])}: not there"
