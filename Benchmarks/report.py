"""Tables and verdicts in Markdown."""
import os, platform, re, shlex, statistics, subprocess
from cases import best


def save(path, text):
    """Writes a report to the given file, if any."""
    if path:
        with open(path, "w") as file:
            file.write(text)


class Row:
    """The result of a program's rounds: the best one and the median are judged, the median alone if the case is random.

    Disturbances on a virtual machine (memory that its host must bring back, neighbours) only add to a round.
    """

    def __init__(self, costs, by_chance):
        walls, cpus = [c.wall for c in costs], [c.cpu for c in costs]
        self.middle_wall, self.middle_cpu = statistics.median(walls), statistics.median(cpus)
        self.wall = self.middle_wall if by_chance else min(walls)
        self.cpu = self.middle_cpu if by_chance else min(cpus)
        self.memory = max(c.memory for c in costs)


def section(case, rounds, failures, trace):
    """The case's table, and its verdicts as (text, holds, figures)."""
    by_chance = case.traced is not None
    rows = {n: Row(c, by_chance) if (c := [r[n] for r in rounds if n in r]) else None for n in case.commands}
    rate = {"GiB": "MiB/s", "file": "files/s", "run": "runs/s"}[case.unit]
    per = {"GiB": "CPU s/GiB", "file": "CPU µs/file", "run": "CPU ms"}[case.unit]
    scale = {"GiB": 1, "file": 1e6, "run": 1e3}[case.unit]
    speed = 1024 if case.unit == "GiB" else 1
    bare = rows.get(case.bare)
    over = " CPU ÷ limit |" if bare else ""
    lines = [f"### {case.title}", "",
             f"| program | wall s | median | {rate} | {per} | median | memory MiB | wall ÷ best peer | CPU ÷ best peer |{over} command |",
             "|---" * (10 + bool(bare)) + "|"]
    for name, row in rows.items():
        command = f"`{short(case.commands[name])}`"
        if not row:
            lines.append(f"| {name} | failed: {failures.get(name, '')} | | | | | | |{' |' if bare else ''} {command} |")
            continue
        cells = [name, f"{row.wall:.3f}", f"{row.middle_wall:.3f}", f"{case.amount * speed / row.wall:,.0f}",
                 f"{row.cpu * scale / case.amount:.2f}", f"{row.middle_cpu * scale / case.amount:.2f}", f"{row.memory:.0f}"]
        cells += [ratio(row.wall, best(rows, "wall"), "wall"), ratio(row.cpu, best(rows, "cpu"), "cpu")]
        cells += [ratio(row.cpu, bare, "cpu")] if bare else []
        lines.append("| " + " | ".join(cells + [command]) + " |")
    lines.append("")
    if trace:
        lines.append(f"Connections of {case.traced[0]}: {course(trace)}.\n")
    verdicts = [target.judge(rows, trace) for target in case.targets]
    lines += judgements(verdicts)
    return "\n".join(lines) + "\n", verdicts


def judgements(verdicts):
    return [f"- {mark(holds)} {text}: {figures}" for text, holds, figures in verdicts]


def syncs(counts):
    """What each program makes durable."""
    words = [f"{name}: {', '.join(f'{n} {call}' for call, n in c.items()) or 'nothing'}" for name, c in counts.items()]
    return f"\nSynced: {'; '.join(words)}.\n"


def ratio(value, other, what):
    return f"{value / getattr(other, what):.2f}" if other else ""


def mark(holds):
    return {True: "**holds**", False: "**falls short**", None: "**open**"}[holds]


def course(trace):
    """The times at which the number of connections changed."""
    lines, last = [], 0
    for at, count, _ in trace:
        if count != last:
            lines.append(f"{count} at {at:.1f} s")
        last = count
    return ", ".join(lines[:20])


def summary(verdicts):
    lines = ["## Verdicts", "", "| case | target | measured | |", "|---|---|---|---|"]
    lines += [f"| {case} | {text} | {figures} | {mark(holds)} |" for case, (text, holds, figures) in verdicts]
    return "\n".join(lines) + "\n"


def short(command):
    words = shlex.join(os.path.basename(w) if w.startswith("/") else w for w in command)
    return re.sub(r"/\S*/pawl-bench-\w+/", "", words)


def machine(pawl, python):
    with open("/proc/cpuinfo") as file:
        model = next((l.split(":")[1].strip() for l in file if l.startswith("model name")), platform.machine())
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / (1 << 20)
    with open("/proc/sys/net/ipv4/tcp_congestion_control") as file:
        control = file.read().strip()
    parts = [f"{os.cpu_count()} × {model}, {memory:.0f} GiB, Linux {platform.release()}, {control}"]
    parts += [first(t, "--version") for t in (pawl, "curl", "wget", "wget2", "aria2c", "axel", "lftp")]
    if python:
        code = "import importlib.metadata as m; print('hf_transfer', m.version('hf_transfer'))"
        parts.append(first(python, "-c", code))
    return "; ".join(parts + [first("nginx", "-v"), first("openssl", "version")])


def first(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return next(line.strip() for line in done.stdout.splitlines() if line.strip())
    except (OSError, StopIteration):
        return f"{os.path.basename(command[0])}: not there"
