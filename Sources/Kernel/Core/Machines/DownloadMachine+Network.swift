// A machine that may have no network.
package import PawlBase
import PawlJournal

extension DownloadMachine {
    /// The phase as its owner sees it: attempts during a wait for the network belong to the wait.
    package var shownPhase: DownloadState { network.isTrying ? .waitingForNetwork : phase }

    /// The monitor reports a network, or none.
    package mutating func network(online: Bool, now: Instant) -> [Action] {
        guard online != network.isOnline else { return [] }
        let isTrying = network.isTrying
        network = Network(isOnline: online, now: now)
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
    mutating func withoutNetwork(_ fault: AttemptFault, source: Int, now: Instant) -> [Action]? {
        guard !network.isOnline, !sources[source].current.isLoopback else { return nil }
        let usable = sources.indices.filter { sources[$0].isUsable }
        switch network.failed(fault, source: source, usable: usable, hasBytes: written + lanes.received > 0) {
        case .judged: return nil
        case .repeated: return openFirst(now: now)
        case .wait: return waitForNetwork(now: now)
        }
    }

    /// Waits until the monitor reports a network, or until the next attempt without such a report.
    private mutating func waitForNetwork(now: Instant) -> [Action] {
        let wasTrying = network.wait(plan.retry, now: now)
        let isDue = checkpoints.isDueBeforeWait(of: written)
        let checkpoint: [Action] = isDue && file.isClaimed ? [.checkpoint] : []
        guard wasTrying else { return checkpoint + [enter(.waitingForNetwork)] }
        phase = .waitingForNetwork
        return []
    }

    /// Makes an attempt although the monitor reports no network, when that is due.
    mutating func tryWithoutNetwork(now: Instant) -> [Action] {
        guard phase == .waitingForNetwork, network.tries(now: now) else { return [] }
        return tryAgain(now: now)
    }

    /// Requests the given addresses: a redirect may lead elsewhere from another network, and the old target may have
    /// expired.
    mutating func tryAgain(now: Instant) -> [Action] {
        for source in sources.indices { sources[source].forgetTarget() }
        return openFirst(now: now)
    }

    /// Something has responded, or a limit of the host makes the attempt wait.
    mutating func noteNetwork() -> [Action] {
        network.responded() ? [.notify(.phase(phase))] : []
    }

    /// Replaces connections that all became silent when the monitor reported no network: an attempt shows whether there is
    /// one, before their timeout does.
    mutating func leaveSilentLanes(now: Instant) -> [Action] {
        guard !network.isOnline, server.rangesUsable, let last = lanes.list.map(\.speed.lastByteAt).max(),
            network.doubts(silentSince: last, now: now),
            lanes.list.allSatisfy({ $0.pending == nil && !sources[$0.source].current.isLoopback })
        else { return [] }
        network.check()
        return stop() + openFirst(now: now)
    }
}
