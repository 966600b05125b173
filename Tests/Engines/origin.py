"""An origin of samples on addresses of loopback, which counts requests and connections."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, Dict, List, Optional


def content(number: int, length: int = 20_000) -> bytes:
    """Return the bytes of a sample."""
    block = hashlib.sha256(str(number).encode()).digest()
    return (block * (length // len(block) + 1))[:length]


class Origin:
    """Serves `/NUMBER.jpg` on 127.1.0.1 to 127.1.0.HOSTS."""

    def __init__(self, hosts: int = 20) -> None:
        self.requests: Counter = Counter()
        self.open: Counter = Counter()
        self.most: Counter = Counter()
        self.lock = threading.Lock()
        self.due: Optional[int] = None
        self.action: Callable[[], None] = lambda: None
        self.failure: Optional[BaseException] = None
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                self.host = self.connection.getsockname()[0]
                with origin.lock:
                    origin.open[self.host] += 1
                    origin.most[self.host] = max(origin.most[self.host], origin.open[self.host])

            def finish(self) -> None:
                super().finish()
                with origin.lock:
                    origin.open[self.host] -= 1

            def do_GET(self) -> None:
                if self.path == "/robots.txt":
                    return self.send(b"User-agent: *\nDisallow: /private/\n", "text/plain")
                origin.note(self.path)
                self.send(content(int(self.path.strip("/").split(".")[0])), "image/jpeg")

            def send(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", '"%s"' % hashlib.md5(body).hexdigest())
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

            def handle_error(self, *_: object) -> None:
                """Clients that were killed are expected."""

        self.server = Server(("0.0.0.0", 0), Handler)
        self.port = self.server.server_address[1]
        self.hosts = [f"127.1.0.{n + 1}" for n in range(hosts)]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def note(self, path: str) -> None:
        with self.lock:
            self.requests[path] += 1
            is_due = self.due is not None and sum(self.requests.values()) >= self.due
            if is_due:
                self.due = None
        if is_due:
            try:
                self.action()
            except BaseException as error:
                self.failure = error

    def at(self, count: int, action: Callable[[], None], again: bool = False) -> None:
        """Run `action` in the middle of request number `count`, counted from now; `again` keeps the earlier ones."""
        with self.lock:
            if not again:
                self.requests.clear()
            self.action = action
            self.due = sum(self.requests.values()) + count

    def jobs(self, count: int) -> List[Dict[str, object]]:
        return [
            {"id": str(n), "url": f"http://{self.hosts[n % len(self.hosts)]}:{self.port}/{n}.jpg", "caption": f"number {n}"}
            for n in range(count)
        ]
