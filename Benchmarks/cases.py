"""The benchmark cases and their targets."""
import os, subprocess

GIB = 1 << 30
MIB = 1 << 20


class Case:
    """Programs that do the same: `commands` by name, all of which download `size` bytes, or are run `times` a round.

    nginx limits rates per second of the clock; each `paced` program starts at the beginning of a second.
    """

    def __init__(self, name, title, commands, unit, amount, size=0, targets=(), bare=None, times=1, traced=None, paced=False,
                 link=None):
        self.name, self.title, self.commands, self.paced = name, title, commands, paced
        # Round trip in ms, Mbit/s and loss in percent of the link that it is behind.
        self.link = link
        self.unit, self.amount, self.size = unit, amount, size
        self.targets, self.bare, self.times, self.traced = targets, bare, times, traced


class AtMost:
    """`what` ("wall" or "cpu") of one program against another's, or against the best peer's: by the best rounds and by the
    medians."""

    def __init__(self, program, what, factor, other=None):
        self.program, self.what, self.factor, self.other = program, what, factor, other

    def judge(self, rows, trace):
        name = self.other or "the best peer"
        word = {"wall": "wall", "cpu": "CPU"}[self.what]
        text = f"{self.program}: {word} ≤ {self.factor:g} × {name}"
        ratios = []
        for what in (self.what, f"middle_{self.what}"):
            mine, other = rows.get(self.program), rows.get(self.other) if self.other else best(rows, what)
            if not mine or not other:
                return text, None, "not measured"
            ratios.append(getattr(mine, what) / getattr(other, what))
        return text, max(ratios) <= self.factor, f"{ratios[0]:.2f} ({ratios[1]:.2f})"


class Fact:
    """Any other check: `judge` returns (holds, figures) for the rows and the trace."""

    def __init__(self, text, look):
        self.text, self.look = text, look

    def judge(self, rows, trace):
        try:
            return (self.text, *self.look(rows, trace))
        except (KeyError, AttributeError, ValueError):
            return self.text, None, "not measured"


def is_peer(name):
    return not name.startswith(("pawl", "limit", "openssl"))


def best(rows, what):
    return min((r for n, r in rows.items() if r and is_peer(n)), key=lambda r: getattr(r, what), default=None)


