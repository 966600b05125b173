import PawlBase

/// What a download knows of this machine's network.
///
/// What the monitor reports is a hint about what follows a failure, never a reason not to try: a proxy, a name or an
/// endpoint may be on this machine, and the monitor only knows the routes that leave it.
struct Network: Hashable, Sendable {
    /// The time without a network, as the monitor reports.
    struct Outage: Hashable, Sendable {
        /// An attempt that is made all the same.
        enum Attempt: Hashable, Sendable {
            case none
            case due(Instant)
            /// Its owner learns of it when something responds.
            case underWay
        }

        let since: Instant
        /// Whether a failure that a lost network explains was followed by an attempt that does not count.
        fileprivate(set) var isChecked = false
        /// The sources to which nothing led since the last wait.
        fileprivate(set) var unreached: [Int] = []
        /// The waits since the last response.
        fileprivate(set) var waits = 0
        fileprivate(set) var attempt = Attempt.none
    }

    /// What follows a failed attempt.
    enum Consequence: Hashable, Sendable {
        /// It is judged as any other.
        case judged
        /// Another attempt at once, which does not count.
        case repeated
        case wait
    }

    /// How long all connections may be silent once the monitor reports no network.
    static let patience = Interval.seconds(3)

    /// `nil` while the monitor reports a network.
    private(set) var outage: Outage?

    init(isOnline: Bool, now: Instant) { outage = isOnline ? nil : Outage(since: now) }

    var isOnline: Bool { if case .none = outage { true } else { false } }

    /// Whether an attempt is under way during a wait for the network.
    var isTrying: Bool { outage?.attempt == .underWay }

    /// Whether nothing led to the source since the last wait.
    func isUnreached(_ source: Int) -> Bool { outage?.unreached.contains(source) ?? false }

    /// An attempt has failed.
    ///
    /// Only want of a route leads to a wait. What a lost connection means, the next attempt shows.
    /// `usable`: the sources that may be requested. `hasBytes`: whether any were received or are on disk.
    mutating func failed(_ fault: AttemptFault, source: Int, usable: [Int], hasBytes: Bool) -> Consequence {
        guard let outage else { return .judged }
        if fault.meansNoRoute || fault.isMissingName && hasBytes {
            // A request that only one source can serve goes to it again.
            let isAgain = isUnreached(source)
            self.outage?.unreached.append(source)
            return isAgain || usable.allSatisfy(isUnreached) ? .wait : .repeated
        }
        guard fault.mayMeanNoRoute, !outage.isChecked else { return .judged }
        check()
        return .repeated
    }

    /// The wait for a report of a network begins, or for an attempt without one; returns whether an attempt was under way.
    mutating func wait(_ policy: RetryPolicy, now: Instant) -> Bool {
        guard let outage else { return false }
        self.outage?.attempt = .due(now + policy.wait(offline: outage.waits))
        self.outage?.waits += 1
        self.outage?.unreached = []
        self.outage?.isChecked = false
        return outage.attempt == .underWay
    }

    /// The wait ends now, on behalf of the user.
    mutating func endWait(now: Instant) { outage?.attempt = .due(now) }

    /// Whether an attempt without a network is made now.
    mutating func tries(now: Instant) -> Bool {
        guard case .due(let due)? = outage?.attempt, due <= now else { return false }
        outage?.attempt = .underWay
        return true
    }

    /// Something has responded, or a limit of the host makes the attempt wait; returns whether one was under way.
    mutating func responded() -> Bool {
        outage?.waits = 0
        outage?.unreached = []
        return endAttempt()
    }

    /// What follows is no part of the attempt; returns whether one was under way.
    @discardableResult mutating func endAttempt() -> Bool {
        guard isTrying else { return false }
        outage?.attempt = .none
        return true
    }

    /// Whether connections are replaced of which none has sent anything since `last`: an attempt shows whether there is a
    /// network, before their timeout does.
    func doubts(silentSince last: Instant, now: Instant) -> Bool {
        guard let outage, !outage.isChecked else { return false }
        return now - max(last, outage.since) > Network.patience
    }

    /// An attempt that does not count shows whether there is a network.
    mutating func check() { outage?.isChecked = true }
}

extension AttemptFault {
    /// Whether nothing led from here to the server: no route, no resolver, no connection.
    fileprivate var meansNoRoute: Bool {
        guard case .transfer(let fault) = self else { return false }
        return switch fault.kind {
        case .unreachable, .nameResolution, .connectTimeout: true
        case .proxy: fault.concernsNameOfProxy
        case .nameMissing, .connectionRefused, .connectionLost, .truncated, .tls, .publicKey, .notFound, .denied,
            .serverRefused, .commandRefused, .offsetRefused, .contentChanged, .malformed, .privateAddress, .other:
            false
        }
    }

    /// Whether the resolver reported that there is no such name: some do without a network.
    fileprivate var isMissingName: Bool {
        if case .transfer(let fault) = self { fault.kind == .nameMissing } else { false }
    }

    /// Whether a connection was lost.
    fileprivate var mayMeanNoRoute: Bool {
        switch self {
        case .silent, .tooSlow: true
        case .transfer(let fault): [.connectionLost, .truncated].contains(fault.kind)
        case .status, .refused, .unproven, .page, .suspectPage, .rangeRefused, .badRedirect, .downgrade,
            .tooManyRedirects:
            false
        }
    }
}
