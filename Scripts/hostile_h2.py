#!/usr/bin/env python3
"""A hostile HTTP/2 server, of raw frames over TLS.

As a program it serves the files of a folder in named ways: /CASE/FILE is FILE as the case sends it, /plain/FILE as it should be.
As a module it has `SecureOrigin`, which sends the responses of `hostile_origin` over HTTP/2 in frames that it mutates.
"""

import os
import pathlib
import re
import select
import socket
import ssl
import struct
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from hostile_origin import Origin, damage  # noqa: E402

try:
    import hpack
except ImportError:
    # Debian's package is for its own Python; any other can read it too.
    sys.path.append("/usr/lib/python3/dist-packages")
    import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM = ACK = 1
END_HEADERS, PADDED = 4, 8
NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM, HTTP_1_1_REQUIRED = 0, 2, 7, 8, 11, 13
MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = 3, 4, 5
FRAME = 16384


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def number(value, bits, first):
    """An integer of HPACK (RFC 7541 §5.1)."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    data, value = bytearray([first | most]), value - most
    while value >= 128:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def field(name, value, first=0x00):
    """A literal field; nothing is checked."""
    return bytes([first]) + number(len(name), 7, 0) + name + number(len(value), 7, 0) + value


def section(status, fields=()):
    return field(b":status", status) + b"".join(field(name, value) for name, value in fields)


def reset(stream, code):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def goaway(last, code):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, code))


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def head(stream, block, flags=END_HEADERS):
    """A header section, with as many CONTINUATION frames as it needs."""
    pieces = [block[at : at + FRAME] for at in range(0, len(block), FRAME)] or [b""]
    frames = [frame(HEADERS if n == 0 else CONTINUATION, 0, stream, piece) for n, piece in enumerate(pieces)]
    frames[0] = frame(HEADERS, flags & ~END_HEADERS | (END_HEADERS if len(frames) == 1 else 0), stream, pieces[0])
    if len(frames) > 1:
        frames[-1] = frame(CONTINUATION, END_HEADERS, stream, pieces[-1])
    return b"".join(frames)


class Data:
    """Content, which goes out as the windows of the client allow."""

    def __init__(self, content, ends=True, padding=0, size=FRAME - 256):
        # Without copies of what is left.
        self.content, self.ends, self.padding, self.size = memoryview(content), ends, padding, size


class Close(Exception):
    pass


class Connection:
    """The server's end of one connection: a thread, and a generator for each stream.

    A generator yields bytes to be sent as they are, `Data`, or a number of seconds.
    """

    def __init__(self, s, respond, greeting=settings((MAX_CONCURRENT_STREAMS, 100))):
        self.s, self.respond, self.data = s, respond, b""
        self.decoder = hpack.Decoder()
        self.decoder.max_header_list_size = 1 << 20
        self.window, self.first_window = 65535, 65535
        self.windows, self.streams, self.waiting = {}, {}, {}
        self.count = 0
        self.greeting = greeting
        self.is_ending = False

    def run(self, patience=20):
        while len(self.data) < len(PREFACE):
            self.data += self.receive(patience)
        if not self.data.startswith(PREFACE):
            return
        self.data = self.data[len(PREFACE) :]
        self.s.sendall(self.greeting)
        while not (self.is_ending and not self.streams):
            self.take_frames()
            if not self.advance() or self.s.pending() or select.select([self.s], [], [], 0)[0]:
                part = self.receive(self.pause(patience))
                self.data += part or b""

    def pause(self, patience):
        """How long there is nothing to do but to receive."""
        return min([patience, *[max(0, until - time.monotonic()) for until in self.waiting.values()]])

    def receive(self, patience):
        """What arrives, nothing after the time; the client's end is this one's."""
        if not self.s.pending() and not select.select([self.s], [], [], patience)[0]:
            if patience >= 20:
                raise Close
            return b""
        part = self.s.recv(65536)
        if not part:
            raise Close
        return part

    def take_frames(self):
        while len(self.data) >= 9:
            length = int.from_bytes(self.data[:3], "big")
            if len(self.data) < 9 + length:
                return
            kind, flags = self.data[3], self.data[4]
            stream = int.from_bytes(self.data[5:9], "big") & 0x7FFFFFFF
            payload, self.data = self.data[9 : 9 + length], self.data[9 + length :]
            self.take(kind, flags, stream, payload)

    def take(self, kind, flags, stream, payload):
        if kind == HEADERS:
            # The client pads nothing and its sections fit into a frame.
            block = payload[5:] if flags & 0x20 else payload
            fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in self.decoder.decode(block, raw=True)}
            self.count += 1
            self.windows[stream] = self.first_window
            self.streams[stream] = [self.respond(self, stream, fields), None]
        elif kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack_from(">HI", payload, at)
                if name == INITIAL_WINDOW_SIZE:
                    for key in self.windows:
                        self.windows[key] += value - self.first_window
                    self.first_window = value
            self.s.sendall(frame(SETTINGS, ACK))
        elif kind == PING and not flags & ACK:
            self.s.sendall(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            more = int.from_bytes(payload, "big")
            if stream == 0:
                self.window += more
            elif stream in self.windows:
                self.windows[stream] += more
        elif kind == RST_STREAM:
            self.streams.pop(stream, None)
            self.waiting.pop(stream, None)
        elif kind == GOAWAY:
            self.is_ending = True

    def advance(self):
        """Goes on with each stream; returns whether any of them can go on at once."""
        is_busy = False
        for stream, entry in list(self.streams.items()):
            if stream in self.waiting and self.waiting[stream] > time.monotonic():
                continue
            self.waiting.pop(stream, None)
            generator, rest = entry
            if rest is None:
                try:
                    rest = next(generator)
                except StopIteration:
                    self.streams.pop(stream, None)
                    continue
            entry[1] = self.send(stream, rest)
            is_busy = is_busy or entry[1] is not rest and stream not in self.waiting
        return is_busy

    def send(self, stream, item):
        """Sends some of it; returns the rest, for which there is no window."""
        if isinstance(item, (int, float)):
            self.waiting[stream] = time.monotonic() + item
            return None
        if isinstance(item, bytes):
            self.s.sendall(item)
            return None
        size = min(len(item.content), item.size, self.window - item.padding - 1, self.windows[stream] - item.padding - 1)
        if size <= 0 < len(item.content):
            return item
        size = max(0, size)
        piece, rest = bytes(item.content[:size]), item.content[size:]
        ends = END_STREAM if item.ends and not rest else 0
        padded = bytes([item.padding]) + piece + bytes(item.padding) if item.padding else piece
        self.s.sendall(frame(DATA, ends | (PADDED if item.padding else 0), stream, padded))
        self.window -= len(padded)
        self.windows[stream] -= len(padded)
        return Data(rest, item.ends, item.padding, item.size) if rest else None


def context(certificate, key):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate, key)
    made.set_alpn_protocols(["h2", "http/1.1"])
    return made


# --- named cases -------------------------------------------------------------------------------------------------------------

CASES = {}


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


class File:
    """A requested file: the content of the response and its head."""

    def __init__(self, path, wanted, count):
        self.whole = path.read_bytes()
        self.count = count
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted)
        self.start = int(match[1]) if match else 0
        self.end = min(int(match[2]) + 1, len(self.whole)) if match and match[2] else len(self.whole)
        self.content = self.whole[self.start : self.end]
        self.status = b"206" if match else b"200"

    def block(self, length=None, extra=()):
        size = len(self.content) if length is None else length
        fields = [(b"etag", b'"%d"' % len(self.whole)), (b"content-length", b"%d" % size)]
        if self.status == b"206":
            fields.append((b"content-range", b"bytes %d-%d/%d" % (self.start, self.end - 1, len(self.whole))))
        return section(self.status, [*fields, *extra])

    def response(self, stream):
        yield head(stream, self.block())
        yield Data(self.content)


@case
def plain(connection, stream, file):
    yield from file.response(stream)


@case
def rst0(connection, stream, file):
    """Half of the content, then a reset that claims to be no error."""
    yield head(stream, file.block())
    yield Data(file.content[: len(file.content) // 2], ends=False)
    yield reset(stream, NO_ERROR)


@case
def rst0_at_end(connection, stream, file):
    """The whole content without a length, and a reset instead of the end."""
    yield head(stream, section(b"200"))
    yield Data(file.content, ends=False)
    yield reset(stream, NO_ERROR)


@case
def rst_after(connection, stream, file):
    """A reset after the end, as servers send it that want no more of a request."""
    yield from file.response(stream)
    yield reset(stream, NO_ERROR if file.count % 2 else CANCEL)


@case
def rst_once(connection, stream, file):
    """The first response is reset in the middle, the next is not."""
    if file.count > 1:
        yield from file.response(stream)
        return
    yield head(stream, file.block())
    yield Data(file.content[: len(file.content) // 2], ends=False)
    yield reset(stream, INTERNAL_ERROR)


@case
def early_end(connection, stream, file):
    """The head ends the stream, though it states a length."""
    yield head(stream, file.block(), END_HEADERS | END_STREAM)


@case
def long(connection, stream, file):
    """More than the stated length."""
    yield head(stream, file.block())
    yield Data(file.content + b"more" * 1000)


@case
def short(connection, stream, file):
    """Less than the stated length, and properly ended."""
    yield head(stream, file.block(len(file.content) + 5000))
    yield Data(file.content)


@case
def two_heads(connection, stream, file):
    """A second final head instead of trailers."""
    yield head(stream, file.block())
    yield head(stream, file.block())
    yield Data(file.content)


@case
def data_first(connection, stream, file):
    """Content before the head."""
    yield Data(file.content, ends=False)
    yield head(stream, file.block(), END_HEADERS | END_STREAM)


@case
def interim(connection, stream, file):
    """Interim heads and trailers are allowed."""
    for _ in range(20):
        yield head(stream, section(b"103", [(b"link", b"</x>; rel=preload")]))
    yield head(stream, file.block())
    yield Data(file.content, ends=False)
    yield head(stream, field(b"x-checked", b"yes"), END_HEADERS | END_STREAM)


@case
def interim_flood(connection, stream, file):
    """Interim heads without end."""
    while True:
        yield head(stream, section(b"103", [(b"link", b"x" * 4000)])) * 20


@case
def continuations(connection, stream, file):
    """A head without end (CVE-2024-27316)."""
    yield frame(HEADERS, 0, stream, file.block())
    while True:
        yield frame(CONTINUATION, 0, stream, field(b"x", b"y" * 16000, 0x10))


@case
def empty_continuations(connection, stream, file):
    """A head without end, and without content."""
    yield frame(HEADERS, 0, stream, file.block())
    while True:
        yield frame(CONTINUATION, 0, stream) * 1000


@case
def bomb(connection, stream, file):
    """A few bytes that stand for many: a field in the table, and a byte for each of its copies."""
    block = file.block() + field(b"x", b"y" * 4000, 0x40) + bytes([0x80 | 62]) * 60_000
    yield head(stream, block)
    yield Data(file.content)


@case
def long_head(connection, stream, file):
    """A head of 100 KiB, which is allowed."""
    yield head(stream, file.block(extra=[(b"x-%d" % n, b"y" * 4000) for n in range(25)]))
    yield Data(file.content)


@case
def table_size(connection, stream, file):
    """A table larger than the client allows."""
    yield head(stream, number(1 << 20, 5, 0x20) + file.block())
    yield Data(file.content)


def flood(connection, stream, file, frames):
    yield head(stream, file.block())
    yield Data(file.content[: len(file.content) // 2], ends=False)
    while True:
        yield frames * 1000


@case
def settings_flood(connection, stream, file):
    yield from flood(connection, stream, file, settings((MAX_CONCURRENT_STREAMS, 100)))


@case
def ping_flood(connection, stream, file):
    yield from flood(connection, stream, file, frame(PING, 0, 0, b"12345678"))


@case
def pong_flood(connection, stream, file):
    yield from flood(connection, stream, file, frame(PING, ACK, 0, b"\0" * 7 + b"\1"))


@case
def empty_data(connection, stream, file):
    yield from flood(connection, stream, file, frame(DATA, 0, stream))


@case
def padding_only(connection, stream, file):
    yield from flood(connection, stream, file, frame(DATA, PADDED, stream, b"\0"))


@case
def unknown(connection, stream, file):
    yield from flood(connection, stream, file, frame(0xBE, 0xFF, stream, b"unknown"))


@case
def window_flood(connection, stream, file):
    yield from flood(connection, stream, file, frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)))


@case
def priority_flood(connection, stream, file):
    yield from flood(connection, stream, file, frame(PRIORITY, 0, stream, struct.pack(">IB", 0, 15)))


@case
def shrink(connection, stream, file):
    """The number of streams shrinks to one while there are many."""
    yield settings((MAX_CONCURRENT_STREAMS, 1))
    yield from file.response(stream)


@case
def no_streams(connection, stream, file):
    """No further stream is allowed, and each that comes is refused."""
    yield settings((MAX_CONCURRENT_STREAMS, 0))
    yield reset(stream, REFUSED_STREAM)


@case
def streams_gone(connection, stream, file):
    """A response, and no further stream is allowed on the connection."""
    yield settings((MAX_CONCURRENT_STREAMS, 0))
    yield from file.response(stream)


@case
def refused_once(connection, stream, file):
    """Each file is refused at first."""
    if file.count == 1:
        yield reset(stream, REFUSED_STREAM)
    else:
        yield from file.response(stream)


@case
def goaway0(connection, stream, file):
    """Each connection goes away and has handled nothing."""
    yield goaway(0, NO_ERROR)


@case
def goaway_often(connection, stream, file):
    """Each connection serves one file and goes away; it has not handled the others."""
    if connection.count == 1:
        yield goaway(stream, NO_ERROR)
        yield from file.response(stream)
        connection.is_ending = True


@case
def goaway_calm(connection, stream, file):
    yield goaway(0, ENHANCE_YOUR_CALM)


@case
def calm_once(connection, stream, file):
    """Too many requests at first."""
    if file.count == 1:
        yield reset(stream, ENHANCE_YOUR_CALM)
    else:
        yield from file.response(stream)


@case
def required(connection, stream, file):
    """It insists on HTTP/1.1."""
    yield reset(stream, HTTP_1_1_REQUIRED)


@case
def goaway_required(connection, stream, file):
    yield goaway(0, HTTP_1_1_REQUIRED)


@case
def push(connection, stream, file):
    """A promise, which the client has forbidden."""
    promise = field(b":method", b"GET") + field(b":path", b"/x") + field(b":scheme", b"https") + field(b":authority", b"127.0.0.1")
    yield frame(PUSH_PROMISE, END_HEADERS, stream, struct.pack(">I", 2) + promise)
    yield from file.response(stream)


@case
def unrequested(connection, stream, file):
    """A response on a stream of the server's."""
    yield head(stream + 1, file.block())
    yield from file.response(stream)


