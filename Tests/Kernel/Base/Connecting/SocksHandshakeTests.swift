import Testing

@testable import PawlBase

/// Byte by byte as RFC 1928, RFC 1929 and the documents of SOCKS4 and 4a have them.
@Suite struct SocksHandshakeTests {
    private static let login = Credentials(user: "Fred", password: "pw")
    private static let name = SocksHandshake.Target.name("h.example")
    private static let nameBytes = Array("h.example".utf8)

    private func handshake(
        _ kind: ProxyRoute.Kind, _ target: SocksHandshake.Target, _ login: Credentials? = nil
    ) throws -> SocksHandshake { try SocksHandshake(kind, to: target, port: 0x1F90, login: login) }

    /// Feeds replies in all ways to cut them in two, and returns what is the same for all: what was sent, and the end.
    private func run(
        _ handshake: SocksHandshake, _ bytes: [UInt8]
    ) -> (sent: [[UInt8]], end: SocksHandshake.Step, used: Int) {
        let whole = run(handshake, [bytes])
        for cut in 1..<max(2, bytes.count) {
            let parts = run(handshake, [Array(bytes.prefix(cut)), Array(bytes.dropFirst(cut))])
            #expect(parts == whole, "cut at \(cut)")
        }
        #expect(run(handshake, bytes.map { [$0] }) == whole)
        return whole
    }

    private func run(
        _ handshake: SocksHandshake, _ pieces: [[UInt8]]
    ) -> (sent: [[UInt8]], end: SocksHandshake.Step, used: Int) {
        var handshake = handshake
        var sent = [handshake.greeting]
        var total = 0
        for piece in pieces {
            var rest = piece[...]
            while !rest.isEmpty {
                let (used, step) = unsafe rest.withUnsafeBytes { unsafe handshake.received($0) }
                rest = rest.dropFirst(used)
                total += used
                switch step {
                case .more: break
                case .send(let bytes): sent.append(bytes)
                case .open, .failed: return (sent, step, total)
                }
            }
        }
        return (sent, .more, total)
    }

    private let opened: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]

    @Test func `SOCKS5 without a login`() throws {
        let (sent, end, used) = run(try handshake(.socks5(resolves: true), Self.name), [5, 0] + opened + [7, 7])
        #expect(sent == [[5, 1, 0], [5, 1, 0, 3, 9] + Self.nameBytes + [0x1F, 0x90]])
        #expect(end == .open && used == 12, "what follows is the host's")
    }

    @Test func `SOCKS5 with a login, where the proxy demands it and where not`() throws {
        let handshake = try handshake(.socks5(resolves: false), .address([9, 8, 7, 6]), Self.login)
        let request: [UInt8] = [5, 1, 0, 1, 9, 8, 7, 6, 0x1F, 0x90]
        let message: [UInt8] = [1, 4] + Array("Fred".utf8) + [2] + Array("pw".utf8)
        #expect(run(handshake, [5, 2, 1, 0] + opened) == ([[5, 2, 0, 2], message, request], .open, 14))
        #expect(run(handshake, [5, 2, 5, 0] + opened) == ([[5, 2, 0, 2], message, request], .open, 14))
        #expect(run(handshake, [5, 0] + opened) == ([[5, 2, 0, 2], request], .open, 12))
        #expect(run(handshake, [5, 2, 4, 0]).end == .failed(.socksNotSpoken))
        #expect(run(handshake, [5, 2, 1, 1]).end == .failed(.socksRefused("the login was rejected")))
    }

    @Test func `SOCKS5 to an address of IPv6, and replies with every type of address`() throws {
        let address = [UInt8](repeating: 0, count: 15) + [1]
        let handshake = try handshake(.socks5(resolves: true), .address(address))
        let (sent, _, _) = run(handshake, [5, 0])
        #expect(sent == [[5, 1, 0], [5, 1, 0, 4] + address + [0x1F, 0x90]])
        let longest = [UInt8](repeating: 0x61, count: 255)
        for reply in [[4] + address, [3, 0], [3, 1, 0x61], [3, 255] + longest, [1, 0, 0, 0, 0]] as [[UInt8]] {
            let bytes = [5, 0] + [5, 0, 0] + reply + [0, 80]
            #expect(run(handshake, bytes).end == .open)
            #expect(run(handshake, Array(bytes.dropLast())).end == .more)
        }
    }

    @Test(
        arguments: [
            (1, "general SOCKS server failure"), (5, "connection refused"), (8, "address type not supported"),
            (9, "code 9"),
            (255, "code 255"),
        ] as [(UInt8, String)])
    func `SOCKS5 that refuses says why, also in a short reply`(code: UInt8, reason: String) throws {
        let end = run(try handshake(.socks5(resolves: true), Self.name), [5, 0, 5, code]).end
        #expect(end == .failed(.socksRefused(reason)))
        guard case .failed(let fault) = end else { return }
        #expect(fault.kind == .proxy && fault.text == "the proxy refused the connection: \(reason)")
    }

    @Test(arguments: [[5, 0xFF], [5, 2]] as [[UInt8]]) func `a login that is missing`(reply: [UInt8]) throws {
        let handshake = try handshake(.socks5(resolves: true), Self.name)
        #expect(run(handshake, reply).end == .failed(.socksRefused("it requires a login")))
    }

    @Test func `SOCKS4 and 4a`() throws {
        let old = try handshake(.socks4(resolves: false), .address([9, 8, 7, 6]), Self.login)
        let granted: [UInt8] = [0, 90, 1, 2, 3, 4, 5, 6]
        let head: [UInt8] = [4, 1, 0x1F, 0x90]
        #expect(run(old, granted + [1]) == ([head + [9, 8, 7, 6] + Array("Fred".utf8) + [0]], .open, 8))
        let new = try handshake(.socks4(resolves: true), Self.name)
        #expect(run(new, granted) == ([head + [0, 0, 0, 1, 0] + Self.nameBytes + [0]], .open, 8))
        #expect(run(new, [0, 91]).end == .failed(.socksRefused("request rejected or failed")))
        #expect(run(new, [0, 90, 0, 0, 0, 0, 0]).end == .more)
    }

    @Test(
        arguments: [
            .socks4(resolves: false), .socks4(resolves: true), .socks5(resolves: false), .socks5(resolves: true),
        ] as [ProxyRoute.Kind])
    func `what is no SOCKS is noticed at its first byte`(kind: ProxyRoute.Kind) throws {
        let handshake = try handshake(kind, .address([9, 8, 7, 6]))
        #expect(
            run(handshake, Array("HTTP/1.1 400 What\r\n\r\n".utf8)) == (
                [handshake.greeting], .failed(.socksNotSpoken), 1
            ))
    }

    @Test func `what does not fit into a message is refused`() {
        let long = Credentials(user: String(repeating: "u", count: 256), password: "")
        #expect(throws: TransferFault.unusableProxy) { try handshake(.socks5(resolves: true), Self.name, long) }
        #expect(throws: TransferFault.unusableProxy) { try handshake(.socks4(resolves: true), Self.name, long) }
        let cut = Credentials(user: "a\0b", password: "")
        #expect(throws: TransferFault.unusableProxy) { try handshake(.socks4(resolves: true), Self.name, cut) }
        let address = SocksHandshake.Target.address([UInt8](repeating: 0, count: 15) + [1])
        #expect(throws: TransferFault.noAddress(of: "::1", version: .v4)) {
            try handshake(.socks4(resolves: false), address)
        }
        let host = String(repeating: "h", count: 256)
        #expect(throws: TransferFault.noHost(host)) { try handshake(.socks5(resolves: true), .name(host)) }
    }
}
