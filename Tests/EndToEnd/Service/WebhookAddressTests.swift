import PawlTestKit
import Testing

/// Allowed addresses of a webhook, with a name from a separate hosts file.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt && Namespace.isAvailable, "needs the built program and root"))
struct `The webhook's address` {
    @Test func `a public name that resolves to this machine is not posted to, unless that was allowed at the start`()
        throws
    {
        let folder = try TemporaryFolder()
        let script = """
            import http.server, os, pathlib, subprocess, sys, threading
            pawl, folder = sys.argv[1:3]
            pathlib.Path(folder + "/hosts").write_text("127.0.0.1 localhost\\n127.0.0.1 hooks.example.com\\n")
            subprocess.run(["mount", "--bind", folder + "/hosts", "/etc/hosts"], check=True)
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    self.rfile.read(int(self.headers["Content-Length"]))
                    posted.set()
                    self.do_GET()
                def do_GET(self):
                    self.send_response(200)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                def log_message(self, *words): pass
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            for more in [], ["--webhook-private"]:
                posted = threading.Event()
                place = f"{folder}/{len(more)}"
                environment = dict(os.environ, HOME=folder, XDG_STATE_HOME="", PAWL_ROOT=place, PAWL_SOCKET=place + ".s",
                    PAWL_PORT="none", http_proxy="", all_proxy="")
                def run(*words): return subprocess.run([pawl, *words], env=environment, capture_output=True)
                hook = f"http://hooks.example.com:{server.server_port}/"
                run("serve", "--background", "--log", place + ".log", "--webhook", hook, *more)
                run("add", f"http://127.0.0.1:{server.server_port}/file")
                run("wait", "--all")
                if more: print(posted.wait(300))
                else:
                    while "resolves to 127.0.0.1" not in pathlib.Path(place + ".log").read_text(): pass
                    print(posted.is_set())
                run("stop")
            """
        let process = try PawlProcess.run(
            "/usr/bin/unshare", ["--mount", "/usr/bin/python3", "-c", script, PawlBinary.path, folder.path])
        #expect(process.lines == ["False", "True"], "\(process.errors)")
    }
}
