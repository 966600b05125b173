import Testing

@testable import PawlBase

@Suite struct EstablishmentTests {
    @Test func `in any network a connection is made, or it is said why not`() {
        var notes: Set<String> = []
        var outcomes: [String: Int] = [:]
        for seed in 0..<UInt64(10_000) {
            let world = ConnectingWorld(seed: seed)
            var shell = ConnectingShell(world)
            if let broken = shell.run() {
                Issue.record("seed \(seed): \(broken), \(world)")
                if outcomes["broken", default: 0] > 3 { break }
                outcomes["broken", default: 0] += 1
            }
            notes.formUnion(shell.notes)
            switch shell.outcome {
            case .ready: outcomes["ready", default: 0] += 1
            case .refused: outcomes["refused", default: 0] += 1
            case .failed(let fault): outcomes["\(fault.kind)", default: 0] += 1
            case nil: break
            }
        }
        #expect(notes == ["race", "login", "held"])
        #expect(outcomes["ready", default: 0] > 1000 && outcomes["refused", default: 0] > 20)
        let kinds = [
            "proxy", "tls", "connectTimeout", "nameMissing", "nameResolution", "privateAddress", "connectionRefused",
        ]
        for kind in kinds { #expect(outcomes[kind, default: 0] > 10, "\(kind)") }
    }

    @Test(arguments: ["", "http", "https", "socks4", "socks4a", "socks5", "socks5h"], [false, true])
    func `every reachable state keeps the laws of an establishment`(scheme: String, isSecure: Bool) {
        let login = Credentials(user: "user", password: "secret")
        let route = scheme.isEmpty ? nil : ProxyRoute("\(scheme)://proxy.example:1080", login: login)
        var terms = ConnectTerms(host: "host.example", port: 443, isSecure: isSecure, route: route)
        terms.deniesPrivateAddresses = true
        let (states, isWhole, broken) = EstablishmentWalkState.walk(terms, most: 20_000)
        #expect(broken == nil)
        #expect(isWhole || states.count >= 20_000)
        let outcomes = Set(states.compactMap(\.outcome))
        #expect(outcomes.contains("ready"))
    }
}
