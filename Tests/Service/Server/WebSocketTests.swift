import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// WebSockets with third-party clients: `websockets` and `websocket-client` of PyPI.
@Suite struct WebSocketTests {
    private let payload = Payload(seed: 614, length: 2_000_000)

    /// Runs a script of a client with the URL, the secret and further arguments, and returns its output.
    private func python(_ bench: ServiceBench, _ script: String, _ more: String...) async throws -> [String] {
        let address = "ws://127.0.0.1:\(bench.service.port)/jsonrpc"
        let process = try await bench.run(PythonClients.path, ["-c", script, address, "token:" + bench.secret] + more)
        #expect(process.exit == .code(0), "\(process.errors)")
        return process.output.split(separator: "\n").map(String.init)
    }

    @Test(.enabled(if: PythonClients.areThere, "PyPI could not be reached"))
    func `responses come in the order of the calls, and events are sent to authenticated clients`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let script = """
            import asyncio, json, sys, websockets
            address, token, url = sys.argv[1:]
            def message(id, method, *params):
                return json.dumps({"id": id, "method": "aria2." + method, "params": [token, *params]})
            async def main():
                async with websockets.connect(address) as unauthenticated, websockets.connect(address) as client:
                    for number in range(40):
                        await client.send(message(number, "getVersion"))
                    responses = [json.loads(await client.recv())["id"] for _ in range(40)]
                    print(responses == list(range(40)))
                    await client.send(message("a", "addUri", [url], {"gid": "00000000000000aa", "max-download-limit": "2K"}))
                    await client.send(json.dumps([{"id": 1, "method": "system.listMethods"}, 5]))
                    seen, events = [], []
                    def take(text):
                        message = json.loads(text)
                        if isinstance(message, list): seen.append(len(message))
                        elif "method" in message: events.append((message["method"], message["params"][0]["gid"]))
                        else: seen.append(message["result"])
                    while not any(name == "aria2.onDownloadStart" for name, _ in events):
                        take(await client.recv())
                    await client.send(message("p", "pause", "00000000000000aa"))
                    while not any(name == "aria2.onDownloadPause" for name, _ in events):
                        take(await client.recv())
                    await client.send(message("u", "unpause", "00000000000000aa"))
                    await client.send(message("o", "changeOption", "00000000000000aa", {"max-download-limit": "0"}))
                    while not any(name == "aria2.onDownloadComplete" for name, _ in events):
                        take(await client.recv())
                    await client.send("{")
                    print(json.loads(await client.recv())["error"]["code"])
                    print(seen)
                    print([name for name, gid in events if gid == "00000000000000aa"])
                    await unauthenticated.send(json.dumps({"id": 9, "method": "system.listNotifications"}))
                    print(json.loads(await unauthenticated.recv())["id"])
            asyncio.run(main())
            """
        let lines = try await python(bench, script, url)
        #expect(
            lines == [
                "True", "-32700", "['00000000000000aa', 1, '00000000000000aa', '00000000000000aa', 'OK']",
                "['aria2.onDownloadStart', 'aria2.onDownloadPause', 'aria2.onDownloadStart', 'aria2.onDownloadComplete']",
                "9",
            ])
        await bench.close()
    }

    @Test(.enabled(if: PythonClients.areThere, "PyPI could not be reached"))
    func `invalid upgrades have their statuses`() async throws {
        let bench = try await ServiceBench()
        let key = "dGhlIHNhbXBsZSBub25jZQ=="
        func status(_ path: String, _ version: String, _ origin: String) async throws -> String {
            try await bench.curl(
                "-o", "/dev/null", "-w", "%{http_code}", "--http1.1", "-H", "Connection: Upgrade", "-H",
                "Upgrade: websocket", "-H", "Sec-WebSocket-Key: \(key)", "-H", "Sec-WebSocket-Version: \(version)",
                "-H", "Origin: \(origin)", "http://127.0.0.1:\(bench.service.port)\(path)")
        }
        let own = "http://127.0.0.1:\(bench.service.port)"
        #expect(try await status("/other", "13", own) == "404")
        #expect(try await status("/jsonrpc", "8", own) == "426")
        #expect(try await status("/jsonrpc", "13", "http://evil.example") == "403")
        await bench.close()
    }

    @Test(.enabled(if: PythonClients.areThere, "PyPI could not be reached"))
    func `a service that stops reports running downloads`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload) { $0.pace = 2_000 }
        let script = """
            import json, sys, websocket
            address, token, url = sys.argv[1:]
            client = websocket.create_connection(address)
            client.send(json.dumps({"id": 1, "method": "aria2.addUri", "params": [token, [url]]}))
            stopping = False
            while True:
                text = client.recv()
                if not text: break
                message = json.loads(text)
                if "method" not in message:
                    print("result" in message)
                    continue
                print(message["method"])
                if message["method"] == "aria2.onDownloadStart":
                    client.send(json.dumps({"id": 2, "method": "aria2.shutdown", "params": [token]}))
            """
        async let stopped: Void = {
            await bench.service.waitUntilStopRequested()
            await bench.close()
        }()
        let lines = try await python(bench, script, url)
        #expect(lines.sorted() == ["True", "True", "aria2.onDownloadStart", "aria2.onDownloadStop"])
        await stopped
    }
}
