import PawlBase
import Testing

@testable import PawlHTTP

@Suite struct ProxyTests {
    @Test func `the login of a proxy's URL is sent to the proxy, and only after its 407`() throws {
        let proxy = try ScriptedServer { request in
            request.header("Proxy-Authorization") == "Basic dXNlcjpzZWNyZXQ="
                ? .body([1, 2, 3])
                : .init("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
        }
        defer { proxy.stop() }
        let request = TransferRequest(host: "files.example", port: 80) {
            $0.proxy = "http://user:secret@127.0.0.1:\(proxy.port)"
        }
        let recorder = try Bench().fetch(request)
        #expect(recorder.events == [.head(200), .body, .ended(.complete)])
        #expect(proxy.requests.map(\.target) == ["http://files.example/file", "http://files.example/file"])
        #expect(proxy.requests.allSatisfy { $0.header("Authorization") == nil })
        #expect(proxy.requests[0].header("Proxy-Authorization") == nil)
    }

    @Test func `a 407 without a login is the final head`() throws {
        let proxy = try ScriptedServer { _ in
            .init("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 2\r\n\r\nno")
        }
        defer { proxy.stop() }
        let request = TransferRequest(host: "files.example", port: 80) { $0.proxy = "http://127.0.0.1:\(proxy.port)" }
        #expect(try Bench().fetch(request).events == [.head(407), .body, .ended(.complete)])
    }

    @Test func `a host on the list bypasses the proxy`() throws {
        let server = try ScriptedServer { _ in .body([1]) }
        let proxy = try ScriptedServer { _ in .body([2]) }
        defer {
            server.stop()
            proxy.stop()
        }
        let bench = try Bench()
        let http1 = try bench.fetch(
            TransferRequest(port: server.port) {
                $0.proxy = "http://127.0.0.1:\(proxy.port)"
                $0.noProxy = "127.0.0.1"
            })
        #expect(http1.body == [1])
        let through = try bench.fetch(
            TransferRequest(port: server.port) { $0.proxy = "http://127.0.0.1:\(proxy.port)" })
        #expect(through.body == [2])
        for (port, body) in [(server.port, [1]), (proxy.port, [2])] as [(UInt16, [UInt8])] {
            let listed = try bench.fetch(
                TransferRequest(port: server.port) {
                    $0.proxy = "http://127.0.0.1:\(proxy.port)"
                    $0.noProxy = "other, 127.0.0.1:\(port)"
                })
            #expect(listed.body == body, "an entry with a port is for that port only")
        }
    }

    @Test func `a proxy whose name cannot be resolved is the proxy's fault`() throws {
        let request = TransferRequest(port: 80) { $0.proxy = "http://nowhere.invalid:3128" }
        #expect(try Bench().fetch(request).fault?.kind == .proxy)
    }

    @Test(arguments: ["socks4", "socks4a", "socks5", "socks5h"])
    func `a SOCKS proxy that speaks another protocol is the proxy's fault`(scheme: String) throws {
        let proxy = try ScriptedServer(greeting: "HTTP/1.1 400 What\r\n\r\n") { _ in .init("", .close) }
        defer { proxy.stop() }
        let request = TransferRequest(port: 80) { $0.proxy = "\(scheme)://127.0.0.1:\(proxy.port)" }
        #expect(try Bench().fetch(request).fault?.kind == .proxy)
    }
}
