@testable import PawlBase

/// A network with one host, perhaps behind a proxy, as chance has it.
struct ConnectingWorld {
    /// What becomes of a connection to an address.
    enum Reach: Hashable {
        case opens(after: Int64)
        case refuses(after: Int64)
        case hangs
    }

    /// What an HTTP proxy does with CONNECT.
    enum Tunnelling: Hashable, CaseIterable {
        case opens, opensWithMore, refuses, closes, isSilent, isOther
        /// It demands a login.
        case demands, demandsTwice, demandsOther, isStale
    }

    /// The body of a 407.
    enum Body: Hashable, CaseIterable { case none, short, long, chunked, untilClose, late, followed, cut }

    /// What a SOCKS proxy does.
    enum Socks: Hashable, CaseIterable {
        case works, worksWithMore, demands, rejects, refuses, closes, isSilent, isOther
    }

    /// What a TLS handshake does.
    enum Handshake: Hashable, CaseIterable {
        case works, fails, isLost, hangs
        /// A judge considers the certificates.
        case isAccepted, isRefused, isLostMeanwhile
    }

    static let host = "host.example"
    static let secret = "pass-word"

    var terms: ConnectTerms
    var lookups: [String: HostResult] = [:]
    var lookupTime: Int64
    /// Of the proxy, or of the host without one.
    var reach: [Endpoint: Reach] = [:]
    var isDigest: Bool
    var tunnelling: Tunnelling
    var body: Body
    var keeps: Bool
    var socks: Socks
    var proxyHandshake: Handshake
    var originHandshake: Handshake
    /// The length of what is read at once.
    var piece: Int
    var lag: Int64

    init(seed: UInt64) {
        var dice = Dice(seed: seed)
        func below(_ count: Int) -> Int { Int(dice.next() % UInt64(count)) }
        func chance(_ percent: Int) -> Bool { below(100) < percent }
        func pick<Value>(_ values: [Value], _ usual: Int) -> Value {
            chance(60) ? values[usual] : values[below(values.count)]
        }
        let kinds: [ProxyRoute.Kind?] = [
            nil, .http(isSecure: false), .http(isSecure: true), .socks4(resolves: false), .socks4(resolves: true),
            .socks5(resolves: false), .socks5(resolves: true),
        ]
        let login = chance(50) ? Credentials(user: "user", password: Self.secret) : nil
        let route = kinds[below(kinds.count)].map { kind in
            let names: [ProxyRoute.Kind: String] = [
                .http(isSecure: false): "http", .http(isSecure: true): "https", .socks4(resolves: false): "socks4",
                .socks4(resolves: true): "socks4a", .socks5(resolves: false): "socks5",
                .socks5(resolves: true): "socks5h",
            ]
            return ProxyRoute("\(names[kind] ?? "")://proxy.example:3128", login: login)
        }
        terms = ConnectTerms(host: Self.host, port: 443, isSecure: chance(60), route: route)
        terms.timeout = chance(80) ? .seconds(20) : .milliseconds(Int64(below(3000)))
        terms.lookupTimeout = chance(80) ? terms.timeout : .milliseconds(400)
        terms.deniesPrivateAddresses = chance(20)
        terms.version = chance(80) ? .any : chance(50) ? .v4 : .v6
        if chance(10) { terms.given = Endpoint("203.0.113.77", port: 443) }
        lookupTime = Int64(below(chance(90) ? 300 : 30_000))
        let texts = ["203.0.113.1", "2001:db8::1", "10.0.0.1", "203.0.113.2", "2001:db8::2", "fe80::1%eth0"]
        let hosts = [Self.host, "proxy.example"]
        for host in hosts {
            let found = texts.filter { _ in chance(45) }
            lookups[host] =
                chance(5) ? .unavailable : found.isEmpty ? .missing : .addresses(chance(50) ? found : found.reversed())
        }
        for text in texts + ["203.0.113.77"] {
            guard let endpoint = Endpoint(text, port: route == nil ? 443 : 3128) else { continue }
            let late = Int64(chance(50) ? 0 : below(500))
            reach[endpoint] = chance(45) ? .opens(after: late) : chance(50) ? .refuses(after: late) : .hangs
        }
        isDigest = chance(50)
        tunnelling = pick(Tunnelling.allCases, chance(50) ? 0 : 6)
        body = pick(Body.allCases, 1)
        keeps = chance(60)
        socks = pick(Socks.allCases, chance(50) ? 0 : 2)
        proxyHandshake = pick(Handshake.allCases, 0)
        originHandshake = pick(Handshake.allCases, 0)
        piece = chance(50) ? 1 + below(9) : 4096
        lag = Int64(below(40))
    }

