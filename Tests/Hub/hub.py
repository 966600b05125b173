#!/usr/bin/env python3
"""A small model hub for tests, after what huggingface_hub asks for: its API at 127.0.0.1, large files at 127.0.0.2.

usage: hub.py PORT CDNPORT FOLDER: FOLDER/models/ORG/NAME/PATH and FOLDER/datasets/ORG/NAME/PATH are the files of branch main.
A commit is what the folder had when it was first asked for. Files that end with .bin or .safetensors are in Git LFS.

POST /_control with JSON changes any of `control`. GET /_log: the requests so far. GET /_forget: forgets them.
  private: repositories that need the token. gated: those that refuse even with it. page: rows a page. elsewhere: next pages name
  another host. endless: each page has a next one. flip: paths of which the last byte is another. limited: so many API requests get 429.
  GET /_sent: how many bytes of each large file were sent, GET /_wait?N: returns when all have so many. pace: seconds that 64 KiB of one take.
  In the log, a request for a large file has its path as file, its first byte as start, and as sent how many bytes the socket took.
  uses: of how many requests a signed URL lives. cut: so many bytes of each large response, then the connection ends. rows: more rows.
"""
import hashlib, json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit

PORT, CDN, FOLDER = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
TOKEN = "hf_right"
lock = threading.RLock()
served = threading.Condition(lock)
control = {"private": [], "gated": [], "page": 1000, "elsewhere": False, "endless": False, "flip": [], "limited": 0,
           "uses": 0, "cut": 0, "pace": 0, "rows": []}
sent = {}
log, commits, signed = [], {}, {}


def blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def files(kind, name):
    root, found = f"{FOLDER}/{kind}/{name}", {}
    for folder, _, names in os.walk(root):
        for file in names:
            path = os.path.join(folder, file)
            found[os.path.relpath(path, root)] = open(path, "rb").read()
    return found


def commit(kind, name):
    content = files(kind, name)
    if not content:
        return None
    text = "".join(f"{path}\0{hashlib.sha256(content[path]).hexdigest()}\n" for path in sorted(content))
    key = hashlib.sha1(text.encode()).hexdigest()
    commits[kind, name, key] = content
    return key


def is_large(path):
    return path.endswith((".bin", ".safetensors"))


