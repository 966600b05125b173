import PawlBase
import PawlCore
import PawlJournal

/// What a run has got without a machine.
struct StraightRun {
    var path: StraightPath
    /// As a machine would have it after the same events.
    var phase = DownloadState.probing
    var received: Int64 = 0
    var connections = 0
    /// The response that was accepted, and the name that it leads to.
    var head: ResponseHead?
    var name: String?
    var bytes: [UInt8] = []
    var file: PublishedFile?
    /// Whether its request waits for a place at the host.
    var isWaiting = false
}

// Small files without a machine, as long as `StraightPath` decides; after that its events are repeated to a machine.
extension Runner {
    /// Begins on the straight path; `false` where that is none for this download.
    func goStraight(online: Bool, now: Instant) -> Bool {
        guard online, case .folder = destination, job.observer == nil, job.onPublishing == nil,
            job.ifExists != .overwrite,
            !isLimited, let path = StraightPath(job.plan), disk.publishesWhole(in: job.folder), isNameOpen
        else { return false }
        straight = StraightRun(path: path, name: job.fileName)
        performing += 1
        defer { settlePlaces() }
        notify(.phase(.probing))
        open(StraightPath.order(of: job.plan))
        return true
    }

    /// Whether no file or part file decides before the first response.
    private var isNameOpen: Bool {
        if let name = job.fileName { return disk.isFree(name, in: job.folder) }
        let isOfServer = job.naming == .server && job.ifExists != .skip && job.ifExists != .resume
        let places = addresses.prefix(1) + job.formerSources
        guard places.allSatisfy({ disk.unfinished(of: $0, in: job.folder) == nil }) else { return false }
        return isOfServer || disk.isFree(name(from: job.plan.sources[0], nil), in: job.folder)
    }

    /// After that time without a response a run has a machine, with its time limits; one whose body comes, at the next tick.
    static var longestStraight: Interval { .seconds(1) }

    /// Requests the file once there is a place; `false` where that is the machine's.
    func continueStraight() -> Bool {
        guard straight?.isWaiting == true else { return false }
        straight?.isWaiting = false
        performing += 1
        defer { settlePlaces() }
        open(StraightPath.order(of: job.plan))
        return true
    }

    /// A longer body is not received before the name is known to be free.
    private static let longestUnasked: Int64 = 64 << 10

    /// Whether the body of this response is collected in memory.
    func receivesStraight(_ writer: LaneWriter, _ head: ResponseHead) -> Bool {
        guard straight != nil else { return false }
        let wallTime = clock.wallTime
        guard !isLimited, straight?.path.responded(head, plan: job.plan, wallTime: wallTime) == true else {
            leaveStraightPath()
            return false
        }
        let name = job.fileName ?? name(from: job.plan.sources[0], head)
        guard let length = straight?.path.content?.length,
            length <= Self.longestUnasked || disk.isFree(name, in: job.folder), loop.beginCollecting(length)
        else {
            leaveStraightPath()
            return false
        }
        _ = noteSecurity(of: writer.lane, head)
        _ = noteHost(writer.origin, head, mayShare: writer.mayShare)
        serve(writer)
        straight?.head = head
        straight?.name = name
        return true
    }

    /// Collects bytes of the body; `false` where they are the machine's.
    func collectsStraight(_ chunk: UnsafeRawBufferPointer) -> Bool {
        guard let length = straight?.path.content?.length else { return false }
        guard !isLimited, let count = straight?.bytes.count, Int64(count) + Int64(chunk.count) <= length else {
            leaveStraightPath()
            return false
        }
        if count == 0, chunk.count < length { straight?.bytes.reserveCapacity(Int(length)) }
        unsafe straight?.bytes.append(contentsOf: chunk)
        return true
    }

    /// Publishes the file if all of it is there; `false` where the machine decides.
    func endsStraight(_ end: TransferEnd) -> Bool {
        guard straight != nil else { return false }
        guard end == .complete, publishesStraight() else {
            leaveStraightPath()
            return false
        }
        performing += 1
        defer { settlePlaces() }
        finishStraight()
        return true
    }

    private func publishesStraight() -> Bool {
        guard !isLimited, let content = straight?.path.content, let name = straight?.name,
            let bytes = straight?.bytes, Int64(bytes.count) == content.length
        else { return false }
        let algorithms = content.algorithms
        if !algorithms.isEmpty, straight?.path.digested(disk.digests(algorithms, of: bytes)) != true { return false }
        let fingerprint = ContentFingerprint(
            source: addresses[0], host: job.plan.sources[0].origin.text, selection: .whole,
            validators: content.validators, now: clock.wallTime)
        let modified = job.plan.keepsServerTime ? content.validators.lastModified : nil
        straight?.file = disk.publish(
            WholeFile(
                folder: job.folder, name: name, bytes: bytes, source: addresses[0], content: fingerprint,
                modified: modified))
        return straight?.file != nil
    }

    /// Reports what a machine would have reported by now.
    private func finishStraight() {
        guard let run = straight, let file = run.file, let writer = writers.popLast() else { return }
        let length = Int64(run.bytes.count)
        loop.endCollecting(length)
        accepted = run.head.map { ($0, writer.address) }
        straight?.phase = .transferring
        straight?.connections = 1
        tell([.started(total: length, resumedAt: 0), .phase(.transferring)])
        straight?.received = length
        free(writer)
        finish(writer)
        straight?.connections = 0
        if run.path.verified != nil {
            straight?.phase = .verifying
            tell([.phase(.verifying)])
        }
        straight?.phase = .publishing
        tell([.phase(.publishing)])
        set(path: file.path)
        straight?.phase = .finished
        tell([.phase(.finished), .finished(length: length, wasThere: false)])
        release()
    }

    /// Reports updates that a machine would decide in one list of actions.
    private func tell(_ updates: [StatusUpdate]) {
        readConnections = nil
        for update in updates { notify(update) }
    }

    /// Makes the machine, and repeats to it what has happened.
    func leaveStraightPath() {
        guard let left = straight else { return }
        assert(left.file == nil, "a published file is finished")
        straight = nil
        if left.head != nil, let length = left.path.content?.length { loop.endCollecting(length) }
        machine.happens(at: startedAt)
        machine.limited(to: presentLimit, now: startedAt)
        // The name is claimed with the response, where it was chosen, too.
        let actions = machine.begin(claimed: nil, online: true, now: startedAt)
        assert(actions.last == .open(StraightPath.order(of: job.plan)), "the machine has begun with another request")
        if let name = job.fileName { machine.named(name) }
        if let witness { witness.decided(id, run: run, actions, machine) }
        if left.isWaiting {
            feed { [plan = job.plan] in $0.denied(StraightPath.order(of: plan).lane, until: nil, now: $1) }
        }
        guard let head = left.head, let writer = writers.first else { return }
        responded(writer.lane, head: head)
        guard writers.contains(where: { $0 === writer }), writer.isAdmitted else { return }
        let result = unsafe left.bytes.withUnsafeBytes { unsafe writer.deliver($0) }
        guard case .stop = result, writers.contains(where: { $0 === writer }) else { return }
        loop.cancel(writer.transfer)
        ended(writer.lane, .stopped)
    }
}
