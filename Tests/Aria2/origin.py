"""A scripted HTTP and FTP server on loopback; the path says how to respond to a request.

A path is MODE/MODE/…/NAME: /norange/slow/a.bin is the content of a.bin, sent slowly by a server without ranges.
"""

import base64
import email.utils
import gzip
import hashlib
import os
import socket
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

SIZES = {"big.bin": 5 << 20, "mid.bin": 2_500_000, "empty.bin": 0, "tiny.txt": 12}
MODIFIED = 1_600_000_000


def content(name):
    """Bytes without a repeating window, different for each name; content.NAME.html and the like too."""
    size = SIZES.get(name, 100_001)
    out = bytearray()
    counter = 0
    while len(out) < size:
        out += hashlib.sha512(f"{name}:{counter}".encode()).digest()
        counter += 1
    return bytes(out[:size])


CACHE = {}


def cached(name):
    if name not in CACHE:
        CACHE[name] = content(name)
    return CACHE[name]


def meta4(base, *names, extra=""):
    files = "".join(
        f'<file name="{name}"><size>{len(cached(name))}</size>'
        f'<hash type="sha-256">{hashlib.sha256(cached(name)).hexdigest()}</hash>{extra}'
        f'<url priority="1">{base}/{name}</url></file>'
        for name in names
    )
    return f'<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">{files}</metalink>'


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.respond(False)

    def do_GET(self):
        self.respond(True)

    def plain(self, status, headers=(), body=b"nothing here\n", has_body=True):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if has_body:
            self.wfile.write(body)

    def respond(self, has_body):
        server = self.server
        with server.lock:
            server.seen.append((self.command, self.path, dict(self.headers)))
            count = server.counts[self.path] = server.counts.get(self.path, 0) + 1
        path, _, query = self.path.partition("?")
        parts = [unquote(part) for part in path.split("/") if part]
        name = parts.pop() if parts else "index.html"
        modes = list(parts)
        base = f"http://127.0.0.1:{server.server_address[1]}"
        headers = [("Content-Type", "application/octet-stream")]
        data = cached(name)
        ranged, rate, cut, status, length = True, 0, None, 200, True
        for index, mode in enumerate(modes):
            if mode.isdigit():
                return self.plain(int(mode), has_body=has_body)
            if mode.startswith("fail"):
                code, times = mode[4:].split("x")
                if count <= int(times):
                    return self.plain(int(code), [("Retry-After", "0")], has_body=has_body)
            if mode.startswith("redirect"):
                target = "/" + "/".join(modes[index + 1 :] + [name])
                return self.plain(int(mode[8:] or 302), [("Location", target)], has_body=has_body)
            if mode == "loop":
                return self.plain(302, [("Location", self.path)], has_body=has_body)
            if mode == "auth":
                wanted = "Basic " + base64.b64encode(b"user:pass").decode()
                if self.headers.get("Authorization") != wanted:
                    return self.plain(401, [("WWW-Authenticate", 'Basic realm="x"')], has_body=has_body)
            if mode.startswith("needs="):
                field, _, value = mode[6:].partition("=")
                if value not in self.headers.get(field, ""):
                    if field == "Proxy-Authorization":
                        return self.plain(407, [("Proxy-Authenticate", 'Basic realm="x"')], has_body=has_body)
                    return self.plain(403, has_body=has_body)
            if mode.startswith("lacks="):
                if self.headers.get(mode[6:]):
                    return self.plain(403, has_body=has_body)
            if mode == "norange":
                ranged = False
            if mode.startswith("slow"):
                rate = int(mode[4:] or 1_000_000)
            if mode == "cut" and count == 1 or mode == "cutalways":
                cut = len(data) // 2
            if mode == "nolength":
                length, ranged = False, False
            if mode.startswith("cd="):
                headers.append(("Content-Disposition", f'attachment; filename="{mode[3:]}"'))
            if mode.startswith("setcookie="):
                headers.append(("Set-Cookie", mode[10:] + "; path=/; Max-Age=100000"))
            if mode == "dated":
                headers.append(("Last-Modified", email.utils.formatdate(MODIFIED, usegmt=True)))
                since = self.headers.get("If-Modified-Since")
                if since and email.utils.parsedate_to_datetime(since).timestamp() >= MODIFIED:
                    self.send_response(304)
                    self.end_headers()
                    return
            if mode == "tagged":
                headers.append(("ETag", f'"{name}"'))
            if mode == "gzip" and "gzip" in self.headers.get("Accept-Encoding", ""):
                data, ranged = gzip.compress(data, mtime=0), False
                headers.append(("Content-Encoding", "gzip"))
            if mode == "metalink":
                data = meta4(base, *name.removesuffix(".meta4").split("+")).encode()
                headers[0] = ("Content-Type", "application/metalink4+xml")
            if mode == "stall":
                server.stop.wait(60)
                return
            if mode == "reset":
                self.close_connection = True
                return
            if mode == "html":
                headers[0] = ("Content-Type", "text/html")
        start, end = 0, len(data)
        wanted = self.headers.get("Range", "")
        if ranged and wanted.startswith("bytes=") and "," not in wanted:
            low, _, high = wanted[6:].partition("-")
            start = int(low or 0)
            end = min(int(high) + 1, len(data)) if high else len(data)
            if start >= len(data):
                return self.plain(416, [("Content-Range", f"bytes */{len(data)}")], has_body=has_body)
            status = 206
            headers.append(("Content-Range", f"bytes {start}-{end - 1}/{len(data)}"))
        if ranged:
            headers.append(("Accept-Ranges", "bytes"))
        self.send_response(status)
        for field, value in headers:
            self.send_header(field, value)
        if length:
            self.send_header("Content-Length", str(end - start))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if not has_body:
            return
        body = data[start:end]
        if cut is not None:
            body = body[: max(0, cut - start)]
            self.close_connection = True
        try:
            if rate:
                step = max(1, rate // 20)
                for offset in range(0, len(body), step):
                    self.wfile.write(body[offset : offset + step])
                    # Not synchronization: the server is to be slow.
                    server.stop.wait(0.05)
            else:
                self.wfile.write(body)
        except OSError:
            self.close_connection = True


class HTTPOrigin(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.reset()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, *_):
        pass

    def reset(self):
        with self.lock:
            self.seen, self.counts = [], {}

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class FTPHandler(socketserver.StreamRequestHandler):
    def reply(self, text):
        self.wfile.write((text + "\r\n").encode())

    def handle(self):
        passive, offset, folder, user = None, 0, "", ""
        self.reply("220 ready")
        for line in self.rfile:
            verb, _, rest = line.decode().strip().partition(" ")
            verb = verb.upper()
            path = (rest if rest.startswith("/") else folder + "/" + rest).strip("/")
            name = path.split("/")[-1]
            if verb == "USER":
                user = rest
                self.reply("331 password")
            elif verb == "PASS":
                ok = user in ("anonymous", "ftp") or (user, rest) == ("user", "pass")
                self.reply("230 in" if ok else "530 no")
            elif verb == "PWD":
                self.reply(f'257 "/{folder}"')
            elif verb == "CWD":
                folder = path
                self.reply("250 ok" if "missing" not in path else "550 no")
            elif verb in ("TYPE", "OPTS", "NOOP"):
                self.reply("200 ok")
            elif verb == "SIZE":
                self.reply("550 no" if "404" in path else f"213 {len(cached(name))}")
            elif verb == "MDTM":
                self.reply("213 20200913122640")
            elif verb in ("PASV", "EPSV"):
                passive = socket.create_server(("127.0.0.1", 0))
                port = passive.getsockname()[1]
                if verb == "PASV":
                    self.reply(f"227 passive (127,0,0,1,{port >> 8},{port & 255})")
                else:
                    self.reply(f"229 passive (|||{port}|)")
            elif verb == "REST":
                offset = int(rest)
                self.reply("350 ok")
            elif verb == "RETR":
                if "404" in path or passive is None:
                    self.reply("550 not found")
                    continue
                self.reply("150 here")
                try:
                    data, _ = passive.accept()
                    with data:
                        data.sendall(cached(name)[offset:])
                except OSError:
                    pass
                offset = 0
                self.reply("226 done")
            elif verb == "QUIT":
                self.reply("221 bye")
                return
            else:
                self.reply("502 unknown")


class FTPOrigin(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), FTPHandler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, *_):
        pass

    @property
    def base(self):
        return f"ftp://127.0.0.1:{self.server_address[1]}"


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
