"""An HTTP origin for attacks on the client: it serves versions of known content in mutated responses.

A resource is either truthful or lying. A truthful one breaks connections, ignores ranges, fails, redirects and varies the form
of its responses, but each byte that it sends is a byte of one version at the declared offset, with that version's validators: a
client that reports success must have one version. A lying one sends anything; a client must only survive it.
"""

import email.utils
import random
import re
import socket
import struct
import threading
import time

NUMBERS = [0, 1, -1, 2**31 - 1, 2**31, 2**48 - 1, 2**48, 2**53, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30]
NAMES = ["x.bin", "../x", "/etc/passwd", "..", ".", "", ".hidden", "-rf", "a/b", "a\\b", "x\0y", "a\r\nb", "\u202egnp.exe", "é" * 200,
         "n" * 300, "CON", "x.part", "x.pawl", "%2e%2e%2fx", " x ", "x" * 255, "\udcff", "~", "a\u061cb", "x.bin.part"]


def damage(dice, data, most=4):
    """The data after a few changes of bytes and pieces."""
    data = bytearray(data)
    for _ in range(dice.randint(1, most)):
        if not data:
            break
        place = dice.randrange(len(data))
        action = dice.randrange(7)
        if action == 0:
            data[place] = dice.randrange(256)
        elif action == 1:
            del data[place : place + dice.randrange(1, 20)]
        elif action == 2:
            pieces = [b"\r\n", b"\r\n\r\n", b"\0", b"\n", b" ", b":", b";", b",", b"-", b"\xff", b"Content-Length: 3\r\n"]
            data[place:place] = dice.choice(pieces)
        elif action == 3:
            data[place:place] = data[place : place + dice.randrange(1, 50)]
        elif action == 4:
            data = data[:place]
        elif action == 5:
            data[place:place] = str(dice.choice(NUMBERS)).encode()
        else:
            data[place] ^= 1 << dice.randrange(8)
    return bytes(data)


def disposition(dice):
    name = dice.choice(NAMES).encode("utf-8", "surrogateescape").replace(b"\r\n", dice.choice([b"", b"\t"])).replace(b"\0", b"")
    forms = [b'attachment; filename="%s"', b"attachment; filename=%s", b"inline; filename*=UTF-8''%s", b"attachment; filename*=%s",
             b"%s", b'attachment; filename="%s', b'attachment; filename="\\"%s"; filename*=utf-8\'\'x']
    return dice.choice(forms).replace(b"%s", name)


class Resource:
    """A path of the origin: what it serves now, and what it has served."""

    def __init__(self, seed, path, size, truthful):
        dice = random.Random(seed)
        self.seed, self.path, self.truthful = seed, path, truthful
        self.versions = [random.Random(f"{seed}-{n}").randbytes(max(0, size + n * dice.choice([0, 1, -1, 5000]))) for n in range(3)]
        self.current = 0
        self.validators = dice.choice(["both", "tag", "weak", "date", "none", "turning"])
        self.has_date = dice.randrange(4) > 0
        self.has_ranges = dice.randrange(5) > 0
        self.framing = dice.choice(["length", "length", "chunked", "close"])
        self.faults = dice.choice([0, 0.1, 0.3, 0.6])
        self.garnish = dice.choice([0, 0.2, 0.7])
        self.type = dice.choice([b"application/octet-stream", b"application/zip", b"", b"text/plain"])
        self.disposition = disposition(dice) if dice.randrange(4) == 0 else None
        self.pace = dice.choice([0, 0, 0, 0.001, 0.01])
        self.fixed = None
        self.sent = {}
        self.turn = 0
        self.lock = threading.Lock()

    def contents(self):
        """What may be in a finished file."""
        with self.lock:
            return list(self.sent.values())

    def note(self, data):
        with self.lock:
            self.sent[hash(data)] = data

    def fields(self, version, dice):
        fields = []
        if self.validators in ("both", "tag"):
            fields.append((b"ETag", b'"v%d"' % version))
        if self.validators == "weak":
            fields.append((b"ETag", b'W/"v%d"' % version))
        if self.validators == "turning":
            fields.append((b"ETag", b'"%d"' % dice.getrandbits(60)))
        if self.validators in ("both", "date", "turning"):
            fields.append((b"Last-Modified", email.utils.formatdate(1.6e9 + 86400 * version, usegmt=True).encode()))
        if self.has_date:
            fields.append((b"Date", email.utils.formatdate(usegmt=True).encode()))
        if self.type:
            fields.append((b"Content-Type", self.type))
        if self.disposition is not None:
            fields.append((b"Content-Disposition", self.disposition))
        return fields