@case
def window_zero(connection, stream, file):
    """The client may send no content, and has none to send."""
    yield settings((INITIAL_WINDOW_SIZE, 0))
    yield from file.response(stream)


@case
def window_overflow(connection, stream, file):
    yield frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7FFFFFFF))
    yield from file.response(stream)


@case
def window_ignored(connection, stream, file):
    """Content beyond what the client has allowed, and beyond what it can hold."""
    yield head(stream, section(b"200"))
    yield b"".join(frame(DATA, 0, stream, file.content[:1024].ljust(FRAME)) for _ in range(4096))


@case
def frame_too_long(connection, stream, file):
    yield head(stream, file.block())
    yield frame(DATA, 0, stream, b"x" * (FRAME + 1))


@case
def interleaved(connection, stream, file):
    """Small pieces of all files in turns, with padding."""
    yield head(stream, file.block())
    size, padding = 100 + stream * 7 % 1500, stream * 3 % 256
    yield Data(file.content, size=size, padding=padding)


@case
def late(connection, stream, file):
    """The response comes after a second."""
    yield 1.0
    yield from file.response(stream)


@case
def slow_head(connection, stream, file):
    """The head comes in three frames, with time in between."""
    block = file.block()
    # No frame of another stream may come between them.
    for number, piece in enumerate([block[:7], block[7:20], block[20:]]):
        time.sleep(0.05)
        connection.s.sendall(frame(CONTINUATION if number else HEADERS, END_HEADERS if number == 2 else 0, stream, piece))
    yield Data(file.content)


