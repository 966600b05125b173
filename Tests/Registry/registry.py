#!/usr/bin/env python3
"""A small OCI registry for tests, with tokens, at 127.0.0.1; its blobs are at 127.0.0.2, where nothing secret may come.

usage: registry.py PORT BLOBPORT: repository org/img has tag v1, an index with an image for amd64 and one for arm64, and tag art, an
artifact with the files a.txt and sub/b.bin. Both images have one layer in common. Tag large is an image with six layers of 8 MiB.

POST /_control with JSON changes any of `control`. GET /_log: the requests so far. GET /_forget: forgets them.
  uses: of how many requests a token lives, 0 for any. login: whether a token needs user:secret. realm: another server of tokens.
  flip: digests of which the last byte is another. open: whether ranges without an end are allowed. cut: so many bytes of each blob, then
  the connection ends. pace: seconds that 64 KiB of one take. large: whether manifests have 100 MiB. direct: whether the registry sends blobs itself. title: of the second file.
GET /_wait?N: returns when so many bytes of blobs were sent since /_forget. In the log, a request for a blob has its digest as file, its
first byte as start, and as sent how many bytes the socket took.
"""
import base64, hashlib, json, random, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PORT, BLOBS = int(sys.argv[1]), int(sys.argv[2])
lock = threading.RLock()
served = threading.Condition(lock)
control = {"uses": 0, "login": False, "realm": "", "flip": [], "open": True, "cut": 0, "large": False, "direct": False,
           "title": "sub/b.bin", "pace": 0}
sent = {}
log, tokens, store = [], {}, {}
OCI = "application/vnd.oci.image."


def put(content, kind, **more):
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    store[digest] = (content, kind)
    return {"mediaType": kind, "digest": digest, "size": len(content), **more}


