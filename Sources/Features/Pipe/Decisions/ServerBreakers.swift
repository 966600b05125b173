package import PawlBase

/// Decides whether samples of a server are tried that could not be connected to before (a circuit breaker for each server).
///
/// After some samples in a row have failed to connect, with all their retries, those that follow fail at once. After a pause one of
/// them is tried, and the others with it if it connects.
package struct ServerBreakers: Hashable, Sendable {
    /// What happens to a sample.
    package enum Decision: Hashable, Sendable {
        case attempt
        /// An attempt without retries, which decides for the others.
        case probe
        /// It fails at once, because of this failure of the last attempt.
        case reject(Failure)
    }

    private struct Breaker: Hashable {
        enum State: Hashable {
            /// The number of failures in a row.
            case closed(Int)
            case open(until: Instant)
            case probing
        }

        var state: State
        /// The last one, and its time.
        var failure: Failure
        var time: Instant
    }

    /// How long after the last failure an attempt is made again.
    package static let pause = Interval.seconds(60)
    package static let mostServers = 10_000

    /// The number of samples in a row after which others are rejected; 0: none ever is.
    private let limit: Int
    private var breakers: [String: Breaker] = [:]

    package init(limit: Int) { self.limit = limit }

    /// Why a sample that would only wait for its turn is rejected; `nil` if it may wait.
    package func rejection(of server: String, at now: Instant) -> Failure? {
        guard let breaker = breakers[server] else { return nil }
        switch breaker.state {
        case .closed: return nil
        case .open(let until): return now < until ? breaker.failure : nil
        case .probing: return breaker.failure
        }
    }

    /// A sample is about to start.
    package mutating func start(_ server: String, at now: Instant) -> Decision {
        guard let breaker = breakers[server] else { return .attempt }
        switch breaker.state {
        case .closed: return .attempt
        case .open(let until):
            guard until <= now else { return .reject(breaker.failure) }
            breakers[server]?.state = .probing
            return .probe
        case .probing: return .reject(breaker.failure)
        }
    }

    /// A sample has failed, because it could not connect.
    ///
    /// `isShared`: the failure is that of all samples of the server, such as one of its robots.txt. Returns whether samples are rejected
    /// from now on.
    package mutating func failed(_ server: String, _ failure: Failure, isShared: Bool = false, at now: Instant) -> Bool
    {
        guard limit > 0 else { return false }
        guard var breaker = breakers[server] else {
            makeRoom()
            let isOpen = isShared || limit == 1
            breakers[server] = Breaker(
                state: isOpen ? .open(until: now + ServerBreakers.pause) : .closed(1), failure: failure, time: now)
            return isOpen
        }
        (breaker.failure, breaker.time) = (failure, now)
        switch breaker.state {
        case .closed(let count) where !isShared && count + 1 < limit: breaker.state = .closed(count + 1)
        // A sample that was under way.
        case .open(let until) where now < until: break
        case .closed, .probing, .open: breaker.state = .open(until: now + ServerBreakers.pause)
        }
        breakers[server] = breaker
        if case .open = breaker.state { return true }
        return false
    }

    /// Whether an attempt decides for other samples.
    package func isProbed(_ server: String) -> Bool {
        switch breakers[server]?.state {
        case .open, .probing: true
        case .closed, nil: false
        }
    }

    /// A sample has connected, or says nothing about that.
    package mutating func connected(_ server: String) { breakers[server] = nil }

    /// Makes room for another server; those whose last failure is older are forgotten.
    private mutating func makeRoom() {
        guard breakers.count >= ServerBreakers.mostServers else { return }
        let oldest = breakers.sorted { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
        for (server, _) in oldest.prefix(ServerBreakers.mostServers / 2) { breakers[server] = nil }
    }

    /// The number of servers that something is remembered of.
    package var count: Int { breakers.count }
}

extension Failure {
    /// The failure of a sample that was not tried, after this one of another sample of the server.
    package func rejection(of address: WebAddress) -> Failure {
        let host = address.host.utf8.contains(.colon) ? "[\(address.host)]" : address.host
        let server = address.isLocated ? "the store of \(address.scheme.name)://\(host)" : "\(host):\(address.port)"
        var failure = Failure(
            code, "cannot fetch", at: address.redacted,
            because: "it was not tried, since \(server) could not be connected to repeatedly: \(why)",
            remedy: "try again later")
        failure.fault = fault
        return failure
    }
}