@case
def mixed_head(connection, stream, file):
    """A frame of its own within the head."""
    block = file.block()
    yield frame(HEADERS, 0, stream, block[:7]) + frame(PING, 0, 0, b"12345678") + frame(CONTINUATION, END_HEADERS, stream, block[7:])


@case
def silent(connection, stream, file):
    """No response."""
    while True:
        yield 60


@case
def stalled(connection, stream, file):
    """Half of the content, then nothing."""
    yield head(stream, file.block())
    yield Data(file.content[: len(file.content) // 2], ends=False)
    while True:
        yield 60


@case
def closed(connection, stream, file):
    """Half of the content, and then the connection ends."""
    yield head(stream, file.block())
    yield Data(file.content[: len(file.content) // 2], ends=False)
    raise Close


@case
def garbage(connection, stream, file):
    """Bytes that are no frames."""
    yield head(stream, file.block())
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" * 100


class CaseServer:
    """Serves the cases; prints a line for each request: its protocol, its connection, its path."""

    def __init__(self, port, certificate, key, folder):
        self.context = context(certificate, key)
        self.folder = pathlib.Path(folder)
        self.counts = {}
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=128)

    def accept(self):
        index = 0
        while True:
            s, _ = self.listener.accept()
            index += 1
            threading.Thread(target=self.serve, args=(s, index), daemon=True).start()

    def serve(self, plain_socket, index):
        with plain_socket:
            plain_socket.settimeout(20)
            try:
                with self.context.wrap_socket(plain_socket, server_side=True) as s:
                    if s.selected_alpn_protocol() == "h2":
                        Connection(s, lambda connection, stream, fields: self.respond(connection, stream, fields, index)).run()
                    else:
                        self.serve_old(s, index)
            except (OSError, Close, ValueError):
                pass

    def file(self, path, wanted, protocol, index):
        _, name, rest = path.split("/", 2)
        with self.lock:
            self.counts[path] = self.counts.get(path, 0) + 1
            count = self.counts[path]
        # One write: the lines of threads would mix.
        os.write(1, f"{protocol} {index} {path}\n".encode())
        return name, File(self.folder / rest, wanted, count)

    def respond(self, connection, stream, fields, index):
        name, file = self.file(fields[":path"], fields.get("range", ""), "h2", index)
        return CASES[name](connection, stream, file)

    def serve_old(self, s, index):
        """Over HTTP/1.1 every file is as it should be."""
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                part = s.recv(65536)
                if not part:
                    return
                data += part
            request, data = data.split(b"\r\n\r\n", 1)
            found = re.search(r"(?im)^range: *(.*?)\r?$", request.decode())
            _, file = self.file(request.decode().split(" ")[1], found[1] if found else "", "http/1.1", index)
            lines = [b"HTTP/1.1 %s OK" % file.status, b'ETag: "%d"' % len(file.whole), b"Content-Length: %d" % len(file.content)]
            if file.status == b"206":
                lines.append(b"Content-Range: bytes %d-%d/%d" % (file.start, file.end - 1, len(file.whole)))
            s.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + file.content)


# --- by chance ---------------------------------------------------------------------------------------------------------------


def benign(dice, stream):
    """A frame that may come at any time and changes nothing."""
    return dice.choice([
        frame(PING, 0, 0, dice.randbytes(8)), frame(0xB0 + dice.randrange(16), dice.randrange(256), stream, dice.randbytes(dice.randrange(40))),
        settings((0xF000 + dice.randrange(100), dice.getrandbits(32))), settings((MAX_CONCURRENT_STREAMS, dice.choice([1, 2, 100, 2**32 - 1]))),
        frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)), frame(PRIORITY, 0, stream, struct.pack(">IB", 0, dice.randrange(256))),
    ])