    /// Whether the connection has to be made, since nothing prevents it.
    var isFriendly: Bool {
        socks != .worksWithMore && tunnelling != .opensWithMore && terms.timeout >= .seconds(20)
            && terms.lookupTimeout >= .seconds(20) && lookupTime < 300 && !isHopeless
    }

    /// Whether the connection must not be made.
    var isHopeless: Bool {
        guard canReach else { return true }
        let bad: Set<Handshake> = [.fails, .isLost, .hangs, .isRefused]
        if terms.isSecure, bad.contains(originHandshake) { return true }
        guard let route = terms.route else { return false }
        if route.kind == .http(isSecure: true), bad.contains(proxyHandshake) { return true }
        guard !route.kind.isHTTP else { return terms.isTunnelled && isRefused(route.login != nil) }
        if !route.kind.resolves, terms.given == nil, lookedUp(Self.host, route.kind == .socks4(resolves: false)) == nil
        {
            return true
        }
        switch socks {
        case .works: return false
        case .demands: return route.kind.isSocks5 && route.login == nil
        case .rejects: return !route.kind.isSocks5 || route.login != nil
        case .worksWithMore: return isReadAtOnce
        case .refuses, .closes, .isSilent, .isOther: return true
        }
    }

    /// Otherwise what follows a reply is not read with it.
    private var isReadAtOnce: Bool { piece > 1000 }

    private func isRefused(_ hasLogin: Bool) -> Bool {
        switch tunnelling {
        case .opens: false
        case .demands: !hasLogin
        case .isStale: !hasLogin || !isDigest
        case .opensWithMore: isReadAtOnce
        case .refuses, .closes, .isSilent, .isOther, .demandsTwice, .demandsOther: true
        }
    }

    private var canReach: Bool {
        let endpoints =
            terms.route == nil && terms.given != nil
            ? [terms.given].compactMap { $0 }
            : (lookedUp(terms.route == nil ? Self.host : "proxy.example", false) ?? [])
                .compactMap { Endpoint($0, port: terms.route == nil ? 443 : 3128) }
        return endpoints.contains { endpoint in
            guard case .opens? = reach[endpoint] else { return false }
            return !terms.deniesPrivateAddresses || !PrivateNetworks.contains(endpoint.bytes)
        }
    }

    /// The addresses that the resolver gives.
    func lookedUp(_ host: String, _ isOld: Bool) -> [String]? {
        let query = HostQuery(host, isOld ? .v4 : terms.version)
        if case .addresses(let texts) = result(of: query) { return texts }
        return nil
    }

    func result(of query: HostQuery) -> HostResult {
        guard case .addresses(let texts)? = lookups[query.host] else { return lookups[query.host] ?? .missing }
        let found = texts.filter(query.version.allows(numericHost:))
        return found.isEmpty ? .missing : .addresses(found)
    }
}

extension ProxyRoute.Kind { var isSocks5: Bool { if case .socks5 = self { true } else { false } } }

/// A proxy's end of one connection.
struct FakeProxy {
    enum Reply: Hashable {
        case bytes([UInt8])
        case close
    }

    /// What it has demanded, over all its connections.
    struct Memory {
        var demands = 0
    }

    let world: ConnectingWorld
    /// Whether the connection leads to the host.
    private(set) var isThrough = false
    private var heard: [UInt8] = []
    private var hasLogin = false
    private var hasGreeted = false

