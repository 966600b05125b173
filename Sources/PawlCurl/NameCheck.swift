import Glibc
import PawlCore
import PawlEngine
import PawlSystem
import Synchronization

/// Tells a name that does not exist from a resolver that does not respond.
///
/// libcurl has one error for both. So the first failure of a name is followed by a lookup on a thread of its own, whose
/// result is there when the request is retried.
final class NameCheck: Sendable {
    static let shared = NameCheck {
        SystemClock().now
    } starting: { body in
        SystemThread.detached("pawl-names", blocksSignals: true, body)
    } resolving: { host in
        NameCheck.lookUp(host)
    }

    private struct State {
        /// When a name was found to be missing.
        var missing: [String: Instant] = [:]
        /// Names that are being looked up.
        var pending: Set<String> = []
    }

    private static let lifetime = Interval.seconds(60)
    private static let mostPending = 8
    private static let mostNames = 1_000

    private let state = Mutex(State())
    private let now: @Sendable () -> Instant
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let resolve: @Sendable (String) -> Bool

    /// `start` runs a lookup elsewhere, since it may block; `resolve` returns whether a name does not exist.
    init(
        now: @escaping @Sendable () -> Instant,
        starting start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        resolving resolve: @escaping @Sendable (String) -> Bool
    ) {
        self.now = now
        self.start = start
        self.resolve = resolve
    }

    /// Whether a name that could not be resolved is known not to exist; starts a lookup when nothing is known.
    func isMissing(_ host: String) -> Bool {
        let now = now()
        let (isKnown, starts) = state.withLock { state -> (Bool, Bool) in
            if let found = state.missing[host] {
                if now - found < NameCheck.lifetime { return (true, false) }
                state.missing[host] = nil
            }
            guard state.pending.count < NameCheck.mostPending else { return (false, false) }
            return (false, state.pending.insert(host).inserted)
        }
        if starts { start { self.look(up: host) } }
        return isKnown
    }

    private func look(up host: String) {
        let isMissing = resolve(host)
        let now = now()
        state.withLock { state in
            state.pending.remove(host)
            if state.missing.count >= NameCheck.mostNames { state.missing.removeAll() }
            state.missing[host] = isMissing ? now : nil
        }
    }

    private static func lookUp(_ host: String) -> Bool {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>? = nil
        let code = unsafe getaddrinfo(host, nil, &hints, &found)
        if let found = unsafe found { unsafe freeaddrinfo(found) }
        // EAI_NODATA (-5): the name exists, without an address.
        return code == EAI_NONAME || code == -5
    }
}
