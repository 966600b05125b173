"""Runs one command and measures its costs and its connections."""
import os, re, shutil, signal, subprocess, time


class Cost:
    def __init__(self, wall, cpu, memory):
        self.wall, self.cpu, self.memory = wall, cpu, memory


class Failed(Exception):
    pass


class Runner:
    """Every run starts with an empty folder, and a run with missing bytes is a failure."""

    def __init__(self, measure, folder):
        self.measure, self.folder = measure, folder
        self.cost_file = folder + ".cost"
        self.errors = folder + ".errors"

    def start(self, command):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        with open(self.errors, "wb") as errors:
            return subprocess.Popen([self.measure, self.cost_file] + command, cwd=self.folder, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)

    def warm(self, size):
        """Allocates the memory that the files will take: the host of a virtual machine reclaims memory that is free for
        long, and the next program would wait for every page of it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        block = bytes(1 << 20)
        path = self.folder + ".warm"
        with open(path, "wb", buffering=0) as file:
            for _ in range(-(-size // len(block))):
                file.write(block)
        os.unlink(path)

    def run(self, command, size, limit, paced=False):
        """Wall seconds, CPU seconds and peak memory of a command that downloads `size` bytes."""
        self.warm(size)
        if paced:
            time.sleep(1 - time.time() % 1)
        return self.complete(command, size, limit)

    def complete(self, command, size, limit):
        """The same, with nothing made ready before."""
        process = self.start(command)
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"not done after {limit} s") from None
        finally:
            end(process)
        return self.cost(process.returncode, size)

    def cost(self, status, size):
        if status != 0:
            with open(self.errors, errors="replace") as file:
                words = file.read().strip().splitlines()
            raise Failed(f"exit code {status}" + (f": {words[-1][:100]}" if words else ""))
        there = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(self.folder) for name in names)
        if there < size:
            raise Failed(f"it brought {there} of {size} bytes")
        with open(self.cost_file) as file:
            wall, user, system, peak = map(float, file.read().split())
        return Cost(wall, user + system, peak / 1024)

    def syncs(self, command, limit):
        """How often each call that makes data durable is made, in a run of its own that is not measured."""
        counts = self.folder + ".syncs"
        calls = "trace=fsync,fdatasync,syncfs,sync,sync_file_range,msync"
        process = self.start(["strace", "-f", "-c", "-U", "name,calls", "-e", calls, "-o", counts] + command)
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            return {}
        finally:
            end(process)
        with open(counts) as file:
            words = [line.split() for line in file]
        return {w[0]: int(w[1]) for w in words if len(w) == 2 and w[1].isdigit() and w[0] != "total"}

    def trace(self, command, host, port, limit, prefix=()):
        """(seconds, connections, bytes received) ten times a second, as the kernel counts them."""
        look = list(prefix) + ["ss", "-tniHO", "state", "established", "dst", f"{host}:{port}"]
        process = self.start(command)
        began, seen, points = time.monotonic(), {}, [(0.0, 0, 0)]
        try:
            while process.poll() is None and time.monotonic() - began < limit:
                lines = subprocess.run(look, capture_output=True, text=True).stdout.splitlines()
                flowing = 0
                for line in lines:
                    counted = re.search(r"bytes_received:(\d+)", line)
                    if not counted:
                        continue
                    seen[line.split()[2]] = int(counted.group(1))
                    flowing += 1
                points.append((time.monotonic() - began, flowing, sum(seen.values())))
                time.sleep(0.1)
        finally:
            end(process)
        return points


def end(process):
    """Kills the command together with `measure`, which started it."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