class Response:
    """Pieces to send, and how the connection ends."""

    def __init__(self):
        self.status, self.reason, self.fields, self.body = 200, b"OK", [], b""
        self.framing = "length"
        self.end = "keep"
        self.cut = None
        self.pace = 0
        self.before, self.after = b"", b""
        self.protocol = b"HTTP/1.1"


def asked_range(text, size):
    """The requested range as [start, end), or None for the whole."""
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", text.strip()) if text else None
    if not match or match[1] == match[2] == "":
        return None
    if match[1] == "":
        return max(0, size - int(match[2])), size
    end = min(size, int(match[2]) + 1) if match[2] else size
    return int(match[1]), end


def truthful(resource, dice, wanted, origin):
    """A response that deceives nobody about the bytes that it sends."""
    r = Response()
    r.pace = resource.pace
    version = resource.current
    whole = resource.versions[version]
    r.framing = resource.framing
    fault = dice.random() < resource.faults
    kind = dice.choice(["cut", "cut", "reset", "status", "busy", "ignore", "short", "416", "redirect", "page", "late", "stall",
                        "close", "silent", "multipart"]) if fault else ""
    span = asked_range(wanted, len(whole)) if resource.has_ranges and kind != "ignore" else None
    r.fields = resource.fields(version, dice)
    if kind in ("status", "busy"):
        r.status = dice.choice([500, 502, 404, 403, 410, 408, 401, 304, 204]) if kind == "status" else dice.choice([429, 503])
        r.body = b"no" if r.status not in (204, 304) else b""
        r.framing = "length"
        after = dice.choice([b"0", b"1", b"-1", b"x", b"9" * 30, b"Thu, 01 Jan 1970 00:00:00 GMT", b"Fri, 31 Dec 9999 23:59:59 GMT"])
        r.fields = [(b"Retry-After", after)] if kind == "busy" or dice.randrange(3) == 0 else []
        return r
    if kind == "redirect":
        r.status, r.reason, r.framing = dice.choice([301, 302, 303, 307, 308]), b"Moved", "length"
        base = origin.url("").encode()
        path = resource.path.encode()
        r.fields = [(b"Location", dice.choice([path, base + path, base + path + b"#x", b"?a=b", path + b"?" + b"q" * 2000]))]
        return r
    if kind == "page":
        r.body = b"<!DOCTYPE html><html><title>%d</title>log in</html>" % dice.getrandbits(60)
        r.fields = [(b"Content-Type", b"text/html; charset=utf-8")]
        r.framing = "length"
        resource.note(r.body)
        return r
    if kind == "416" or span and span[0] >= len(whole):
        r.status, r.reason, r.framing = 416, b"Range Not Satisfiable", "length"
        r.fields = [(b"Content-Range", b"bytes */%d" % len(whole))] if dice.randrange(3) else []
        return r
    resource.note(whole)
    if span:
        start, end = span
        if kind == "short" and end - start > 1:
            end = start + dice.randint(1, end - start)
        if kind == "late" and end - start > 1:
            start = dice.randrange(start, end)
        r.status, r.reason, r.body = 206, b"Partial Content", whole[start:end]
        declared = b"bytes %d-%d/%d" % (start, end - 1, len(whole))
        if kind == "multipart":
            mark = b"%x" % dice.getrandbits(60)
            r.body = b"--%s\r\nContent-Range: %s\r\n\r\n%s\r\n--%s--\r\n" % (mark, declared, r.body, mark)
            r.fields = [f for f in r.fields if f[0] != b"Content-Type"] + [(b"Content-Type", b"multipart/byteranges; boundary=" + mark)]
        else:
            r.fields.append((b"Content-Range", declared))
    else:
        r.body = whole
        if dice.randrange(3):
            r.fields.append((b"Accept-Ranges", b"bytes" if resource.has_ranges else b"none"))
    if kind in ("cut", "reset") and (r.framing != "close" or r.status == 206):
        r.cut = dice.randrange(len(r.body) + 1)
        r.end = "reset" if kind == "reset" else "close"
    if kind == "stall":
        r.cut, r.end = dice.randrange(len(r.body) + 1), "stall"
        if r.framing == "close" and r.status == 200:
            r.framing = "length"
    if kind == "silent":
        r.cut, r.end = -1, dice.choice(["close", "reset"])
    if kind == "close":
        r.end = "close"
    return r


