#!/usr/bin/env python3
"""Runs each command line of cases.py and more_cases.py with aria2c and with pawl aria2c, and compares what a script sees:
exit code, files, and standard output in its form.

usage: compare.py PAWL [-k PATTERN] [-v] [-j JOBS] [--aria2c PATH]
"""

import argparse
import concurrent.futures
import gzip
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(os.path.join(os.path.dirname(__file__), "../../Scripts"))
import cases
import more_cases  # noqa: F401, adds its own
import origin
import waiting

START = int(time.time())
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
READOUT = re.compile(
    r"\[#[0-9a-f]{6} [0-9.KMGi]+B/[0-9.KMGi]+B(\(\d+%\))?( CN:\d+)?( DL:[0-9.KMGi]+B)?( ETA:[0-9hms]+)?\]"
    r"( \[(Checksum|FileAlloc):#[0-9a-f]{6} [^]]*\])?"
)
COMPACT = re.compile(r"\[DL:[0-9.KMGi]+B\](\[#[0-9a-f]{6} [0-9.KMGi]+B/[0-9.KMGi]+B(\(\d+%\))?\])+(\(\+\d+\))?")


class Worker(threading.local):
    """The servers of one thread."""

    def __init__(self):
        self.http = origin.HTTPOrigin()
        self.ftp = origin.FTPOrigin()


worker = Worker()


def prepare(case, root):
    names = {"u": worker.http.base, "f": worker.ftp.base, "d": root, "a": worker.http.base[7:]}

    def fill(text):
        for key, value in names.items():
            text = text.replace("{" + key + "}", value)
        return text

    os.makedirs(root + "/home")
    for path, data in case.files.items():
        if callable(data):
            data = data(worker.http.base)
        if isinstance(data, str):
            data = fill(data)
            if path.endswith(".gz"):
                data = gzip.compress(data.encode(), mtime=0)
        origin.write(f"{root}/{path}", data)
        # Both programs get files of the same second.
        os.utime(f"{root}/{path}", (START, START))
        if path.endswith(".sh"):
            os.chmod(f"{root}/{path}", 0o755)
    for path, when in case.times.items():
        os.utime(f"{root}/{path}", (when, when))
    return [fill(part) for part in case.line], {key: fill(value) for key, value in case.environment.items()}


def normal(text, root):
    text = ESCAPES.sub("", text.replace(root, "ROOT"))
    for base, word in ((worker.http.base, "HTTP"), (worker.ftp.base, "FTP")):
        text = text.replace(base, word)
    return re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", text)


def form(text, root):
    """The lines of standard output without what differs from run to run; and whether a readout was seen."""
    lines, readouts = [], False
    for line in re.split(r"[\n\r]", normal(text, root)):
        line = line.rstrip()
        if READOUT.fullmatch(line) or COMPACT.fullmatch(line):
            readouts = True
            continue
        if not line:
            continue
        if cases.IGNORED.search(line):
            continue
        line = re.sub(r"^\d\d/\d\d \d\d:\d\d:\d\d ", "TIME ", line)
        line = re.sub(r"^([0-9a-f]{6})\|", "GID   |", line)
        line = re.sub(r"\|( *[0-9.KMGi]+B/s| +n/a)\|", "|SPEED|", line)
        line = re.sub(r"CUID#\d+", "CUID#N", line)
        line = re.sub(r"GID#[0-9a-f]{16}", "GID#G", line)
        line = re.sub(r"as of .* \*\*\*", "as of WHEN ***", line)
        line = re.sub(r"^\[#[0-9a-f]{6} .*\]", "READOUT", line)
        lines.append(line)
    return lines, readouts


