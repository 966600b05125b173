/// An HTTP proxy that requires a Basic or a Digest login, for plain requests and for CONNECT.
package final class LoginProxy: Sendable {
    package let port: UInt16
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    /// The user is `user`, the password `secretword`, the realm `a proxy`.
    package init(_ scheme: String) throws(SetupFailure) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        try FileSystem.write(Array(Self.program.utf8), to: folder.path("proxy.py"))
        let arguments = ["-u", folder.path("proxy.py"), "\(port)", scheme]
        server = Released(try ServerProcess("python3", arguments, in: folder, ports: [port]))
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// A line for each request: its method, its host, and the scheme of its login or `none`.
    package func finish() -> [String] {
        let log = server.current?.output ?? ""
        server.release()
        return log.split(separator: "\n").map(String.init)
    }

    private static let program = #"""
        import asyncio, base64, hashlib, re, sys

        scheme = sys.argv[2]
        md5 = lambda text: hashlib.md5(text.encode()).hexdigest()

        def accepted(method, value):
            if scheme == "basic":
                return value == "Basic " + base64.b64encode(b"user:secretword").decode()
            f = dict(re.findall(r'(\w+)="?([^",]*)"?', value))
            if not value.startswith("Digest ") or f.get("nonce") != "n1":
                return False
            middle = f"n1:{f['nc']}:{f['cnonce']}:{f['qop']}"
            return f["response"] == md5(f"{md5('user:a proxy:secretword')}:{middle}:{md5(method + ':' + f['uri'])}")

        challenge = 'Basic realm="a proxy"' if scheme == "basic" else 'Digest realm="a proxy", nonce="n1", qop="auth"'
        refusal = f"HTTP/1.1 407 No\r\nProxy-Authenticate: {challenge}\r\nContent-Length: 3\r\n\r\nno\n".encode()

        async def copy(reader, writer):
            try:
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
            except OSError:
                pass
            writer.close()

        async def serve(reader, writer):
            while True:
                try:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode()
                except (asyncio.IncompleteReadError, OSError):
                    return writer.close()
                first, *lines = head.split("\r\n")
                method, target, _ = first.split(" ")
                found = [l.split(": ", 1)[1] for l in lines if l.lower().startswith("proxy-authorization: ")]
                host = target.removeprefix("http://").split("/")[0]
                print(method, host, found[0].split(" ")[0] if found else "none")
                if not found or not accepted(method, found[0]):
                    writer.write(refusal)
                    continue
                name, port = host.rsplit(":", 1)
                there, onward = await asyncio.open_connection(name, int(port))
                if method == "CONNECT":
                    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                else:
                    kept = [l for l in lines if l and not l.lower().startswith(("proxy-", "connection:"))]
                    path = target[len("http://" + host):]
                    onward.write("\r\n".join([f"GET {path} HTTP/1.1", *kept, "Connection: close", "", ""]).encode())
                await asyncio.gather(copy(reader, onward), copy(there, writer))
                return

        async def main():
            await (await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))).serve_forever()

        asyncio.run(main())

        """#
}
