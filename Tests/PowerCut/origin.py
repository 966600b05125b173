"""An origin on loopback that sends slowly and remembers when it sent what."""

from __future__ import annotations

import hashlib
import random
import re
import socket
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Dict, List

CHUNK = 32 << 10


def content(seed: int, length: int) -> bytes:
    return random.Random(seed).randbytes(length)


@dataclass(frozen=True)
class Sent:
    at: float
    path: str
    start: int
    end: int


class Origin:
    """Serves `files`, each connection at `pace` bytes per second; 0 is no limit."""

    def __init__(self, port: int = 0) -> None:
        self.files: Dict[str, bytes] = {}
        # The media types that are not the usual one.
        self.types: Dict[str, str] = {}
        self.sent: List[Sent] = []
        self.requests: List[str] = []
        self.total = 0
        self.pace = 0.0
        self.lock = threading.Condition()
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                # What is sent and not received yet would count as fetched.
                self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * CHUNK)
                super().setup()

            def do_GET(self) -> None:
                path = self.path.split("?")[0]
                body = origin.files.get(path)
                with origin.lock:
                    origin.requests.append(path)
                if body is None:
                    self.send_response(404)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                start, end = 0, len(body)
                match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
                if match and int(match[1]) >= len(body):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(body)}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                if match:
                    start = int(match[1])
                    end = min(int(match[2]) + 1, len(body)) if match[2] else len(body)
                self.send_response(206 if match else 200)
                if match:
                    self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(body)}")
                self.send_header("Content-Length", str(end - start))
                usual = "text/html" if path.endswith("/") else "application/octet-stream"
                self.send_header("Content-Type", origin.types.get(path, usual))
                self.send_header("Set-Cookie", "visited=yes; Max-Age=1000000; Path=/")
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("ETag", '"%s"' % hashlib.md5(body).hexdigest())
                self.send_header("Last-Modified", "Mon, 05 Jan 2026 10:00:00 GMT")
                self.end_headers()
                if self.command == "GET":
                    self.send_body(path, body, start, end)

            do_HEAD = do_GET

            def send_body(self, path: str, body: bytes, start: int, end: int) -> None:
                began, first = time.monotonic(), start
                while start < end:
                    next_one = min(end, start + CHUNK)
                    self.wfile.write(body[start:next_one])
                    with origin.lock:
                        origin.sent.append(Sent(time.monotonic(), path, start, next_one))
                        origin.total += next_one - start
                        origin.lock.notify_all()
                    start = next_one
                    if origin.pace:
                        time.sleep(max(0.0, began + (start - first) / origin.pace - time.monotonic()))

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

            def handle_error(self, *_: object) -> None:
                """Clients that were killed are expected."""

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def forget(self) -> None:
        with self.lock:
            self.sent, self.requests, self.total = [], [], 0

    def taken(self) -> List[Sent]:
        with self.lock:
            return list(self.sent)

    def wait(self, total: int, seconds: float) -> None:
        """Waits until so many bytes were sent, at most so long."""
        with self.lock:
            self.lock.wait_for(lambda: self.total >= total, seconds)