def row(path, content):
    found = {"type": "file", "oid": blob(content), "size": len(content), "path": path}
    if is_large(path):
        sha = hashlib.sha256(content).hexdigest()
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha}\nsize {len(content)}\n".encode()
        found.update(oid=blob(pointer), lfs={"oid": sha, "size": len(content), "pointerSize": len(pointer)})
    return found


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
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status, code, fields=()):
        self.respond(status, b'{"error":"refused"}', [("X-Error-Code", code), ("X-Error-Message", "refused")] + list(fields))

    def content(self, content, tag, path, fields=()):
        if path in control["flip"]:
            content = content[:-1] + bytes([content[-1] ^ 1])
        fields = [("ETag", f'"{tag}"'), ("Accept-Ranges", "bytes"), ("Content-Type", "application/octet-stream")] + list(fields)
        start, end, status = 0, len(content), 200
        if (asked := self.headers.get("Range", "")).startswith("bytes="):
            first, _, last = asked[6:].partition("-")
            start, end, status = int(first), min(int(last) + 1 if last else end, end), 206
            if start >= len(content):
                return self.respond(416, b"", [("Content-Range", f"bytes */{len(content)}")])
            fields.append(("Content-Range", f"bytes {start}-{end - 1}/{len(content)}"))
        part = content[start:end]
        if control["cut"] and is_large(path) and len(part) > control["cut"]:
            self.send_response(status)
            for name, value in fields + [("Content-Length", str(len(part)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(part[:control["cut"]])
            self.close_connection = True
            return None
        if not is_large(path):
            return self.respond(status, part, fields)
        self.send_response(status)
        for name, value in fields + [("Content-Length", str(len(part)))]:
            self.send_header(name, value)
        self.end_headers()
        self.entry.update(file=path, start=start, sent=0)
        for place in range(0, len(part), 65536):
            self.wfile.write(part[place:place + 65536])
            with lock:
                count = len(part[place:place + 65536])
                sent[path] = sent.get(path, 0) + count
                self.entry["sent"] += count
                served.notify_all()
            if control["pace"]:
                time.sleep(control["pace"])
        return None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/_control":
            control.update(json.loads(body))
            return self.respond(200)
        return self.respond(404)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        url = urlsplit(self.path)
        path = unquote(url.path)
        with lock:
            if path == "/_log":
                return self.respond(200, json.dumps(log).encode())
            if path == "/_sent":
                return self.respond(200, json.dumps(sent).encode())
            if path == "/_wait":
                served.wait_for(lambda: sum(sent.values()) >= int(url.query), 60)
                return self.respond(200)
            if path == "/_forget":
                log.clear()
                sent.clear()
                return self.respond(200)
            self.entry = {"server": self.server.name, "method": self.command, "path": self.path,
                          "authorization": self.headers.get("Authorization"), "range": self.headers.get("Range")}
            log.append(self.entry)
        if self.server.name == "cdn":
            return self.signed(url)
        return self.api(url) if path.startswith("/api/") else self.resolve(url)

    def may(self, kind, name):
        is_known = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        if self.headers.get("Authorization") and not is_known:
            return self.refuse(401, "") or False
        if name in control["gated"]:
            return self.refuse(403 if is_known else 401, "GatedRepo") or False
        if name in control["private"] and not is_known or not os.path.isdir(f"{FOLDER}/{kind}/{name}"):
            return self.refuse(404 if is_known else 401, "RepoNotFound") or False
        return True

    def api(self, url):
        if control["limited"] > 0:
            control["limited"] -= 1
            return self.respond(429, b"{}", [("RateLimit", '"api";r=0;t=1'), ("RateLimit-Policy", '"fixed window";"api";q=500;w=300')])
        parts = [unquote(part) for part in url.path.split("/")]
        if parts[2] == "resolve-cache":
            kind, name, key, path = parts[3], "/".join(parts[4:6]), parts[6], "/".join(parts[7:])
            if not self.may(kind, name):
                return None
            content = commits[kind, name, key][path]
            return self.content(content, blob(content), path, [("X-Repo-Commit", key)])
        kind, name, what, revision = parts[2], "/".join(parts[3:5]), "/".join(parts[5:6]), parts[6] if len(parts) > 6 else "main"
        if not self.may(kind, name):
            return None
        key = commit(kind, name) if revision == "main" else revision if (kind, name, revision) in commits else None
        if key is None:
            return self.refuse(404, "RevisionNotFound")
        if what in ("", "revision"):
            siblings = [{"rfilename": path} for path in sorted(commits[kind, name, key])]
            return self.respond(200, json.dumps({"id": name, "sha": key, "private": False, "siblings": siblings}).encode())
        query = parse_qs(url.query)
        start = int(query.get("cursor", ["0"])[0])
        content = commits[kind, name, key]
        rows = [row(path, content[path]) for path in sorted(content)] + control["rows"]
        fields, end = [("Content-Type", "application/json")], start + control["page"]
        if end < len(rows) or control["endless"]:
            host = f"127.0.0.2:{CDN}" if control["elsewhere"] else f"127.0.0.1:{PORT}"
            fields.append(("Link", f'<http://{host}{url.path}?recursive=true&cursor={end}>; rel="next"'))
        return self.respond(200, json.dumps(rows[start:end]).encode(), fields)

    def resolve(self, url):
        parts = [unquote(part) for part in url.path.split("/")][1:]
        kind = parts.pop(0) if parts[0] in ("datasets", "spaces") else "models"
        if len(parts) < 5 or parts[2] != "resolve":
            return self.respond(404)
        name, revision, path = "/".join(parts[:2]), parts[3], "/".join(parts[4:])
        if not self.may(kind, name):
            return None
        key = commit(kind, name) if revision == "main" else revision
        content = commits.get((kind, name, key), {}).get(path)
        if content is None:
            return self.refuse(404, "EntryNotFound", [("X-Repo-Commit", key or "")])
        fields = [("X-Repo-Commit", key)]
        if not is_large(path):
            target = f"/api/resolve-cache/{kind}/{name}/{key}/{quote(path)}"
            fields += [("Location", target), ("ETag", f'"{blob(content)}"'), ("X-Linked-Size", str(len(content)))]
            return self.respond(307, b"", fields)
        with lock:
            ticket = hashlib.sha1(os.urandom(8)).hexdigest()
            signed[ticket] = [content, path, control["uses"]]
        sha = hashlib.sha256(content).hexdigest()
        fields += [("X-Linked-ETag", f'"{sha}"'), ("X-Linked-Size", str(len(content))),
                   ("Location", f"http://127.0.0.2:{CDN}/file?X-Signature={ticket}")]
        return self.respond(302, b"", fields)

    def signed(self, url):
        ticket = parse_qs(url.query).get("X-Signature", [""])[0]
        with lock:
            found = signed.get(ticket)
            if found and control["uses"]:
                found[2] -= 1
                if found[2] < 0:
                    found = None
        if not found:
            return self.respond(403, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>")
        content, path, _ = found
        return self.content(content, hashlib.md5(content + ticket.encode()).hexdigest() + "-3", path)


def serve(name, host, port):
    server = ThreadingHTTPServer((host, port), Handler)
    server.name, server.daemon_threads = name, True
    threading.Thread(target=server.serve_forever, daemon=True).start()


serve("cdn", "127.0.0.2", CDN)
serve("hub", "127.0.0.1", PORT)
print("listening", flush=True)
threading.Event().wait()
