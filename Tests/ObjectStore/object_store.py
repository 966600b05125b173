#!/usr/bin/env python3
"""A small S3 for tests: checks signatures by its own reading of AWS's specification, and misbehaves on demand.

usage: object_store.py PORT [CERTIFICATE KEY]: with a certificate over TLS, where UNSIGNED-PAYLOAD is allowed.

POST /_control with JSON: {"faults": [{"op": "UploadPart", "do": "lose"}], "skew": 3600, "lies": true, "pace": 0.1}
  faults: each is used once. do: lose (carried out, the connection is closed without a response), slow (503 SlowDown),
  internal (500), refuse STATUS CODE, hang (nothing is carried out, and no response comes). skew: seconds by which its clock is ahead. lies: ignores preconditions. pace: seconds a part takes.
GET /_state: keys of the objects and of the uploads. GET /_log: the operations so far, as JSON. GET /_wait?op=UploadPart&count=2: the same, once there were so many of that kind.
"""
import base64, hashlib, hmac, json, ssl, sys, threading, time, zlib
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

KEY, SECRET = "TESTKEY", "test/secret+key"
lock = threading.RLock()
logged = threading.Condition(lock)
buckets = {"bucket": {}, "public": {}}
uploads, log = {}, []
control = {"faults": [], "skew": 0, "lies": False, "pace": 0}


def crc32c_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


TABLE = crc32c_table()


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 255] ^ value >> 8
    return base64.b64encode((value ^ 0xFFFFFFFF).to_bytes(4, "big")).decode()


