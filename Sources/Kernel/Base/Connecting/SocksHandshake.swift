/// The conversation with a SOCKS proxy until it has connected: SOCKS4 and 4a, SOCKS5 (RFC 1928) with user name and
/// password (RFC 1929).
///
/// At most 262 bytes are read for one reply.
package struct SocksHandshake: Hashable, Sendable {
    package enum Target: Hashable, Sendable {
        /// The proxy looks it up.
        case name(String)
        /// Four bytes or sixteen.
        case address([UInt8])
    }

    package enum Step: Hashable, Sendable {
        /// All bytes were read; more are needed.
        case more
        case send([UInt8])
        /// What follows comes from the target.
        case open
        case failed(TransferFault)
    }

    /// The reply that is awaited.
    private enum Phase: Hashable, Sendable {
        case method
        case login
        case connection
        case connection4
    }

    private var phase: Phase
    /// The reply so far.
    private var reply: [UInt8] = []
    private let request: [UInt8]
    /// The message of RFC 1929; `nil` without a login.
    private let login: [UInt8]?

    /// What is sent first.
    package let greeting: [UInt8]

    /// Throws when the target or the login does not fit into its message.
    package init(
        _ kind: ProxyRoute.Kind, to target: Target, port: UInt16, login: Credentials?
    ) throws(TransferFault) {
        let port = [UInt8(port >> 8), UInt8(port & 0xFF)]
        if case .name(let host) = target, host.utf8.count > 255 || host.utf8.contains(0) { throw .noHost(host) }
        let (user, password) = (Array((login?.user ?? "").utf8), Array((login?.password ?? "").utf8))
        if case .socks4 = kind {
            guard !user.contains(0), user.count <= 255 else { throw .unusableProxy }
            var (address, name): ([UInt8], [UInt8]) = ([0, 0, 0, 1], [])
            switch target {
            case .name(let host): name = host.utf8 + [0]
            case .address(let bytes): address = bytes
            }
            guard address.count == 4 else { throw .noAddress(of: NumericAddress.text(of: address), version: .v4) }
            request = []
            self.login = nil
            greeting = [4, 1] + port + address + user + [0] + name
            phase = .connection4
            return
        }
        guard user.count <= 255, password.count <= 255 else { throw .unusableProxy }
        let address: [UInt8]
        switch target {
        case .name(let host): address = [3, UInt8(host.utf8.count)] + host.utf8
        case .address(let bytes): address = [bytes.count == 4 ? 1 : 4] + bytes
        }
        request = [5, 1, 0] + address + port
        self.login = login.map { _ in [1, UInt8(user.count)] + user + [UInt8(password.count)] + password }
        greeting = login == nil ? [5, 1, 0] : [5, 2, 0, 2]
        phase = .method
    }

    /// Reads from the front of `bytes` up to the next step; returns how many bytes that was.
    package mutating func received(_ bytes: UnsafeRawBufferPointer) -> (used: Int, step: Step) {
        // Each byte by itself, so that it does not matter how they are divided.
        for index in bytes.indices {
            unsafe reply.append(bytes[index])
            if let step = step() { return (index + 1, step) }
        }
        return (bytes.count, .more)
    }

    private mutating func step() -> Step? {
        let version: UInt8 =
            switch phase {
            case .method, .connection: 5
            // Some proxies send the version of the protocol, not that of this message.
            case .login: reply[0] == 5 ? 5 : 1
            case .connection4: 0
            }
        guard reply[0] == version else { return .failed(.socksNotSpoken) }
        guard reply.count >= 2 else { return nil }
        switch phase {
        case .method:
            switch (reply[1], login) {
            case (0, _): return send(request, .connection)
            case (2, let login?): return send(login, .login)
            case (0xFF, nil), (2, nil): return .failed(.socksRefused("it requires a login"))
            case _: return .failed(.socksRefused("it accepts no user name and password"))
            }
        case .login:
            return reply[1] == 0 ? send(request, .connection) : .failed(.socksRefused("the login was rejected"))
        case .connection:
            guard reply[1] == 0 else { return .failed(.socksRefused(Self.reason(reply[1]))) }
            guard reply.count >= 5 else { return nil }
            let lengths: [UInt8: Int] = [1: 10, 3: 7 + Int(reply[4]), 4: 22]
            guard let length = lengths[reply[3]] else { return .failed(.socksNotSpoken) }
            return reply.count < length ? nil : .open
        case .connection4:
            guard reply[1] == 90 else { return .failed(.socksRefused(Self.reason4(reply[1]))) }
            return reply.count < 8 ? nil : .open
        }
    }

    private mutating func send(_ bytes: [UInt8], _ next: Phase) -> Step {
        phase = next
        reply = []
        return .send(bytes)
    }

    /// RFC 1928 §6.
    private static func reason(_ code: UInt8) -> String {
        let known = [
            "general SOCKS server failure", "connection not allowed by ruleset", "network unreachable",
            "host unreachable", "connection refused", "TTL expired", "command not supported",
            "address type not supported",
        ]
        return 1...8 ~= code ? known[Int(code) - 1] : "code \(code)"
    }

    private static func reason4(_ code: UInt8) -> String {
        switch code {
        case 91: "request rejected or failed"
        case 92: "it cannot connect to identd on this machine"
        case 93: "identd on this machine reports another user"
        case _: "code \(code)"
        }
    }
}
