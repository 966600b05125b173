// A machine that may have no network.
//
// What the monitor reports is a hint about what follows a failure, never a reason not to try: a proxy, a name or an endpoint
// may be on this machine, and the monitor only knows the routes that leave it.
package import PawlBase


/// What a download knows of this machine's network.
struct NetworkState: Hashable, Sendable {
    /// Since when the monitor reports that there is none.
    var offlineSince: Instant?
    /// Whether a failure that a lost network explains was followed by an attempt that does not count.
    var isChecked = false
    /// The sources to which nothing led since the last wait.
    var unreached: [Int] = []
    /// The waits since the last response.
    var waits = 0
    /// When an attempt is made though the monitor reports no network.
    var retryAt: Instant?
    /// Whether that attempt is under way: its owner learns of it when something responds.
    var isTrying = false
}

extension DownloadMachine {
    /// How long all connections may be silent once the monitor reports no network.
    static let offlinePatience = Interval.seconds(3)

    /// Whether the monitor reports a network.
    var isOnline: Bool { network.offlineSince == nil }

    /// The phase as its owner sees it: attempts during a wait for the network belong to the wait.
    package var shownPhase: DownloadState { network.isTrying ? .waitingForNetwork : phase }

    /// The monitor reports a network, or none.
    package mutating func network(online: Bool, now: Instant) -> [Action] {
        guard online != isOnline else { return [] }
        let isTrying = network.isTrying
        network = NetworkState(offlineSince: online ? nil : now)
        switch phase {
        case .waitingForNetwork where online: return tryAgain(now: now)
        // Its attempt began without a network.
        case .probing where isTrying, .transferring where isTrying:
            return stop() + [.notify(.phase(phase))] + tryAgain(now: now)
        case .waitingForNetwork, .probing, .transferring, .waiting, .waitingForDisk, .verifying, .publishing, .paused,
            .preempted,
            .finished, .failed, .removed:
            return []
        }
    }

    /// What follows a failed attempt while the monitor reports no network; `nil` if it is judged as any other.
    ///
    /// Only want of a route leads to a wait. What a lost connection means, the next attempt shows.
    mutating func withoutNetwork(_ fault: AttemptFault, source: Int, now: Instant) -> [Action]? {
        guard !isOnline, !sources[source].current.isLoopback else { return nil }
        if fault.meansNoRoute || fault.isMissingName && written + received > 0 {
            // A request that only one source can serve goes to it again.
            let isAgain = network.unreached.contains(source)
            network.unreached.append(source)
            let isLast =
                isAgain || sources.indices.allSatisfy { !sources[$0].isUsable || network.unreached.contains($0) }
            return isLast ? waitForNetwork(now: now) : openFirst(now: now)
        }
        guard fault.mayMeanNoRoute, !network.isChecked else { return nil }
        network.isChecked = true
        return openFirst(now: now)
    }

    /// Waits until the monitor reports a network, or until the next attempt without such a report.
    private mutating func waitForNetwork(now: Instant) -> [Action] {
        network.retryAt = now + plan.retry.wait(offline: network.waits)
        network.waits += 1
        network.unreached = []
        network.isChecked = false
        let isDue = checkpoints.isDueBeforeWait(of: written)
        let checkpoint: [Action] = isDue && isClaimed ? [.checkpoint] : []
        guard network.isTrying else { return checkpoint + [enter(.waitingForNetwork)] }
        (network.isTrying, phase) = (false, .waitingForNetwork)
        return []
    }

    /// Makes an attempt although the monitor reports no network, when that is due.
    mutating func tryWithoutNetwork(now: Instant) -> [Action] {
        guard phase == .waitingForNetwork, let due = network.retryAt, due <= now else { return [] }
        network.isTrying = true
        return tryAgain(now: now)
    }

    /// Requests the given addresses: a redirect may lead elsewhere from another network, and the old target may have
    /// expired.
    mutating func tryAgain(now: Instant) -> [Action] {
        for source in sources.indices { forgetTarget(of: source) }
        return openFirst(now: now)
    }

    /// Something has responded, or a limit of the host makes the attempt wait.
    mutating func noteNetwork() -> [Action] {
        network.waits = 0
        network.unreached = []
        guard network.isTrying else { return [] }
        network.isTrying = false
        return [.notify(.phase(phase))]
    }

    /// Replaces connections that all became silent when the monitor reported no network: an attempt shows whether there is
    /// one, before their timeout does.
    mutating func leaveSilentLanes(now: Instant) -> [Action] {
        guard let since = network.offlineSince, !network.isChecked, rangesUsable, !lanes.isEmpty,
            lanes.allSatisfy({ lane in
                lane.pending == nil && !sources[lane.source].current.isLoopback
                    && now - max(lane.lastByteAt, since) > Self.offlinePatience
            })
        else { return [] }
        network.isChecked = true
        return stop() + openFirst(now: now)
    }
}

extension AttemptFault {
    /// Whether nothing led from here to the server: no route, no resolver, no connection.
    fileprivate var meansNoRoute: Bool {
        guard case .transfer(let fault) = self else { return false }
        return switch fault.kind {
        case .unreachable, .nameResolution, .connectTimeout: true
        case .proxy: fault.concernsNameOfProxy
        case .nameMissing, .connectionRefused, .connectionLost, .truncated, .tls, .publicKey, .notFound, .denied,
            .serverRefused, .offsetRefused, .contentChanged, .malformed, .privateAddress, .other:
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