def malign(dice, stream):
    """What breaks the rules, or is of no use."""
    kind = dice.choice([*range(11), 0xBE])
    target = dice.choice([0, stream, stream + 1, stream + 2, 1, 2**31 - 1])
    payload = dice.choice([b"", b"\0" * 4, struct.pack(">I", dice.choice([0, 1, 2**31 - 1, 2**32 - 1])), dice.randbytes(dice.choice([5, 6, 8, 100, FRAME + 1]))])
    made = frame(kind, dice.choice([0, 1, 4, 5, 8, 32, 255]), target, payload)
    # The memory of this process is that of a child until its exec, and counts as the child's.
    return dice.choice([made, made * (dice.choice([2, 2000]) if len(made) < 200 else 2), goaway(dice.choice([0, stream, 2**31 - 1]), dice.choice([0, 1, 11, 13, 99])),
                        reset(stream, dice.choice([0, 1, 2, 7, 8, 11, 13, 99])), damage(dice, made), dice.randbytes(dice.randrange(1, 200))])


class SecureOrigin(Origin):
    """`Origin` over TLS, with HTTP/2 for clients that offer it."""

    scheme = "https"

    def __init__(self, certificate, key, bait=""):
        self.context = context(certificate, key)
        self.trust = ["--cacert", certificate]
        super().__init__(bait)

    def serve(self, plain_socket):
        plain_socket.settimeout(20)
        try:
            s = self.context.wrap_socket(plain_socket, server_side=True)
        except (OSError, ValueError):
            return plain_socket.close()
        if s.selected_alpn_protocol() != "h2":
            return super().serve(s)
        with s:
            try:
                Connection(s, self.stream).run()
            except (OSError, Close, ValueError, hpack.HPACKError):
                pass

    def stream(self, connection, stream, fields):
        path = fields.get(":path", "").split("?")[0]
        resource = self.resources.get(path)
        if resource is None:
            yield head(stream, section(b"404", [(b"content-length", b"0")]), END_HEADERS | END_STREAM)
            return
        r, dice = self.response(resource, path, fields.get("range", ""))
        lies = not resource.truthful
        for item in self.frames(connection, stream, r, dice, lies):
            if dice.random() < resource.garnish / 4:
                yield benign(dice, stream)
            if lies and dice.randrange(6) == 0:
                yield malign(dice, stream)
            if lies and isinstance(item, bytes) and dice.randrange(8) == 0:
                item = damage(dice, item)
            if resource.pace:
                yield resource.pace
            yield item

    def frames(self, connection, stream, r, dice, lies):
        if r.cut == -1:
            yield from self.end(connection, stream, r, dice)
            return
        for _ in range(min(r.before.count(b"HTTP/1.1"), 2000)):
            yield head(stream, section(dice.choice([b"100", b"103"]), [(b"link", b"</x>")]))
        fields = [(name.lower(), value.strip() if not lies else value) for name, value in r.fields]
        fields = [(name, value) for name, value in fields if lies or name not in (b"connection", b"transfer-encoding")]
        has_body = r.status not in (204, 304)
        if r.framing == "length" and has_body:
            fields.append((b"content-length", b"%d" % len(r.body)))
        body = r.body if has_body else b""
        body = memoryview(body if r.cut is None else body[: r.cut])
        block = field(b":status", b"%03d" % r.status)
        block += b"".join(field(name, value, dice.choice([0x00, 0x10, 0x40])) for name, value in fields)
        is_bare = not body and r.cut is None and dice.randrange(2) == 0
        ends = r.cut is None
        yield head(stream, block, END_HEADERS | (END_STREAM if is_bare else 0))
        if is_bare:
            return
        has_trailers = ends and dice.randrange(6) == 0
        while body:
            size = dice.choice([1, 100, FRAME - 256, 1 << 18, 1 << 20])
            piece, body = body[:size], body[size:]
            padding = dice.choice([0, 0, 0, 1, 255])
            yield Data(piece, ends and not body and not has_trailers, padding, dice.choice([FRAME - 256, 1000]) if len(piece) > 5000 else FRAME - 256)
        if has_trailers:
            yield head(stream, field(b"x-trailer", b"y"), END_HEADERS | END_STREAM)
        elif not r.body or not has_body:
            yield Data(b"", ends)
        yield from self.end(connection, stream, r, dice)

    def end(self, connection, stream, r, dice):
        """How the response or its connection ends, as `Origin.finish` does it."""
        if r.end == "stall":
            yield 15
        if r.end == "reset":
            yield reset(stream, dice.choice([NO_ERROR, INTERNAL_ERROR, CANCEL, ENHANCE_YOUR_CALM]))
            if dice.randrange(2):
                raise Close
        if r.end == "close":
            yield goaway(stream, NO_ERROR)
            connection.is_ending = True
            if r.cut is not None:
                raise Close


if __name__ == "__main__":
    CaseServer(int(sys.argv[1]), *sys.argv[2:5]).accept()