def files(root, case):
    """Every path below the root, with a digest of its content, or its text without what differs."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not (folder == root and name == "home")]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            if any(re.fullmatch(pattern, path) for pattern in case.ignored):
                continue
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            if path.endswith((".txt", ".session", ".out", ".conf", ".sh")):
                text = normal(data.decode(errors="replace"), root)
                if path == "hook.out":
                    # Hooks run at the same time.
                    text = "\n".join(sorted(text.split("\n")))
                if path.endswith(".session"):
                    keep = re.compile(r"^(\S| (dir|out|pause)=)")
                    text = "\n".join(line for line in text.split("\n") if keep.match(line))
                found[path] = re.sub(r"\b[0-9a-f]{16}\b", "GID", text)
            elif path.endswith(".log"):
                found[path] = "a log"
            else:
                found[path] = hashlib.sha256(data).hexdigest()[:12]
            if case.compares_times:
                found[path] += f" {int(os.stat(os.path.join(folder, name)).st_mtime)}"
    return settle(found)


def settle(found):
    """Both forms of an unfinished file as one: NAME with NAME.aria2, or NAME.part with NAME.pawl."""
    result = {}
    for path, what in found.items():
        if path.endswith(".aria2"):
            result[path] = "marker"
        elif path + ".aria2" in found or path.endswith((".part", ".pawl")):
            result.setdefault(path.removesuffix(".part").removesuffix(".pawl"), "unfinished")
            result[path.removesuffix(".part").removesuffix(".pawl")] = "unfinished"
        else:
            result[path] = what
    return result


def run(program, case, number):
    worker.http.reset()
    root = tempfile.mkdtemp(prefix=f"case{number}-")
    try:
        line, own = prepare(case, root)
        environment = {"PATH": os.environ["PATH"], "HOME": root + "/home", "LANG": "C", "TZ": "UTC"}
        environment.update(own)
        process = subprocess.Popen(
            program + line,
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        timer = threading.Timer(case.signal_after, process.send_signal, [signal.SIGINT]) if case.signal_after else None
        if timer:
            timer.start()
        text = case.input.replace("{u}", worker.http.base)
        try:
            output, errors = process.communicate(text.encode(), timeout=90)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            code = "timeout"
        wait_for_hooks(root)
        lines, readouts = form(output.decode(errors="replace"), root)
        if not case.compares_output:
            lines = []
        requests = [
            (method, normal(path, root)) for method, path, _ in worker.http.seen
        ]
        return {
            "code": code,
            "files": files(root, case),
            "output": sorted(lines) if case.sorts_output else lines,
            "readouts": readouts if case.needs_readouts else None,
            "raw": normal(output.decode(errors="replace"), root),
            "errors": normal(errors.decode(errors="replace"), root),
            "requests": requests,
        }
    finally:
        shutil.rmtree(root, ignore_errors=True)


def wait_for_hooks(root):
    """Programs that a run started may outlive it."""
    end = time.monotonic() + 10
    while running := list(processes_in(root)):
        if not waiting.until_ended(running, max(0, end - time.monotonic())):
            return


def processes_in(folder):
    for process in os.listdir("/proc"):
        try:
            if process.isdigit() and os.readlink(f"/proc/{process}/cwd") == folder:
                yield int(process)
        except OSError:
            pass


def both(number, case, programs):
    return [run(program, case, number) for program in programs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pawl")
    parser.add_argument("-k", default="")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("-j", type=int, default=4)
    parser.add_argument("--aria2c", default="aria2c")
    options = parser.parse_args()
    programs = [[options.aria2c], [os.path.abspath(options.pawl), "aria2c"]]
    chosen = [(i, case) for i, case in enumerate(cases.CASES, 1) if re.search(options.k, f"{i} {' '.join(case.line)}")]
    same = {"code": 0, "files": 0, "output": 0, "readouts": 0}
    differing, unexpected = 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        results = pool.map(lambda item: both(*item, programs), chosen)
        for (number, case), (theirs, ours) in zip(chosen, results):
            different = [key for key in same if theirs[key] != ours[key]]
            for key in same:
                same[key] += key not in different
            if different:
                differing += 1
                unexpected += not case.reason
                print(f"{'known' if case.reason else 'DIFF '} {number}: {' '.join(case.line)} {case.reason}")
                for key in different:
                    print(f"    {key}:")
                    if isinstance(theirs[key], (list, dict)):
                        show(theirs[key], ours[key])
                    else:
                        print(f"        aria2c {theirs[key]}   pawl {ours[key]}")
                if different and ours["errors"] and not options.v:
                    print("    pawl says: " + ours["errors"].strip()[:400])
            elif case.reason:
                print(f"same  {number}: {' '.join(case.line)} but a reason is given: {case.reason}")
            if options.v:
                for name, result in (("aria2c", theirs), ("pawl", ours)):
                    print(f"--- {name}: {result['code']}\n{result['raw']}\n{result['errors']}{result['requests']}\n{result['files']}")
            sys.stdout.flush()
    total = len(chosen)
    print(f"{total} command lines: {total - differing} the same; " + ", ".join(f"{k} {v}" for k, v in same.items()))
    print(f"{differing} differ, {unexpected} without a reason")
    # As many as 10 of 182.
    return 1 if unexpected or differing * 182 > 10 * max(total, 182) else 0


def show(theirs, ours):
    if isinstance(theirs, dict):
        theirs = [f"{key}: {value}" for key, value in sorted(theirs.items())]
        ours = [f"{key}: {value}" for key, value in sorted(ours.items())]
    for line in theirs:
        if line not in ours:
            print(f"        - {line}")
    for line in ours:
        if line not in theirs:
            print(f"        + {line}")
    if sorted(theirs) == sorted(ours):
        print("        (another order)")


if __name__ == "__main__":
    sys.exit(main())
