import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// The limits for one client and for all of them; each test ends with a call that still succeeds.
@Suite struct WebLimitTests {
    /// A script gets the port and the secret's token and prints its observations.
    private func python(_ script: String, _ change: (inout WebLimits) -> Void = { _ in }) async throws -> [String] {
        let bench = try await ServiceBench { change(&$0.limits) }
        let head = """
            import json, os, select, socket, struct, sys
            port, token = int(sys.argv[1]), sys.argv[2]
            def connect(): return socket.create_connection(("127.0.0.1", port), timeout=300)
            def rest(s):
                data = b""
                try:
                    while True:
                        part = s.recv(65536)
                        if not part: return data
                        data += part
                except (ConnectionResetError, BrokenPipeError): return data
            def upgrade(s, more=b""):
                s.sendall(b"GET /jsonrpc HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n"
                    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\nSec-WebSocket-Version: 13\\r\\n\\r\\n" + more)
                head = b""
                while b"\\r\\n\\r\\n" not in head: head += s.recv(1)
                return head
            def frame(data, first=0x81, length=None):
                n = len(data) if length is None else length
                size = bytes([0x80 | n]) if n < 126 else b"\\xfe" + struct.pack(">H", n) if n < 65536 else b"\\xff" + struct.pack(">Q", n)
                return bytes([first]) + size + b"\\0\\0\\0\\0" + data

            """
        let process = try await bench.run(
            "/usr/bin/python3", ["-c", head + script, "\(bench.service.port)", "token:" + bench.secret])
        #expect(process.exit == .code(0), "\(process.errors)")
        let after = try await bench.post(#"{"id":1,"method":"aria2.getVersion","params":["token:the-secret-word"]}"#)
        #expect(after.hasSuffix(" 200"))
        #expect(try await bench.result("aria2.getVersion")["version"] != nil)
        await bench.close()
        return process.lines
    }

    @Test func `a head that is too long closes its connection`() async throws {
        let lines = try await python(
            """
            s = connect()
            s.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n")
            try:
                for _ in range(100): s.sendall(b"X-A: " + b"a" * 1000 + b"\\r\\n")
            except OSError: pass
            print(b"200 OK" in rest(s))
            """)
        #expect(lines == ["False"])
    }

    @Test func `a sender that is too slow is disconnected, others get responses meanwhile`() async throws {
        let script = """
            slow = [connect() for _ in range(50)]
            for s in slow[:25]: s.sendall(b"POST /jsonrpc HTTP/1.1\\r\\nHost: local")
            for s in slow[25:]: s.sendall(b"POST /jsonrpc HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 100\\r\\n\\r\\n{")
            quick = connect()
            quick.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n")
            print(b" 200 " in rest(quick))
            print(sum(len(rest(s)) > 0 for s in slow) < 50)
            """
        #expect(try await python(script) { $0.requestTime = 2 } == ["True", "True"])
    }

    @Test func `giant frames and endless messages are cut off`() async throws {
        let script = """
            s = connect(); upgrade(s)
            s.sendall(frame(b"", length=1 << 40))
            try:
                for _ in range(200): s.sendall(b"a" * 65536)
                print("swallowed")
            except OSError: print("cut")
            s = connect(); upgrade(s)
            try:
                s.sendall(frame(b"[", first=0x01))
                for _ in range(400): s.sendall(frame(b"0," * 30000, first=0x00))
                print("swallowed")
            except OSError: print("cut")
            s = connect(); upgrade(s); s.sendall(frame(b"x", first=0x82)); rest(s); print("cut")
            s = connect(); upgrade(s); s.sendall(frame(b"\\xff\\xfe")); rest(s); print("cut")
            s = connect(); upgrade(s); s.sendall(os.urandom(5000)); rest(s); print("cut")
            """
        #expect(try await python(script) == ["cut", "cut", "cut", "cut", "cut"])
    }

    @Test func `all together hold no more than the given memory`() async throws {
        let script = """
            big = b'{"id":1,"method":"x","params":["' + b"a" * 900_000
            waiting = []
            for _ in range(12):
                s = connect(); waiting.append(s)
                s.sendall(b"POST /jsonrpc HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 1000000\\r\\n\\r\\n")
                try: s.sendall(big)
                except OSError: pass
            # No body is whole, so nothing can be read but the end of those that are cut off.
            while len(waiting) > 9:
                ended, _, _ = select.select(waiting, [], [], 300)
                if not ended: break
                waiting = [s for s in waiting if s not in ended]
            print(len(waiting) <= 9)
            """
        #expect(try await python(script) { $0.memory = 8 << 20 } == ["True"])
    }

    @Test func `a socket's messages are read no faster than their responses are sent`() async throws {
        let script = """
            s = connect()
            upgrade(s, frame(json.dumps({"id": 1, "method": "aria2.getVersion", "params": [token]}).encode()))
            data = b""
            while b'"id":1' not in data: data += s.recv(4096)
            s.settimeout(3)
            message = json.dumps({"id": 1, "method": "x", "params": ["a" * 100_000]}).encode()
            sent = 0
            try:
                # Each response comes after a second, since the secret is wrong.
                for _ in range(1000): s.sendall(frame(message)); sent += 1
            except TimeoutError: pass
            print(16 < sent < 200)
            """
        #expect(try await python(script) == ["True"])
    }

    @Test func `a client that never presents the secret is disconnected`() async throws {
        let script = """
            known = connect()
            # All in one piece: who is kept from its processor between two of them is not unauthenticated for that.
            upgrade(known, frame(json.dumps({"id": 1, "method": "aria2.getVersion", "params": [token]}).encode()))
            known.recv(10)
            unauthenticated = connect(); upgrade(unauthenticated)
            rest(unauthenticated)
            print("gone")
            known.sendall(frame(json.dumps({"id": 2, "method": "aria2.getVersion", "params": [token]}).encode()))
            data = b""
            while b'"id":2' not in data: data += known.recv(4096)
            print("stays")
            """
        #expect(try await python(script) { $0.authenticationTimeout = 2 } == ["gone", "stays"])
    }

    @Test func `for too many connections the oldest unauthenticated one is closed`() async throws {
        let script = """
            def fewer(held, count):
                while len(held) > count:
                    ended, _, _ = select.select(held, [], [], 300)
                    if not ended: break
                    held = [s for s in held if s not in ended]
                return held
            def call(s):
                body = json.dumps({"id": 1, "method": "aria2.getVersion", "params": [token]}).encode()
                s.sendall(b"POST /jsonrpc HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
                data = b""
                while b"result" not in data: data += s.recv(4096)
            first = [connect() for _ in range(40)]
            held = fewer(first, 20)
            print(len(held), all(s in first[20:] for s in held))
            known = connect()
            call(known)
            held = fewer(held + [connect() for _ in range(40)], 19)
            print(len(held))
            call(known)
            print("stays")
            """
        let lines = try await python(script) {
            $0.connections = 30
            $0.reserve = 10
        }
        #expect(lines == ["20 True", "19", "stays"])
    }

    @Test func `random messages get a response or are cut off`() async throws {
        let script = """
            import random
            dice = random.Random(7)
            seeds = [b'{"id":1,"method":"aria2.addUri","params":[["http://h/"],{"dir":"x"}]}', b'[[[[{"a":"\\\\ud800"}]]]]',
                b'{"id":[1e999],"method":"system.multicall","params":[[{"methodName":"aria2.tellStatus"}]]}']
            responses = 0
            for round in range(300):
                text = bytearray(dice.choice(seeds))
                for _ in range(dice.randrange(1, 6)):
                    place = dice.randrange(len(text))
                    action = dice.randrange(4)
                    if action == 0: text[place] = dice.randrange(256)
                    elif action == 1: del text[place]
                    elif action == 2: text[place:place] = bytes([dice.choice(b'{}[]",:0\\\\')])
                    else: text = text[:place] + text[:place]
                    if not text: text = bytearray(b"x")
                s = connect()
                s.sendall(b"POST /jsonrpc HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(text) + text)
                s.shutdown(socket.SHUT_WR) if round % 2 else None
                responses += rest(s).startswith(b"HTTP/1.1 ") if round % 2 == 0 else 1
                s.close()
            print(responses)
            """
        #expect(try await python(script) == ["300"])
    }
}
