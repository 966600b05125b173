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
    } resolving: { name in
        NameCheck.lookUp(name)
    }

    /// A name, and the version of the addresses that it needs.
    struct Name: Hashable, Sendable {
        var host: String
        var version: IPVersion
    }

    private struct State {
        /// When a name was found to be missing.
        var missing: [Name: Instant] = [:]
        /// Names that are being looked up.
        var pending: Set<Name> = []
    }

    private static let lifetime = Interval.seconds(60)
    private static let mostPending = 8
    private static let mostNames = 1_000

    private let state = Mutex(State())
    private let now: @Sendable () -> Instant
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let resolve: @Sendable (Name) -> Bool

    /// `start` runs a lookup elsewhere, since it may block; `resolve` returns whether a name does not exist, or has no address of
    /// the version.
    init(
        now: @escaping @Sendable () -> Instant,
        starting start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        resolving resolve: @escaping @Sendable (Name) -> Bool
    ) {
        self.now = now
        self.start = start
        self.resolve = resolve
    }

    /// Whether a name that could not be resolved is known not to exist; starts a lookup when nothing is known.
    func isMissing(_ host: String, _ version: IPVersion = .any) -> Bool {
        let name = Name(host: host, version: version)
        let now = now()
        let (isKnown, starts) = state.withLock { state -> (Bool, Bool) in
            if let found = state.missing[name] {
                if now - found < NameCheck.lifetime { return (true, false) }
                state.missing[name] = nil
            }
            guard state.pending.count < NameCheck.mostPending else { return (false, false) }
            return (false, state.pending.insert(name).inserted)
        }
        if starts { start { self.look(up: name) } }
        return isKnown
    }

    private func look(up name: Name) {
        let isMissing = resolve(name)
        let now = now()
        state.withLock { state in
            state.pending.remove(name)
            if state.missing.count >= NameCheck.mostNames { state.missing.removeAll() }
            state.missing[name] = isMissing ? now : nil
        }
    }

    private static func lookUp(_ name: Name) -> Bool {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family =
            switch name.version {
            case .any: AF_UNSPEC
            case .v4: AF_INET
            case .v6: AF_INET6
            }
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>? = nil
        let code = unsafe getaddrinfo(name.host, nil, &hints, &found)
        if let found = unsafe found { unsafe freeaddrinfo(found) }
        // EAI_NODATA (-5) and EAI_ADDRFAMILY (-9): the name exists, without such an address.
        return code == EAI_NONAME || code == -5 || code == -9
    }
}
