import Glibc

/// Receives POST requests on a port of 127.0.0.1 and prints each body on a line.
package struct WebhookReceiver {
    package let process: PawlProcess

    package init(port: UInt16) throws(SetupFailure) {
        let script = """
            import http.server
            class H(http.server.BaseHTTPRequestHandler):
                def log_message(s,*a): pass
                def do_POST(s):
                    print(s.rfile.read(int(s.headers['Content-Length'])).decode(),flush=True)
                    s.send_response(200); s.send_header('Content-Length','0'); s.end_headers()
            server=http.server.HTTPServer(('127.0.0.1',\(port)),H)
            print("ready",flush=True)
            server.serve_forever()
            """
        process = try PawlProcess("/usr/bin/python3", ["-c", script])
        guard process.line(in: .out, where: { $0 == "ready" }) != nil else {
            throw SetupFailure("http.server", EADDRINUSE)
        }
    }
}
