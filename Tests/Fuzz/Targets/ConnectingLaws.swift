@testable import PawlBase

/// Replies of SOCKS proxies: it does not matter how they are divided, and no more is read than the longest has.
enum SocksLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let kinds: [ProxyRoute.Kind] = [
            .socks4(resolves: false), .socks4(resolves: true), .socks5(resolves: false), .socks5(resolves: true),
        ]
        let kind = kinds[Int(input.byte() % 4)]
        let login = input.flag() ? Credentials(user: input.text(), password: input.text()) : nil
        let target: SocksHandshake.Target = input.flag() ? .name(input.text()) : .address([9, 8, 7, 6])
        guard let handshake = try? SocksHandshake(kind, to: target, port: 443, login: login) else { return }
        let (size, bytes) = (Int(input.byte() % 24) + 1, input.rest())
        let outcome = run(handshake, bytes, pieces: size)
        try hold(run(handshake, bytes, pieces: bytes.count + 1) == outcome, "pieces of \(size) make a difference")
        // The method, the login, and a name of 255 bytes.
        try hold(outcome.used <= 2 + 2 + 262, "\(outcome.used) bytes were read")
        try hold(outcome.end != .more || outcome.used == bytes.count, "bytes are left, and more are wanted")
        try hold(outcome.sent.allSatisfy { $0.count <= 520 }, "a long message")
        let isOld = if case .socks4 = kind { true } else { false }
        try hold(outcome.sent.count <= (isOld ? 1 : login == nil ? 2 : 3), "\(outcome.sent.count) messages")
        guard outcome.end == .open else { return }
        try hold(isOld ? bytes[1] == 90 : bytes[0] == 5, "open without a reply that says so")
    }

    private static func run(
        _ handshake: SocksHandshake, _ bytes: [UInt8], pieces: Int
    ) -> (sent: [[UInt8]], end: SocksHandshake.Step, used: Int) {
        var (handshake, sent, total) = (handshake, [handshake.greeting], 0)
        while total < bytes.count {
            // The rest of a piece stays where it is.
            let piece = Array(bytes[total..<min(bytes.count, (total / pieces + 1) * pieces)])
            let (used, step) = unsafe piece.withUnsafeBytes { unsafe handshake.received($0) }
            total += used
            switch step {
            case .more: break
            case .send(let message): sent.append(message)
            case .open, .failed: return (sent, step, total)
            }
        }
        return (sent, .more, total)
    }
}

/// Responses to CONNECT: it does not matter how they are divided, and a refusal is never an open tunnel.
enum TunnelLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let (drains, size) = (input.flag(), Int(input.byte() % 24) + 1)
        let status = input.byte()
        let begin =
            status < 240 ? "HTTP/1.\(status & 1) \(["200", "407", "403", "100"][Int(status / 2 % 4)]) x\r\n" : ""
        let bytes = Array(begin.utf8) + input.rest()
        let outcome = try run(bytes, pieces: size, drains)
        let other = try run(bytes, pieces: bytes.count + 1, drains)
        try hold(other == outcome, "pieces of \(size) make a difference")
        switch outcome.step {
        case .open: try hold(bytes[..<outcome.used].starts(with: "HTTP/1.".utf8), "open without a head")
        case .challenged(let head, let keeps):
            try hold(head.status == 407, "a login for \(head.status)")
            try hold(drains || !keeps, "kept with a body that was not read")
            let refusal = ProxyTunnel.refusal(head)
            try hold(refusal.status == 407 && refusal.contentLength == 0, "another refusal")
            try hold(LoginChallenge.all(in: refusal) == LoginChallenge.all(in: head), "other challenges")
        case .refused(let status): try hold(!(200..<300).contains(status) && status != 407, "refused with \(status)")
        case .more: try hold(outcome.used == bytes.count, "bytes are left, and more are wanted")
        case .failed: break
        }
    }

    private static func run(
        _ bytes: [UInt8], pieces: Int, _ drains: Bool
    ) throws(BrokenLaw) -> (used: Int, step: ProxyTunnel.Step) {
        var tunnel = ProxyTunnel(drains: drains)
        var total = 0
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let piece = Array(bytes[start..<min(bytes.count, start + pieces)])
            let (used, step) = unsafe piece.withUnsafeBytes {
                unsafe tunnel.received($0, at: Instant(nanoseconds: 0))
            }
            try hold(used <= piece.count, "more was read than there is")
            total += used
            switch step {
            case .more: try hold(used == piece.count, "bytes are left, and more are wanted")
            // The connection ends: how much of it was read does not matter.
            case .challenged(_, keeps: false), .failed: return (0, step)
            case .open, .challenged, .refused: return (total, step)
            }
        }
        return (total, .more)
    }
}
