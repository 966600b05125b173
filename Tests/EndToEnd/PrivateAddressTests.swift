import PawlTestKit
import Testing

/// `--deny-private-addresses`, in a separate network where one address counts as public.
@Suite(
    .ownThreads, .enabled(if: PawlBinary.isBuilt && Namespace.isAvailable, "needs the built program, root and iproute2")
) struct `Private addresses` {
    @Test func `a redirect to one is not followed, nor is a name that resolves to one`() throws {
        let folder = try TemporaryFolder()
        let namespace = try Namespace(number: 12)
        let server = """
            import http.server
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    if self.path == "/redirect":
                        self.send_response(302)
                        self.send_header("Location", "http://127.0.0.1:8000/inner")
                        self.send_header("Content-Length", "0")
                    else:
                        self.send_response(200)
                        self.send_header("Content-Length", "5")
                    self.end_headers()
                    if self.path != "/redirect": self.wfile.write(b"bytes")
                def log_message(self, *words): print(self.path, flush=True)
            http.server.ThreadingHTTPServer(("0.0.0.0", 8000), Handler).serve_forever()
            """
        let script = """
            ip addr add 203.0.113.7/32 dev lo
            python3 -c "$SERVER" > "$FOLDER/log" 2>&1 &
            server=$!
            until curl -s -o /dev/null http://127.0.0.1:8000/up; do :; done
            for url in 203.0.113.7:8000/outer 203.0.113.7:8000/redirect localhost:8000/name; do
                "$PAWL" get -q -d "$FOLDER/d" --deny-private-addresses "http://$url" 2>> "$FOLDER/errors"
                echo "$url $?"
            done
            kill $server
            """
        let process = try PawlProcess(
            "/usr/bin/env",
            [
                "SERVER=\(server)", "FOLDER=\(folder.path)", "PAWL=\(PawlBinary.path)", "/bin/sh", "-c",
                "exec \"$(command -v ip || echo /usr/sbin/ip)\" netns exec \(namespace.name) sh -c \"$0\"", script,
            ])
        process.wait()
        #expect(
            process.lines == ["203.0.113.7:8000/outer 0", "203.0.113.7:8000/redirect 33", "localhost:8000/name 33"],
            "\(process.errors)")
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        #expect(log.contains("/outer") && log.contains("/redirect"))
        #expect(!log.contains("/inner") && !log.contains("/name"))
        let errors = String(decoding: FileSystem.contents(folder.path("errors")) ?? [], as: UTF8.self)
        #expect(errors.contains("127.0.0.1 is private"))
    }

    @Test(arguments: [
        ["get", "-o", "f", "--zsync", "URL", "http://203.0.113.7/f"], ["get", "URL-WITHOUT-SCHEME"],
        ["get", "--recursive", "--no-sign-request", "--endpoint-url", "URL", "s3://bucket/prefix/"],
        ["get", "--to", "s3://bucket/key", "--no-sign-request", "--endpoint-url", "URL", "http://203.0.113.7/f"],
        ["repair", "--from", "URL", "FILE"], ["repair", "--zsync", "URL", "FILE"],
        ["repair", "--metalink", "URL", "FILE"],
    ]) func `a control file, a list of objects or a comparison does not connect to one either`(words: [String]) throws {
        let folder = try TemporaryFolder()
        let origin = try OriginServer()
        defer { origin.stop() }
        try FileSystem.write(Array("bytes".utf8), to: folder.path("file"))
        let url = origin.serve("/f", Payload(seed: 3, length: 5))
        let process = try PawlProcess(
            PawlBinary.path,
            [words[0], "--deny-private-addresses", "--retries", "0"]
                + words.dropFirst().map {
                    $0.replacing("URL-WITHOUT-SCHEME", with: url.dropFirst(7)).replacing("URL", with: url).replacing(
                        "FILE", with: folder.path("file"))
                }, environment: ["HOME": folder.path], folder: folder.path)
        process.wait()
        #expect(process.exit == .code(33), "\(process.output)\(process.errors)")
        #expect(process.errors.contains("is private"))
        #expect(origin.log.records.isEmpty)
    }
}