    init(_ world: ConnectingWorld) { self.world = world }

    /// Returns the law that the client broke, and what it gets.
    mutating func receive(_ bytes: [UInt8], _ memory: inout Memory) -> (broken: String?, replies: [Reply]) {
        guard !isThrough else { return ("bytes for the proxy were sent to the host", []) }
        heard += bytes
        switch world.terms.route?.kind {
        case .http: return tunnel(&memory)
        case .socks4: return socks4()
        case .socks5: return socks5()
        case nil: return ("bytes for a proxy that there is not", [])
        }
    }

    // MARK: CONNECT

    private mutating func tunnel(_ memory: inout Memory) -> (broken: String?, replies: [Reply]) {
        guard heard.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return ("half a request", []) }
        let lines = String(decoding: heard, as: UTF8.self).split(separator: "\r\n")
        heard = []
        let host = world.terms.given == nil ? ConnectingWorld.host : "203.0.113.77"
        guard lines.starts(with: ["CONNECT \(host):443 HTTP/1.1", "Host: \(host):443"]) else {
            return ("CONNECT to another host: \(lines)", [])
        }
        let login = lines.first { $0.hasPrefix("Proxy-Authorization: ") }?.dropFirst(21)
        if login != nil, memory.demands == 0 { return ("a login that was not demanded", []) }
        let challenge = challenge(memory)
        let isRight = login.map { String($0) } == Self.field(challenge, "\(host):443")
        switch world.tunnelling {
        case .opens: return open([])
        case .opensWithMore: return open([0x48])
        case .refuses: return (nil, [.bytes(Array("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".utf8))])
        case .closes: return (nil, [.close])
        case .isSilent: return (nil, [])
        case .isOther: return (nil, [.bytes(Array("SSH-2.0-OpenSSH\r\n".utf8))])
        case .demands where isRight, .isStale where isRight && memory.demands > 1: return open([])
        case .demands, .demandsTwice, .demandsOther, .isStale:
            memory.demands += 1
            if memory.demands > 2 { return ("a third login", []) }
            let next = self.challenge(memory)
            return (nil, demand(next))
        }
    }

    private mutating func open(_ more: [UInt8]) -> (broken: String?, replies: [Reply]) {
        isThrough = true
        return (nil, [.bytes(Array("HTTP/1.0 200 Connection established\r\n\r\n".utf8) + more)])
    }

    private func challenge(_ memory: Memory) -> String {
        if world.tunnelling == .demandsOther { return "Negotiate" }
        guard world.isDigest else { return "Basic realm=\"p\"" }
        let stale = world.tunnelling == .isStale && memory.demands > 1 ? ", stale=true" : ""
        return "Digest realm=\"p\", nonce=\"n\(memory.demands)\", qop=\"auth\"\(stale)"
    }

    /// The field with which the right client responds.
    private static func field(_ challenge: String, _ target: String) -> String? {
        let login = Credentials(user: "user", password: ConnectingWorld.secret)
        return ConnectingShell.field(LoginChallenge.parse(challenge), login, target)
    }

    private func demand(_ challenge: String) -> [Reply] {
        var head = "HTTP/1.1 407 No\r\nProxy-Authenticate: \(challenge)\r\n"
        if !world.keeps { head += "Connection: close\r\n" }
        func text(_ framing: String, _ body: String) -> Reply { .bytes(Array((head + framing + "\r\n" + body).utf8)) }
        let end: [Reply] = world.keeps ? [] : [.close]
        switch world.body {
        case .none: return [text("Content-Length: 0\r\n", "")] + end
        case .short: return [text("Content-Length: 5\r\n", "login")] + end
        case .long:
            return [text("Content-Length: 100000\r\n", String(repeating: "x", count: 500))] + end
        case .chunked: return [text("Transfer-Encoding: chunked\r\n", "5\r\nlogin\r\n0\r\n\r\n")] + end
        case .untilClose: return [text("", "login"), .close]
        case .late: return [text("Content-Length: 5\r\n", "lo")]
        case .followed: return [text("Content-Length: 5\r\n", "login and more")] + end
        case .cut: return [text("Content-Length: 5\r\n", "lo"), .close]
        }
    }

    // MARK: SOCKS

    private mutating func socks4() -> (broken: String?, replies: [Reply]) {
        let user = Array((world.terms.route?.login == nil ? "" : "user").utf8) + [0]
        var wanted: [[UInt8]] = []
        if world.terms.given != nil {
            wanted = [[203, 0, 113, 77] + user]
        } else if world.terms.route?.kind.resolves == true {
            wanted = [[0, 0, 0, 1] + user + Array("host.example".utf8) + [0]]
        } else {
            wanted = (world.lookedUp(ConnectingWorld.host, true) ?? []).compactMap(NumericAddress.bytes(of:)).map {
                $0 + user
            }
        }
        guard wanted.contains(where: { heard == [4, 1, 1, 0xBB] + $0 }) else { return ("not SOCKS4: \(heard)", []) }
        switch world.socks {
        case .works, .demands: return through([0, 90, 0, 0, 0, 0, 0, 0])
        case .worksWithMore: return through([0, 90, 0, 0, 0, 0, 0, 0, 1])
        case .rejects, .refuses: return (nil, [.bytes([0, 93, 0, 0, 0, 0, 0, 0])])
        case .closes: return (nil, [.close])
        case .isSilent: return (nil, [])
        case .isOther: return (nil, [.bytes(Array("HTTP/1.1 400 What\r\n\r\n".utf8))])
        }
    }

    private mutating func through(_ bytes: [UInt8]) -> (broken: String?, replies: [Reply]) {
        isThrough = true
        return (nil, [.bytes(bytes)])
    }

    private mutating func socks5() -> (broken: String?, replies: [Reply]) {
        let secret = Array(ConnectingWorld.secret.utf8)
        defer { heard = [] }
        guard hasGreeted else {
            hasGreeted = true
            guard heard == [5, 1, 0] || heard == [5, 2, 0, 2] else { return ("not SOCKS5: \(heard)", []) }
            switch world.socks {
            case .closes: return (nil, [.close])
            case .isSilent: return (nil, [])
            case .isOther: return (nil, [.bytes(Array("HTTP/1.1 400 What\r\n\r\n".utf8))])
            case .works, .worksWithMore, .refuses: return (nil, [.bytes([5, 0])])
            case .demands, .rejects:
                hasLogin = heard == [5, 2, 0, 2]
                return (nil, [.bytes([5, hasLogin ? 2 : world.socks == .demands ? 0xFF : 0])])
            }
        }
        if hasLogin {
            hasLogin = false
            guard heard == [1, 4] + Array("user".utf8) + [UInt8(secret.count)] + secret else {
                return ("not the login: \(heard)", [])
            }
            return (nil, [.bytes([1, world.socks == .rejects ? 1 : 0])])
        }
        guard heard.starts(with: [5, 1, 0]), heard.suffix(2) == [1, 0xBB] else { return ("no request", []) }
        let target = Array(heard.dropFirst(3).dropLast(2))
        let isRight =
            if world.terms.given != nil {
                target == [1, 203, 0, 113, 77]
            } else if world.terms.route?.kind.resolves == true {
                target == [3, 12] + Array("host.example".utf8)
            } else {
                (world.lookedUp(ConnectingWorld.host, false) ?? []).compactMap { Endpoint($0, port: 1)?.bytes }
                    .contains { target == [$0.count == 4 ? 1 : 4] + $0 }
            }
        guard isRight else { return ("another target: \(target)", []) }
        switch world.socks {
        case .refuses: return (nil, [.bytes([5, 5, 0])])
        case .worksWithMore: return through([5, 0, 0, 3, 2, 0x61, 0x62, 0, 1, 7])
        case _: return through([5, 0, 0, 4] + [UInt8](repeating: 0, count: 18))
        }
    }
}
