import PawlTestKit
import Testing

@testable import PawlBase

@Suite struct HTTP1PoolTests {
    private static func key(_ host: String, _ scheme: WebAddress.Scheme = .http) -> ConnectionKey {
        let settings = SettingsID(rawValue: 1)
        let origin = Origin(scheme: scheme, host: host, port: 80)
        return ConnectionKey(origin, interface: nil, settings: settings, carriesSecrets: false)
    }

    private static func after(_ seconds: Double) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    private enum Event: Hashable, CaseIterable {
        case near, far, secure, retry
        case finish, close, respond
        case wait, expire
    }

    /// The pool and the connections that a client has.
    private struct World: Hashable {
        static let keys = [key("near"), key("far"), key("near", .https)]
        var pool = HTTP1Pool()
        var now = after(0)
        /// When each became idle.
        var idle: [HTTP1ConnectionID: Instant] = [:]
        var busy: [HTTP1ConnectionID] = []
        var keys: [HTTP1ConnectionID: ConnectionKey] = [:]

        /// Returns the law that is broken.
        mutating func apply(_ event: Event) -> String? {
            switch event {
            case .near: return place(0, isRetry: false)
            case .far: return place(1, isRetry: false)
            case .secure: return place(2, isRetry: false)
            case .retry: return place(0, isRetry: true)
            case .finish:
                guard let id = busy.popLast(), let key = keys[id] else { return nil }
                idle[id] = now
                if pool.keep(id, for: key, at: now) != nil { return "a connection was closed too early" }
            case .close:
                guard let id = idle.keys.min(by: { $0.rawValue < $1.rawValue }) else { return nil }
                idle[id] = nil
                pool.remove(id)
            case .respond: pool.responded(Self.keys[2])
            case .wait: now = now + .seconds(1)
            case .expire: now = now + HTTP1Limits.idleTime
            }
            return pool.count == idle.count ? nil : "an idle connection is lost, or a closed one kept"
        }

        private mutating func place(_ index: Int, isRetry: Bool) -> String? {
            let key = Self.keys[index]
            let fitting = idle.filter { keys[$0.key] == key }
            switch pool.place(key, isRetry: isRetry, at: now) {
            case .reuse(let id):
                if isRetry { return "a request is sent again on an old connection" }
                guard let since = idle.removeValue(forKey: id) else { return "one connection, two requests" }
                if keys[id] != key { return "a connection of another key" }
                if now - since >= HTTP1Limits.idleTime { return "a connection that was idle too long" }
                if fitting.contains(where: { $0.value > since }) { return "not the one used last" }
                busy.append(id)
            case .discard(let id):
                guard let since = idle.removeValue(forKey: id) else { return "closed in the middle of a request" }
                if now - since < HTTP1Limits.idleTime { return "a connection was closed too early" }
            case .connect:
                if !isRetry, !fitting.isEmpty { return "an idle connection was not used" }
                let id = HTTP1ConnectionID(rawValue: UInt64(keys.count))
                keys[id] = key
                busy.append(id)
            case .wait:
                if !key.isSecure { return "a request waits for a handshake that there is not" }
                guard let deadline = pool.deadline, deadline > now else { return "waiting without an end" }
            }
            return pool.count == idle.count ? nil : "an idle connection is lost, or a closed one kept"
        }
    }

    @Test func `a connection has one place, and a request the right connection`() {
        var worlds = [World()]
        var ways: [[Event]] = [[]]
        var seen = Set(worlds)
        var next = 0
        while next < worlds.count, ways[next].count < 6, worlds.count < 20_000 {
            for event in Event.allCases {
                var world = worlds[next]
                if let law = world.apply(event) {
                    Issue.record("\(law) after \(ways[next] + [event])")
                    return
                }
                guard seen.insert(world).inserted else { continue }
                worlds.append(world)
                ways.append(ways[next] + [event])
            }
            next += 1
        }
        #expect(worlds.contains { $0.busy.count > 1 && $0.idle.count > 1 })
    }

    @Test func `with more than the limit, the one that has been idle longest is closed`() {
        var pool = HTTP1Pool()
        let ids = (0...HTTP1Limits.idleConnections).map { HTTP1ConnectionID(rawValue: UInt64($0)) }
        let closed = ids.map { pool.keep($0, for: Self.key("near"), at: Self.after(0)) }
        #expect(closed.dropLast().allSatisfy { $0 == nil } && closed.last == ids.first)
        #expect(pool.count == HTTP1Limits.idleConnections)
    }

    @Test func `the settings of trust separate connections over TLS only`() {
        func key(_ scheme: WebAddress.Scheme, _ settings: UInt64, _ carriesSecrets: Bool) -> ConnectionKey {
            let origin = Origin(scheme: scheme, host: "h", port: 1)
            let id = SettingsID(rawValue: settings)
            return ConnectionKey(origin, interface: nil, settings: id, carriesSecrets: carriesSecrets)
        }
        #expect(key(.http, 1, true) == key(.http, 2, false))
        #expect(key(.https, 1, true) != key(.https, 2, true))
        #expect(key(.https, 1, true) != key(.https, 1, false))
    }

    @Test func `addresses given for hosts separate connections, also without TLS`() {
        func key(_ settings: UInt64, _ overridesAddresses: Bool) -> ConnectionKey {
            ConnectionKey(
                Origin(scheme: .http, host: "h", port: 1), interface: nil, settings: SettingsID(rawValue: settings),
                overridesAddresses: overridesAddresses, carriesSecrets: false)
        }
        #expect(key(1, true) == key(1, true) && !key(1, true).isSecure)
        #expect(key(1, true) != key(2, true))
        #expect(key(1, true) != key(1, false))
    }
}
