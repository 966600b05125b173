import PawlBase
import PawlCore
import PawlJournal

// Progress samples for the download's owner, and its events.
extension Runner {
    func read(now: Instant) {
        meter.note(total: machine.lanes.received, now: now)
        var reading = ProgressSample()
        reading.phase = ask { $0.shownPhase }
        reading.name = ask { $0.name }
        reading.written = machine.lanes.map.done.count
        reading.total = machine.lanes.map.total
        reading.received = machine.lanes.received
        reading.speed = meter.lastSecond(now: now)
        reading.smoothed = meter.smoothed(now: now)
        reading.connections = writers.count
        reading.retryIn = ask { $0.nextAttempt }.map { max(.zero, $0 - now) }
        reading.waitsForHost = ask { $0.awaitsPlace && $0.waitsForRetry } ? deniedBy?.host : nil
        if ask({ $0.awaitsPlace }), let origin = deniedBy {
            reading.hostLimit = shared.hosts.note(of: origin).map { (origin.host, $0) }
        }
        reading.retry = reading.retryIn == nil || reading.waitsForHost != nil ? nil : retry
        reading.at = now
        box.set(reading)
    }

    func notify(_ update: StatusUpdate) {
        if case .retrying(let failure, _) = update {
            deniedBy = nil
            retry = PendingRetry(attempt: ask { $0.attempts }, limit: machine.plan.retry.retries, after: failure)
        }
        // Its receivers may start it again because of this event.
        if let observer = job.observer { return observer(update, lastHead) }
        if update.isRest { shared.onSlot(.rests(id)) }
        guard shared.reportsEveryPhase || !update.isImplied else { return box.set(phase: ask { $0.shownPhase }) }
        let now = clock.now
        if readConnections != writers.count {
            read(now: now)
            readConnections = writers.count
        }
        if update.isStart, let lastHead { accepted = (lastHead, lastAddress) }
        let response = update.isFailure ? lastResponse.map { ($0.head, $0.address) } : accepted
        shared.onReport(
            EngineEvent(
                id: id, update: update, name: ask { $0.name } ?? "", path: publishedPath,
                stamp: update.isFinish ? finishedStamp() : nil, received: machine.lanes.received,
                elapsed: now - startedAt,
                source: update.isFinish ? machine.sources[0].given.text : "", content: memoryContent(at: update),
                head: update.hasResponse ? response?.0 : nil, address: update.hasResponse ? response?.1 : nil,
                page: update.isFailure ? lastResponse?.page : nil, transfers: update.isLast ? transfers : [],
                verification: update.isFinish ? ask { $0.verified } : nil))
    }
}

extension Runner {
    /// The finished file, whose identity was known before it got its name: another program may have given that to another
    /// file since.
    private func finishedStamp() -> FileStamp? {
        let slash = publishedPath.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { String(Substring(publishedPath.utf8[$0...].dropFirst())) }
        let found = name.flatMap { disk.stamp(of: $0, in: job.folder) }
        guard var published else { return found }
        // The same bytes under the name of an earlier download.
        if let found, found.isSameFile(as: published) != false || name != ask({ $0.name }) { return found }
        published.length = machine.lanes.map.done.count
        return published
    }
}

extension StatusUpdate {
    /// Whether a start or an end implies this event.
    fileprivate var isImplied: Bool {
        guard case .phase(let phase) = self else { return false }
        return switch phase {
        case .waiting, .waitingForDisk, .probing, .transferring, .publishing, .finished, .failed: true
        case .waitingForNetwork, .verifying, .paused, .preempted, .removed: false
        }
    }

    /// Whether the run has paused or failed.
    fileprivate var isRest: Bool {
        switch self {
        case .failed, .phase(.paused), .phase(.failed): true
        case .phase, .started, .notice, .retrying, .finished: false
        }
    }

    fileprivate var hasResponse: Bool {
        switch self {
        case .started, .failed, .finished: true
        case .phase, .notice, .retrying: false
        }
    }

    fileprivate var isFailure: Bool { if case .failed = self { true } else { false } }

    /// Whether the run stops with it.
    fileprivate var isLast: Bool {
        switch self {
        case .failed, .finished, .phase(.paused), .phase(.preempted): true
        case .phase, .started, .notice, .retrying: false
        }
    }

    fileprivate var isFinish: Bool { if case .finished = self { true } else { false } }

    fileprivate var isStart: Bool { if case .started = self { true } else { false } }
}
