import PawlBase
import PawlCore
import PawlJournal

// Progress samples for the download's owner, and its events.
extension Runner {
    /// What samples and events tell of a download, whether or not it has a machine.
    private struct Outline {
        var phase: DownloadState
        var name: String?
        var received: Int64
        /// The first address.
        var source: String
        var verified: VerificationResult?
    }

    private var outline: Outline {
        guard let straight else {
            return ask {
                Outline(
                    phase: $0.shownPhase, name: $0.name, received: $0.lanes.received, source: $0.sources[0].given.text,
                    verified: $0.verified)
            }
        }
        return Outline(
            phase: straight.phase, name: straight.name, received: straight.received, source: addresses[0],
            verified: straight.path.verified)
    }

    private var connections: Int { straight?.connections ?? writers.count }

    func read(now: Instant) {
        let outline = outline
        meter.note(total: outline.received, now: now)
        var reading = ProgressSample()
        reading.phase = outline.phase
        reading.name = outline.name
        reading.received = outline.received
        reading.at = now
        reading.connections = connections
        if let straight {
            (reading.written, reading.total) = (straight.received, straight.path.content?.length)
        } else {
            readMachine(&reading, now: now)
        }
        box.set(reading)
    }

    private func readMachine(_ reading: inout ProgressSample, now: Instant) {
        reading.written = machine.lanes.map.done.count
        reading.total = machine.lanes.map.total
        reading.speed = meter.lastSecond(now: now)
        reading.smoothed = meter.smoothed(now: now)
        reading.retryIn = ask { $0.nextAttempt }.map { max(.zero, $0 - now) }
        reading.waitsForHost = ask { $0.awaitsPlace && $0.waitsForRetry } ? deniedBy?.host : nil
        if ask({ $0.awaitsPlace }), let origin = deniedBy {
            reading.hostLimit = shared.hosts.note(of: origin).map { (origin.host, $0) }
        }
        reading.retry = reading.retryIn == nil || reading.waitsForHost != nil ? nil : retry
    }

    func notify(_ update: StatusUpdate) {
        if case .retrying(let failure, _) = update {
            deniedBy = nil
            retry = PendingRetry(attempt: ask { $0.attempts }, limit: machine.plan.retry.retries, after: failure)
        }
        // Its receivers may start it again because of this event.
        if let observer = job.observer { return observer(update, lastHead) }
        if update.isRest { shared.onSlot(.rests(id)) }
        guard shared.reportsEveryPhase || !update.isImplied else { return box.set(phase: outline.phase) }
        let now = clock.now
        if readConnections != connections {
            read(now: now)
            readConnections = connections
        }
        if update.isStart, let lastHead { accepted = (lastHead, lastAddress) }
        let outline = outline
        let response = update.isFailure ? lastResponse.map { ($0.head, $0.address) } : accepted
        shared.onReport(
            EngineEvent(
                id: id, update: update, name: outline.name ?? "", path: publishedPath,
                stamp: update.isFinish ? straight?.file?.stamp ?? finishedStamp() : nil, received: outline.received,
                elapsed: now - startedAt, source: update.isFinish ? outline.source : "",
                content: memoryContent(at: update),
                head: update.hasResponse ? response?.0 : nil, address: update.hasResponse ? response?.1 : nil,
                page: update.isFailure ? lastResponse?.page : nil, transfers: update.isLast ? transfers : [],
                verification: update.isFinish ? outline.verified : nil))
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