def image(architecture, layers):
    config = put(json.dumps({"architecture": architecture, "os": "linux", "rootfs": {"type": "layers", "diff_ids": [
        layer["digest"] for layer in layers]}}).encode(), OCI + "config.v1+json")
    manifest = {"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "config": config, "layers": layers}
    return put(json.dumps(manifest).encode(), OCI + "manifest.v1+json", platform={"os": "linux", "architecture": architecture})


def layer(seed, size):
    return put(random.Random(seed).randbytes(size), OCI + "layer.v1.tar")


shared = layer(1, 300_000)
index = put(json.dumps({"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": [
    image("amd64", [layer(2, 900_000), shared]), image("arm64", [layer(3, 200_000), shared])]}).encode(), OCI + "index.v1+json")


def large():
    with lock:
        if "image" not in made:
            made["image"] = image("amd64", [layer(100 + number, 8 << 20) for number in range(6)])
        return made["image"]


made = {}


def artifact():
    files = [put(b"a file\n", "text/plain", annotations={"org.opencontainers.image.title": "a.txt"}),
             put(random.Random(4).randbytes(50_000), "application/x", annotations={"org.opencontainers.image.title": control["title"]})]
    config = put(b"{}", "application/vnd.oci.empty.v1+json")
    return put(json.dumps({"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "artifactType": "x/y", "config": config,
                           "layers": files}).encode(), OCI + "manifest.v1+json")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def respond(self, status, body=b"", fields=()):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code, fields=()):
        self.respond(status, json.dumps({"errors": [{"code": code, "message": "refused"}]}).encode(), fields)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        control.update(json.loads(body))
        self.respond(200)

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/_log":
            return self.respond(200, json.dumps(log).encode())
        if url.path == "/_forget":
            with lock:
                log.clear()
                sent.clear()
            return self.respond(200)
        if url.path == "/_wait":
            with lock:
                served.wait_for(lambda: sum(sent.values()) >= int(url.query), 60)
            return self.respond(200)
        with lock:
            self.entry = {"server": self.server.name, "path": self.path, "authorization": self.headers.get("Authorization"),
                          "range": self.headers.get("Range")}
            log.append(self.entry)
        if self.server.name == "blobs":
            return self.blob(url.path[1:])
        if url.path == "/token":
            return self.token(url)
        if not self.may():
            realm = control["realm"] or f"http://127.0.0.1:{PORT}/token"
            challenge = f'Bearer realm="{realm}",service="test",scope="repository:org/img:pull"'
            return self.refuse(401, "UNAUTHORIZED", [("WWW-Authenticate", challenge)])
        parts = url.path.split("/")
        if parts[1:4] != ["v2", "org", "img"] or len(parts) != 6:
            return self.refuse(404, "NAME_UNKNOWN")
        if parts[4] == "manifests":
            return self.manifest(parts[5])
        if parts[5] not in store:
            return self.refuse(404, "BLOB_UNKNOWN")
        if control["direct"]:
            return self.blob(parts[5])
        return self.respond(307, b"", [("Location", f"http://127.0.0.2:{BLOBS}/{parts[5]}")])

    def may(self):
        with lock:
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            if token not in tokens:
                return False
            tokens[token] -= 1
            if tokens[token] == 0:
                del tokens[token]
            return True

    def token(self, url):
        login = base64.b64encode(b"user:secret").decode()
        if control["login"] and self.headers.get("Authorization") != f"Basic {login}":
            return self.refuse(401, "UNAUTHORIZED")
        if parse_qs(url.query).get("scope") != ["repository:org/img:pull"]:
            return self.refuse(400, "UNSUPPORTED")
        with lock:
            token = f"token{len(log)}"
            tokens[token] = control["uses"]
        return self.respond(200, json.dumps({"token": token, "expires_in": 300}).encode())

    def manifest(self, name):
        found = {"v1": index, "art": artifact()}.get(name) or (large() if name == "large" else {"digest": name})
        if found["digest"] not in store:
            return self.refuse(404, "MANIFEST_UNKNOWN")
        content, kind = store[found["digest"]]
        if kind not in (self.headers.get("Accept") or ""):
            return self.refuse(404, "MANIFEST_UNKNOWN")
        if control["large"]:
            content += b" " * (100 << 20)
        if found["digest"] in control["flip"]:
            content = content.replace(b'": 2', b'" :2', 1)
        return self.respond(200, content, [("Content-Type", kind), ("Docker-Content-Digest", found["digest"])])

    def blob(self, digest):
        content, fields = store[digest][0], [("Accept-Ranges", "bytes"), ("ETag", f'"{digest}"')]
        if digest in control["flip"]:
            content = content[:-1] + bytes([content[-1] ^ 1])
        start, end, status = 0, len(content), 200
        if (asked := self.headers.get("Range", "")).startswith("bytes="):
            first, _, last = asked[6:].partition("-")
            if not last and not control["open"]:
                return self.respond(416, b"", [("Content-Range", f"bytes */{len(content)}")])
            start, end, status = int(first), min(int(last) + 1 if last else end, end), 206
            fields.append(("Content-Range", f"bytes {start}-{end - 1}/{len(content)}"))
        part = content[start:end]
        if control["cut"] and len(part) > control["cut"]:
            self.send_response(status)
            for name, value in fields + [("Content-Length", str(len(part)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(part[:control["cut"]])
            self.close_connection = True
            return None
        if not control["pace"]:
            return self.respond(status, part, fields)
        self.send_response(status)
        for name, value in fields + [("Content-Length", str(len(part)))]:
            self.send_header(name, value)
        self.end_headers()
        self.entry.update(file=digest, start=start, sent=0)
        for place in range(0, len(part), 65536):
            self.wfile.write(part[place:place + 65536])
            with lock:
                count = len(part[place:place + 65536])
                sent[digest] = sent.get(digest, 0) + count
                self.entry["sent"] += count
                served.notify_all()
            time.sleep(control["pace"])
        return None


def serve(name, host, port):
    server = ThreadingHTTPServer((host, port), Handler)
    server.name, server.daemon_threads = name, True
    threading.Thread(target=server.serve_forever, daemon=True).start()


serve("blobs", "127.0.0.2", BLOBS)
serve("registry", "127.0.0.1", PORT)
print("listening", flush=True)
threading.Event().wait()