class Cases:
    def __init__(self, origin, pawl, limits, wan, python):
        self.origin, self.pawl, self.limits, self.wan = origin, [pawl, "get", "-q"], limits, wan
        # One with hf_transfer, or none.
        self.python = python

    def all(self):
        yield self.plain()
        yield self.tls()
        for connections in (4, 16):
            for tls in (False, True):
                yield self.segmented(connections, tls)
        yield self.capped()
        yield self.line()
        yield self.tail()
        for name, count, size in (("small", 10000, 4096), ("medium", 1000, 100 * 1024)):
            for tls in (False, True):
                yield self.many(name, count, size, tls)
        yield self.checksum()
        yield self.spread()
        yield self.overlap()
        yield self.start()
        yield self.start_tls()
        yield from self.far()
        if self.wan.url:
            yield self.wide()

    # One URL, many programs.

    def url(self, path, port=None, tls=False):
        port = port or (self.origin.tls if tls else self.origin.plain)
        return f"{'https' if tls else 'http'}://127.0.0.1:{port}/{path}"

    def get(self, address, *options, tls=False):
        return self.pawl + list(options) + (["--cacert", self.origin.cert] if tls else []) + [address]

    def aria(self, address, connections, tls=False):
        return ["aria2c", "-q", f"-x{connections}", f"-s{connections}", "-k1M", "--file-allocation=none", "-o", "big"] \
            + ([f"--ca-certificate={self.origin.cert}"] if tls else []) + [address]

    def axel(self, address, connections, tls=False):
        return ["axel", "-q", f"-n{connections}", "-o", "big"] + (["--insecure"] if tls else []) + [address]

    def lftp(self, address, get):
        return ["lftp", "-c", f"set ssl:ca-file {self.origin.cert}; {get} {address} -o big"]

    def curl(self, address, tls=False):
        return ["curl", "-s", "-o", "big"] + (["--cacert", self.origin.cert, "--http1.1"] if tls else []) + [address]

    def hf_transfer(self, address, connections, tls=False):
        """Many connections in Rust; it requests pieces of 10 MiB, and has no option for another trust store."""
        if not self.python or tls:
            return {}
        code = f"import hf_transfer; hf_transfer.download({address!r}, 'big', {connections}, 10 << 20)"
        return {f"hf_transfer ×{connections}": [self.python, "-c", code]}

    def bare(self, tls=False):
        if tls:
            return {"limit: SSL_read + pwrite": [self.limits, "tls", "127.0.0.1", str(self.origin.tls), "/big", "big",
                                                 self.origin.cert]}
        return {f"limit: {name}": [self.limits, how, "127.0.0.1", str(self.origin.plain), "/big", "big"]
                for how, name in (("copy", "recv + pwrite"), ("splice", "splice"))}

    def alone(self, tls):
        address = self.url("big", tls=tls)
        cert = [f"--ca-certificate={self.origin.cert}"] if tls else []
        return {
            "pawl -x1": self.get(address, "-x1", tls=tls),
            "curl": self.curl(address, tls),
            "wget": ["wget", "-q", "-O", "big"] + cert + [address],
            "wget2": ["wget2", "-q", "-O", "big"] + cert + (["--no-http2"] if tls else []) + [address],
            "aria2 -x1": self.aria(address, 1, tls),
            "lftp": self.lftp(address, "get"),
            "axel -n1": self.axel(address, 1, tls),
        }

    # The cases.

    def plain(self):
        return Case("plain", "One 1 GiB file, plain HTTP, one connection", self.alone(False) | self.bare(), "GiB", 1, GIB, [
            AtMost("pawl -x1", "cpu", 1),
            AtMost("pawl -x1", "cpu", 1.15, "limit: recv + pwrite"),
        ], bare="limit: recv + pwrite")

    def tls(self):
        limit = "limit: SSL_read + pwrite"
        return Case("tls", "One 1 GiB file, TLS, one connection", self.alone(True) | self.bare(True), "GiB", 1, GIB, [
            AtMost("pawl -x1", "cpu", 0.95),
            AtMost("pawl -x1", "wall", 0.95),
            AtMost("pawl -x1", "cpu", 1.15, limit),
        ], bare=limit)

    def segmented(self, connections, tls):
        address = self.url("big", tls=tls)
        pawl, aria = f"pawl -x{connections}", f"aria2 -x{connections}"
        commands = {
            pawl: self.get(address, f"-x{connections}", tls=tls),
            aria: self.aria(address, connections, tls),
            f"axel -n{connections}": self.axel(address, connections, tls),
            f"lftp pget -n{connections}": self.lftp(address, f"pget -n {connections}"),
            "curl": self.curl(address, tls),
        } | self.hf_transfer(address, connections, tls) | self.bare(tls)
        return Case(f"{'tls' if tls else 'plain'}-x{connections}",
                    f"One 1 GiB file, {'TLS' if tls else 'plain HTTP'}, {connections} connections",
                    commands, "GiB", 1, GIB, [AtMost(pawl, "cpu", 0.7, aria), AtMost(pawl, "wall", 1)],
                    bare="limit: SSL_read + pwrite" if tls else "limit: recv + pwrite")

    def capped(self):
        address = self.url("big", self.origin.capped)

        def reaches(rows, trace):
            goal = 0.8 * GIB / rows["pawl -x8"].wall
            after = next(a for (a, _, x), (b, _, y) in zip(trace, trace[5:]) if (y - x) / (b - a) >= goal)
            return after <= 2, f"after {after:.1f} s"

        return Case("capped", "One 1 GiB file, the server gives 20 MB/s a connection", {
            "pawl auto": self.get(address),
            "pawl -x8": self.get(address, "-x8"),
            "pawl -x16": self.get(address, "-x16"),
            "aria2 -x16": self.aria(address, 16),
            "axel -n16": self.axel(address, 16),
            "lftp pget -n16": self.lftp(address, "pget -n 16"),
        } | self.hf_transfer(address, 16), "GiB", 1, GIB, [
            AtMost("pawl -x16", "wall", 1, "aria2 -x16"),
            AtMost("pawl auto", "wall", 1, "aria2 -x16"),
            Fact("pawl auto: 80 % of what 8 connections give within 2 s", reaches),
        ], traced=("pawl auto", "127.0.0.1", self.origin.capped), paced=True)

    def line(self):
        address = self.url("quarter", self.origin.line.port)
        return Case("line", "One 256 MiB file, a line of 100 MiB/s that one connection fills", {
            "pawl auto": self.get(address),
            "pawl -x1": self.get(address, "-x1"),
            "aria2 -x16": self.aria(address, 16),
            "curl": self.curl(address),
        }, "GiB", 0.25, GIB // 4, [
            AtMost("pawl auto", "wall", 1.05),
            Fact("pawl auto: 1 or 2 connections", few),
        ], traced=("pawl auto", "127.0.0.1", self.origin.line.port))

    def tail(self):
        def was_slow(rows, trace):
            pawl, aria = (self.origin.slow(program) for program in ("Pawl", "aria2"))
            return pawl > 0 and aria > 0, f"Pawl {pawl}, aria2 {aria} in all runs"

        commands = {}
        for title, port in (("none slow", self.origin.capped), ("slow tail", self.origin.tail)):
            address = self.url("half", port)
            commands[f"pawl -x8, {title}"] = self.get(address, "-x8")
            commands[f"aria2 -x8, {title}"] = self.aria(address, 8)
        return Case("tail", "One 512 MiB file, 20 MB/s a connection; with a slow tail the fourth connection gets 20 KB/s",
                    commands, "GiB", 0.5, GIB // 2,
                    [AtMost("pawl -x8, slow tail", "wall", 1.15, "pawl -x8, none slow"),
                     Fact("there were slow connections", was_slow)], paced=True)

    def many(self, folder, count, size, tls):
        stem = f"{self.origin.folder}/{folder}-{'tls' if tls else 'plain'}"
        with open(stem + ".txt", "w") as listing, open(stem + ".curl", "w") as config:
            for number in range(count):
                address = self.url(f"{folder}/f{number}", tls=tls)
                listing.write(address + "\n")
                config.write(f'url = "{address}"\noutput = "f{number}"\n')
        trust = ["--cacert", self.origin.cert] if tls else []
        authority = [f"--ca-certificate={self.origin.cert}"] if tls else []
        limit = "limit: one epoll loop"
        return Case(folder + ("-tls" if tls else ""),
                    f"{count:,} files of {size // 1024} KiB, {'TLS' if tls else 'plain HTTP'}, input file", {
            "pawl -j16": self.pawl + ["-j16", "-i", stem + ".txt"] + trust,
            "pawl -j64": self.pawl + ["-j64", "-i", stem + ".txt"] + trust,
            "wget2 --max-threads=16": ["wget2", "-q", "--max-threads=16", "-i", stem + ".txt"] + authority,
            "curl -Z --parallel-max 16": ["curl", "-s", "-Z", "--parallel-max", "16", "-K", stem + ".curl"] + trust,
            "aria2 -j16": ["aria2c", "-q", "-j16", "--file-allocation=none", "-i", stem + ".txt"] + authority,
            limit: [self.limits, "many", "127.0.0.1", str(self.origin.tls if tls else self.origin.plain), f"/{folder}",
                    str(count), "16"] + ([self.origin.cert] if tls else []),
        }, "file", count, count * size, [
            AtMost("pawl -j16", "wall", 1, "wget2 --max-threads=16"),
            AtMost("pawl -j16", "cpu", 0.7, "wget2 --max-threads=16"),
            AtMost("pawl -j16", "cpu", 0.7, "curl -Z --parallel-max 16"),
            AtMost("pawl -j16", "cpu", 1.8, limit),
            Fact("pawl -j16: memory ≤ 32 MiB",
                 lambda rows, trace: (rows["pawl -j16"].memory <= 32, f"{rows['pawl -j16'].memory:.0f} MiB")),
        ], bare=limit)

    def checksum(self):
        return self.checked("checksum", "One 1 GiB file as fast as it comes, checksum on and off", "big", None, 1, own_time)

    def spread(self):
        """A hash reads from the front, but with many connections most of the file is complete only at the end."""
        return self.checked("checksum-x8", "One 512 MiB file at 8 × 20 MB/s, checksum on and off", "half",
                            self.origin.capped, 8, own_time)

    def overlap(self):
        return self.checked("overlap", "One 256 MiB file over a line of 100 MiB/s, checksum on and off", "quarter",
                            self.origin.line.port, 1,
                            lambda off, on, own: AtMost(on, "wall", 1.02, off))

    def checked(self, name, title, path, port, connections, target):
        address = self.url(path, port)
        count = f"-x{connections}"
        off, on, own = f"pawl {count}", f"pawl {count} --checksum", "openssl dgst -sha256"
        size = os.path.getsize(f"{self.origin.root}/{path}")
        return Case(name, title, {
            off: self.get(address, count),
            on: self.get(address, count, "--checksum", self.digest(path)),
            own: ["openssl", "dgst", "-sha256", "-out", "big", f"{self.origin.root}/{path}"],
        }, "GiB", size / GIB, 0, [target(off, on, own)])

    def digest(self, name):
        output = subprocess.run(["sha256sum", f"{self.origin.root}/{name}"], capture_output=True, text=True, check=True)
        return "sha-256=" + output.stdout.split()[0]

    def start(self):
        address = self.url("one")
        return Case("start", "Start-up", {
            "pawl --version": [self.pawl[0], "--version"],
            "curl --version": ["curl", "--version"],
            "pawl, a 1-byte file": self.get(address),
            "curl, a 1-byte file": ["curl", "-s", "-O", address],
        }, "run", 1, 0, [
            AtMost("pawl --version", "wall", 1, "curl --version"),
            AtMost("pawl, a 1-byte file", "wall", 1.2, "curl, a 1-byte file"),
        ], times=10)

    def start_tls(self):
        address = self.url("one", tls=True)
        return Case("start-tls", "Start-up, a 1-byte file over TLS", {
            "pawl": self.get(address, tls=True),
            "curl": ["curl", "-s", "-O", "--cacert", self.origin.cert, address],
        }, "run", 1, 0, [AtMost("pawl", "wall", 1, "curl")], times=10)

    def far(self):
        """Many files over a long link, with the options that a user gives: none."""
        for name, link, port, folder, count, size in (
                ("far-small", (40, 200, 0), 443, "small", 2000, 4096),
                ("far-medium", (40, 200, 0), 443, "pages", 200, 300_000),
                ("far-lossy-small", (150, 200, 0.5), 443, "small", 2000, 4096),
                ("far-lossy-medium", (150, 200, 0.5), 443, "pages", 200, 300_000),
                ("far-http1-small", (40, 200, 0), 444, "small", 2000, 4096),
                ("far-http1-medium", (40, 200, 0), 444, "pages", 200, 300_000)):
            stem = f"{self.origin.folder}/{name}"
            with open(stem + ".txt", "w") as listing, open(stem + ".curl", "w") as config:
                for number in range(count):
                    address = f"https://10.78.0.2:{port}/{folder}/f{number}"
                    listing.write(address + "\n")
                    config.write(f'url = "{address}"\noutput = "f{number}"\n')
            trust, authority = ["--cacert", self.origin.cert], [f"--ca-certificate={self.origin.cert}"]
            curl = ["curl", "-s", "-Z", "-K", stem + ".curl"] + trust
            many = "curl -Z --parallel-max 16"
            yield Case(name, f"{count:,} files of {size / 1000:.0f} KB, TLS{', HTTP/1.1' if port == 444 else ''}, over {link[0]} ms "
                       f"and {link[1]} Mbit/s, loss {link[2]} %, options by default", {
                "pawl": self.pawl + ["-i", stem + ".txt"] + trust,
                "curl -Z": curl,
                **({many: curl + ["--parallel-max", "16"]} if port == 444 else {}),
                "wget2": ["wget2", "-q", "-i", stem + ".txt"] + authority,
                "wget2 --max-threads=16": ["wget2", "-q", "--max-threads=16", "-i", stem + ".txt"] + authority,
                "aria2": ["aria2c", "-q", "-i", stem + ".txt"] + authority,
                "aria2 -j16": ["aria2c", "-q", "-j16", "-i", stem + ".txt"] + authority,
            }, "file", count, count * size, [AtMost("pawl", "wall", *((1.05, many) if port == 444 else (1,)))], link=link)

    def wide(self):
        wan = self.wan
        through = lambda command: wan.prefix + command
        targets = [AtMost(program, "wall", 1, "aria2 -x16") for program in ("pawl auto", "pawl -x16")]
        if wan.mbit and not wan.loss:
            ideal = wan.size * 8 / (wan.mbit * 1e6)
            targets.append(Fact(
                f"pawl auto: within 10 % of the link's rate",
                lambda rows, trace: (ideal / rows["pawl auto"].wall >= 0.9, f"{ideal / rows['pawl auto'].wall:.0%} of it")
            ))
        host, _, port = wan.url.split("/")[2].partition(":")
        link = f" of {wan.mbit:g} Mbit/s" if wan.mbit else ""
        return Case("wan", f"{wan.size / MIB:.0f} MiB over a given link{link}, loss {wan.loss:g} %", {
            "pawl auto": through(self.get(wan.url)),
            "pawl -x16": through(self.get(wan.url, "-x16")),
            "aria2 -x16": through(self.aria(wan.url, 16)),
            "curl": through(self.curl(wan.url)),
        }, "GiB", wan.size / GIB, wan.size, targets, traced=("pawl auto", host, int(port or 80)))


def few(rows, trace):
    most = max(count for _, count, _ in trace)
    return most <= 2, f"{most}"


def own_time(off, on, own):
    def look(rows, trace):
        extra = rows[on].wall - rows[off].wall
        return extra <= rows[own].wall, f"{extra:.2f} s more, the hash alone {rows[own].wall:.2f} s"

    return Fact("pawl: the checksum adds no more than the hash's own time", look)