class Refused(Exception):
    def __init__(self, status, code):
        self.status, self.code = status, code


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return formatdate(time.time() + control["skew"] if timestamp is None else timestamp, usegmt=True)

    def respond(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in fields:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def xml(self, name, inner):
        self.respond(200, f'<?xml version="1.0"?><{name}>{inner}</{name}>'.encode(), Content_Type="application/xml")

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path)
        if path.path == "/_control":
            control.update(json.loads(body))
            return self.respond(200)
        if path.path == "/_state":
            with lock:
                state = {"objects": [f"{b}/{k}" for b in buckets for k in buckets[b]], "uploads": [u["key"] for u in uploads.values()]}
                return self.respond(200, json.dumps(state).encode())
        if path.path in ("/_log", "/_wait"):
            wait = dict(parse_qsl(path.query))
            with lock:
                logged.wait_for(lambda: sum(e["op"] == wait.get("op") for e in log) >= int(wait.get("count", 0)))
                return self.respond(200, json.dumps(log).encode())
        query = dict(parse_qsl(path.query, keep_blank_values=True))
        bucket, _, key = unquote(path.path)[1:].partition("/")
        op = self.operation(key, query)
        fault = None
        with lock:
            log.append({"op": op, "key": key, "range": self.headers.get("Range"), "part": query.get("partNumber"),
                        "signed": "Authorization" in self.headers})
            logged.notify_all()
            for each in control["faults"]:
                if each["op"] == op:
                    fault = each["do"]
                    control["faults"].remove(each)
                    break
        try:
            if fault == "hang":
                self.rfile.read(1)  # Until the client has closed the connection.
                self.close_connection = True
                return
            if fault == "slow":
                raise Refused(503, "SlowDown")
            if fault == "internal":
                raise Refused(500, "InternalError")
            if fault and fault.startswith("refuse "):
                raise Refused(int(fault.split()[1]), fault.split()[2])
            self.check(path, bucket, body)
            if bucket not in buckets:
                raise Refused(404, "NoSuchBucket")
            if fault == "lose":
                self.wfile, real = open("/dev/null", "wb"), self.wfile
                getattr(self, op)(buckets[bucket], bucket, key, query, body)
                self.wfile, self.close_connection = real, True
                return
            getattr(self, op)(buckets[bucket], bucket, key, query, body)
        except Refused as refused:
            body = f"<Error><Code>{refused.code}</Code><Message>no</Message></Error>".encode()
            self.respond(refused.status, body, Content_Type="application/xml")

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_one

    def operation(self, key, query):
        has = lambda name: name in query
        return {
            "GET": "ListParts" if has("uploadId") else "ListUploads" if has("uploads") else "Get" if key else "List",
            "HEAD": "Head" if key else "HeadBucket",
            "PUT": "UploadPart" if has("uploadId") else "Put",
            "POST": "Create" if has("uploads") else "Complete",
            "DELETE": "Abort" if has("uploadId") else "Delete",
        }[self.command]

    def check(self, path, bucket, body):
        """AWS Signature Version 4, step by step as documented."""
        given = self.headers.get("Authorization")
        if given is None:
            if bucket == "public":
                return
            raise Refused(403, "AccessDenied")
        parts = dict(part.strip().split("=", 1) for part in given.split(" ", 1)[1].split(","))
        key, day, region, service, end = parts["Credential"].split("/")
        if key != KEY:
            raise Refused(403, "InvalidAccessKeyId")
        stamp = self.headers["x-amz-date"]
        when = time.mktime(time.strptime(stamp, "%Y%m%dT%H%M%SZ")) - time.timezone
        if abs(when - time.time() - control["skew"]) > 900:
            raise Refused(403, "RequestTimeTooSkewed")
        names = parts["SignedHeaders"].split(";")
        missing = [n for n in self.headers.keys() if n.lower().startswith("x-amz-") and n.lower() not in names]
        if missing or "host" not in names:
            raise Refused(403, "AccessDenied")
        fields = "".join(f"{n}:{' '.join((self.headers[n] or '').split())}\n" for n in names)
        pairs = sorted((quote(n, "-_.~"), quote(v, "-_.~")) for n, v in parse_qsl(path.query, keep_blank_values=True))
        digest = self.headers["x-amz-content-sha256"]
        request = "\n".join([self.command, quote(unquote(path.path), "/-_.~"), "&".join(f"{n}={v}" for n, v in pairs),
                             fields, ";".join(names), digest])
        scope = f"{day}/{region}/{service}/{end}"
        text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(request.encode()).hexdigest()])
        secret = ("AWS4" + SECRET).encode()
        for part in (day, region, service, end, text):
            secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
        if secret.hex() != parts["Signature"]:
            raise Refused(403, "SignatureDoesNotMatch")
        if digest != "UNSIGNED-PAYLOAD" and digest != hashlib.sha256(body).hexdigest():
            raise Refused(400, "XAmzContentSHA256Mismatch")
        sum_ = self.headers.get("x-amz-checksum-crc32c")
        if sum_ and len(body) < 100_000 and sum_ != crc32c(body):
            raise Refused(400, "BadDigest")

    def first(self, objects, key):
        if self.headers.get("If-None-Match") == "*" and not control["lies"] and key in objects:
            raise Refused(412, "PreconditionFailed")

    def store(self, objects, key, data, tag, meta):
        with lock:
            objects[key] = (data, tag, meta, int(time.time()))

    def meta(self):
        return {n: v for n, v in self.headers.items() if n.lower().startswith("x-amz-meta-") or n == "Content-Type"}

    def Put(self, objects, bucket, key, query, body):
        self.first(objects, key)
        tag = hashlib.md5(body).hexdigest()
        self.store(objects, key, body, tag, self.meta())
        self.respond(200, ETag=f'"{tag}"')

    def Head(self, objects, bucket, key, query, body):
        if key not in objects:
            raise Refused(404, "NoSuchKey")
        data, tag, meta, when = objects[key]
        fields = {n.replace("-", "_"): v for n, v in meta.items()}
        self.respond(200, b"", Content_Length=str(len(data)), ETag=f'"{tag}"',
                    Last_Modified=formatdate(when, usegmt=True), **fields)

    def HeadBucket(self, objects, bucket, key, query, body):
        self.respond(200)

    def Get(self, objects, bucket, key, query, body):
        if key not in objects:
            raise Refused(404, "NoSuchKey")
        data, tag, meta, when = objects[key]
        if self.headers.get("If-Match", f'"{tag}"') != f'"{tag}"':
            raise Refused(412, "PreconditionFailed")
        fields = dict(ETag=f'"{tag}"', Last_Modified=formatdate(when, usegmt=True), Accept_Ranges="bytes")
        wanted_range = self.headers.get("Range")
        if not wanted_range:
            sum_ = base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()
            if self.headers.get("x-amz-checksum-mode") == "ENABLED":
                fields["x_amz_checksum_crc32"] = sum_
            return self.respond(200, data, **fields)
        start, _, end = wanted_range[6:].partition("-")
        start, end = int(start), min(int(end), len(data) - 1) if end else len(data) - 1
        self.respond(206, data[start:end + 1], Content_Range=f"bytes {start}-{end}/{len(data)}", **fields)

    def List(self, objects, bucket, key, query, body):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        keys, prefixes = [], []
        for name in sorted(objects):
            rest = name[len(prefix):]
            if not name.startswith(prefix):
                continue
            if delimiter and delimiter in rest:
                common = prefix + rest.split(delimiter)[0] + delimiter
                if common not in prefixes:
                    prefixes.append(common)
            else:
                keys.append(name)
        start = int(query.get("continuation-token", "0"))
        page = keys[start:start + 3]
        more = start + 3 < len(keys)
        inner = f"<Name>{bucket}</Name><EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>"
        if more:
            inner += f"<NextContinuationToken>{start + 3}</NextContinuationToken>"
        for name in page:
            data, tag, _, when = objects[name]
            date = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(when))
            inner += (f"<Contents><Key>{quote(name)}</Key><LastModified>{date}</LastModified><ETag>&quot;{tag}&quot;</ETag>"
                      f"<Size>{len(data)}</Size></Contents>")
        for name in prefixes:
            inner += f"<CommonPrefixes><Prefix>{quote(name)}</Prefix></CommonPrefixes>"
        self.xml("ListBucketResult", inner)

    def Create(self, objects, bucket, key, query, body):
        with lock:
            name = f"upload-{len(uploads) + 1}"
            uploads[name] = dict(bucket=bucket, key=key, parts={}, meta=self.meta())
        self.xml("InitiateMultipartUploadResult", f"<UploadId>{name}</UploadId>")

    def upload(self, key, query):
        found = uploads.get(query["uploadId"])
        if not found or found["key"] != key:
            raise Refused(404, "NoSuchUpload")
        return found

    def UploadPart(self, objects, bucket, key, query, body):
        # A slow store: the time in which a test kills or stops an upload.
        time.sleep(control["pace"])
        tag = hashlib.md5(body).hexdigest()
        with lock:
            self.upload(key, query)["parts"][int(query["partNumber"])] = (body, tag)
        self.respond(200, ETag=f'"{tag}"')

    def ListParts(self, objects, bucket, key, query, body):
        parts = self.upload(key, query)["parts"]
        inner = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>&quot;{tag}&quot;</ETag><Size>{len(data)}</Size></Part>"
                        for n, (data, tag) in sorted(parts.items()))
        self.xml("ListPartsResult", f"<UploadId>{query['uploadId']}</UploadId><IsTruncated>false</IsTruncated>{inner}")

    def ListUploads(self, objects, bucket, key, query, body):
        inner = "".join(f"<Upload><Key>{escape(u['key'])}</Key><UploadId>{name}</UploadId></Upload>"
                        for name, u in uploads.items() if u["key"].startswith(query.get("prefix", "")))
        self.xml("ListMultipartUploadsResult", f"<Bucket>{bucket}</Bucket>{inner}")

    def Complete(self, objects, bucket, key, query, body):
        with lock:
            upload = self.upload(key, query)
            self.first(objects, key)
            wanted = [(int(p.find("{*}PartNumber").text), p.find("{*}ETag").text.strip('"'))
                      for p in ElementTree.fromstring(body)]
            if [(n, upload["parts"].get(n, (b"", ""))[1]) for n, _ in wanted] != wanted:
                raise Refused(400, "InvalidPart")
            data = b"".join(upload["parts"][n][0] for n, _ in wanted)
            tag = hashlib.md5(b"".join(bytes.fromhex(t) for _, t in wanted)).hexdigest() + f"-{len(wanted)}"
            self.store(objects, key, data, tag, upload["meta"])
            del uploads[query["uploadId"]]
        self.xml("CompleteMultipartUploadResult", f"<ETag>&quot;{tag}&quot;</ETag>")

    def Abort(self, objects, bucket, key, query, body):
        with lock:
            self.upload(key, query)
            del uploads[query["uploadId"]]
        self.respond(204)

    def Delete(self, objects, bucket, key, query, body):
        objects.pop(key, None)
        self.respond(204)


if __name__ == "__main__":
    ThreadingHTTPServer.daemon_threads = True
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()