def dressed(resource, r, dice):
    """The response in one of the forms that HTTP/1 allows for it."""
    if dice.random() >= resource.garnish:
        return
    for _ in range(dice.randint(1, 4)):
        kind = dice.randrange(10)
        if kind == 0:
            r.before += dice.choice([b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"])
        elif kind == 1:
            r.fields.append((b"Set-Cookie", dice.choice([b"a=b", b"a=; Path=/; Domain=.", b"=" * 3000, b"s=%d; Max-Age=99999999999" % dice.getrandbits(30)])))
        elif kind == 2:
            r.fields += [(b"X-%d" % n, b"y" * dice.randrange(100)) for n in range(dice.choice([1, 50]))]
        elif kind == 3:
            r.fields = [(dice.choice([name.lower(), name.upper(), name]), dice.choice([b"  ", b"", b"\t"]) + value + b" ") for name, value in r.fields]
        elif kind == 4:
            r.reason = dice.choice([b"", b"\xff\xfe", b"a b c" * 50])
        elif kind == 5:
            dice.shuffle(r.fields)
        elif kind == 6 and r.end == "keep" and r.framing != "close":
            # A response that nobody requested is a lie: it may arrive just after the next request was sent, as its response.
            unrequested = [] if resource.truthful else [b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"]
            r.after, r.end = dice.choice([*unrequested, b"\r\n", b"x" * 1000]), "close"
        elif kind == 7:
            r.fields.append((b"Strict-Transport-Security", dice.choice([b"max-age=0", b"x", b"max-age=99999999999999999999"])))
        elif kind == 8:
            r.fields.append((b"Connection", dice.choice([b"close", b"keep-alive", b"x, y"])))
            r.end = "close" if r.end == "keep" else r.end
        else:
            r.fields.append((b"Alt-Svc", b'h2=":1"; ma=9999'))


def lying(resource, r, dice, origin):
    """What no honest server sends."""
    size = len(r.body)
    wrong = dice.choice([*NUMBERS, size + 1, size - 1, size // 2])
    kind = dice.randrange(14)
    if kind == 0:
        r.fields = [f for f in r.fields if f[0] != b"Content-Range"]
        r.fields.append((b"Content-Range", b"bytes %d-%d/%d" % (dice.choice([wrong, 0, 5]), wrong, dice.choice([wrong, size]))))
        r.status = dice.choice([200, 206])
    elif kind == 1:
        r.fields.append((b"Content-Length", str(wrong).encode()))
        r.framing = dice.choice(["close", r.framing])
    elif kind == 2:
        r.fields.append((b"Transfer-Encoding", dice.choice([b"chunked", b"gzip, chunked", b"chunked, chunked", b"x"])))
    elif kind == 3:
        r.fields.append((b"Content-Encoding", dice.choice([b"gzip", b"br", b"x", b"gzip, gzip", b"zstd"])))
    elif kind == 4:
        r.status = dice.choice([0, 99, 101, 199, 299, 300, 304, 416, 407, 421, 451, 600, 999, 99999])
    elif kind == 5:
        base = origin.url("").encode()
        targets = [b"file://" + origin.bait.encode(), b"//", b"", b"http://", b"http://[::1", b"ftp://127.0.0.1:1/x", b"sftp://127.0.0.1:1/x",
                   b"javascript:x", b"http://127.0.0.1:99999/", base + b"/none", base + b"/\0", b"\xff", b"/" * 9000, b"http://a@b@c/", b"../" * 50,
                   b"gopher://127.0.0.1:1/", b"https://127.0.0.1:%d/" % origin.port, b"http://127.0.0.1:%d%s" % (origin.port, resource.path.encode())]
        r.status, r.fields = dice.choice([301, 302, 307, 308, 300]), [(b"Location", dice.choice(targets))] * dice.choice([1, 1, 2])
    elif kind == 6:
        dates = [b"Thu, 01 Jan 1970 00:00:00 GMT", b"Fri, 31 Dec 9999 23:59:59 GMT", b"Sun, 06 Nov 94 08:49:37 GMT", b"0", b"-1", b"9" * 40, b"\xff",
                 b"Mon, 99 Xxx 99999999999 99:99:99 GMT", b"Sunday, 06-Nov-94 08:49:37 GMT"]
        r.fields += [(dice.choice([b"Last-Modified", b"Date", b"Expires"]), dice.choice(dates)) for _ in range(2)]
    elif kind == 7:
        r.fields += [(dice.choice([b"ETag", b"Content-Type", b"Content-Disposition", b"Accept-Ranges", b"Content-MD5", b"Digest", b"Repr-Digest", b"Link"]),
                      dice.choice([b"", b'"', b"\0", b"x" * 20000, b'W/"', b";;;=", b"\xff" * 50, b'"a", "b"', str(wrong).encode()])) for _ in range(3)]
    elif kind == 8:
        r.fields += [(b"X-%d" % n, b"y" * 200) for n in range(dice.choice([500, 5000]))]
    elif kind == 9:
        r.before = b"HTTP/1.1 100 Continue\r\n\r\n" * dice.choice([20, 2000])
    elif kind == 10:
        r.framing, r.protocol = "close", dice.choice([b"HTTP/0.9", b"HTTP/1.0", b"HTTP/2", b"HTTP/9999999999", b"ICY", b""])
    elif kind == 11:
        r.body = damage(dice, r.body[:100000])
    elif kind == 12:
        r.fields.append((b"Retry-After", str(wrong).encode()))
        r.status = dice.choice([429, 503, 301, 200])
    else:
        r.after = dice.randbytes(dice.choice([1, 5000]))


def chunks(body, dice):
    at = 0
    while at < len(body):
        size = min(dice.choice([1, 17, 4096, 65536, 1 << 20]) if len(body) - at < 5000 else dice.choice([4096, 65536, 1 << 20]), len(body) - at)
        number = dice.choice([b"%x", b"%X", b"%06x"]) % size
        yield number + dice.choice([b"", b"", b";a=b", b' ; n="v"']) + b"\r\n" + body[at : at + size] + b"\r\n"
        at += size
    yield b"0\r\n" + dice.choice([b"", b"X-T: y\r\n"]) + b"\r\n"


class Origin:
    """Serves resources on a port of 127.0.0.1, a thread for each connection."""

    scheme = "http"
    trust = []

    def __init__(self, bait=""):
        self.resources = {}
        self.bait = bait
        self.stop = threading.Event()
        self.counts = {}
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, path):
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, s):
        with s:
            s.settimeout(20)
            data = b""
            try:
                while True:
                    while b"\r\n\r\n" not in data:
                        part = s.recv(65536)
                        if not part or len(data) > 1 << 20:
                            return
                        data += part
                    head, data = data.split(b"\r\n\r\n", 1)
                    if not self.respond(s, head.decode("latin-1")):
                        return
            except OSError:
                pass

    def respond(self, s, head):
        """Sends one response; returns whether the connection stays."""
        line = head.split("\r\n")[0].split(" ")
        path = line[1].split("?")[0].split("#")[0] if len(line) > 1 else ""
        resource = self.resources.get(path)
        if resource is None:
            s.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return True
        field = re.search(r"(?im)^range: *(.*?)\r?$", head)
        wanted = field[1] if field else ""
        r, dice = self.response(resource, path, wanted)
        return self.send(s, r, dice, not resource.truthful and dice.randrange(4) == 0, line[0] == "HEAD")

    def response(self, resource, path, wanted):
        """The next response to a request, and what it is drawn from."""
        # By the request, not by its turn: connections of one download run at the same time.
        with self.lock:
            key = (path, wanted)
            self.counts[key] = self.counts.get(key, 0) + 1
            dice = random.Random(f"{resource.seed}-{wanted}-{self.counts[key]}")
        if resource.fixed is not None:
            r = resource.fixed
        else:
            r = truthful(resource, dice, wanted, self)
            dressed(resource, r, dice)
            if not resource.truthful:
                for _ in range(dice.choice([0, 1, 1, 2])):
                    lying(resource, r, dice, self)
        return r, dice

    def send(self, s, r, dice, damaged, is_head):
        if r.cut == -1:
            return self.finish(s, r.end)
        fields = list(r.fields)
        if r.framing == "chunked":
            fields.append((b"Transfer-Encoding", b"chunked"))
        elif r.framing == "length" and r.status not in (204, 304):
            fields.append((b"Content-Length", b"%d" % len(r.body)))
        elif r.framing == "close":
            fields.append((b"Connection", b"close"))
            r.end = "close" if r.end == "keep" else r.end
        head = r.before + b"%s %03d %s\r\n" % (r.protocol, r.status, r.reason)
        head += b"".join(name + b":" + value + b"\r\n" if value[:1] == b" " else name + b": " + value + b"\r\n" for name, value in fields) + b"\r\n"
        body = r.body if r.status not in (204, 304) and not is_head else b""
        if damaged:
            head = damage(dice, head)
        s.sendall(head)
        body = body if r.cut is None else body[: r.cut]
        pieces = list(chunks(body, dice)) if r.framing == "chunked" else [body[at : at + 65536] for at in range(0, len(body), 65536)]
        if r.framing == "chunked" and (r.cut is not None or damaged):
            pieces = pieces[:-1] if not damaged else [damage(dice, b"".join(pieces[:40]))]
        for piece in pieces:
            s.sendall(piece)
            if r.pace:
                time.sleep(r.pace)
        if r.after:
            s.sendall(r.after)
        return self.finish(s, r.end)

    def finish(self, s, end):
        if end == "keep":
            return True
        if end == "reset":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if end == "stall":
            s.settimeout(15)
            s.recv(1)
        return False
