import PawlBase
import PawlCore
import PawlJournal

/// Writes one transfer's bytes to the file: compares the overlap, then writes at the cursor.
///
/// It owns the cursor. The machine and the journal have the last position that it reported to them.
final class LaneWriter: TransferSink {
    let lane: LaneID
    let transfer: TransferID
    let origin: Origin
    /// The URL of its request.
    let address: WebAddress
    /// Identifies it for the budget of its host.
    let target: UInt64
    /// Whether its request may share a connection.
    let mayShare: Bool
    private unowned let runner: Runner
    /// The next byte of the file that it writes.
    private(set) var cursor: Int64 = 0
    /// The lane's end; another lane may take bytes before it or return them.
    var end: Int64 = 0
    private var responseEnd: Int64 = 0
    /// How many bytes before the cursor are still to be compared.
    private var uncompared: Int64 = 0
    private var slot = 0
    /// The range behind its end that it still compares.
    private var joint: ByteRange?
    private(set) var received: Int64 = 0
    private(set) var isAdmitted = false
    /// Whether its host counts it as served.
    var isServed = false
    /// Its server sends more than this lane is to fetch: another lane has the rest.
    var asksBeyond: Bool { isAdmitted && end < responseEnd }
    /// Whether no other lane can have written its bytes, and as of which decision.
    private var alone = (isTrue: false, asOf: UInt64.max)
    /// The question to the program that keeps its body back.
    var question: HookID?
    /// The head of the response that is kept back.
    var head: ResponseHead?
    /// How the transfer ended before the program replied.
    var ended: TransferEnd?
    /// Whether the runner is deciding about its response's head.
    private(set) var isJudged = false
    /// Whether the runner dropped the lane in the meantime.
    ///
    /// Then the header section ends the transfer, and its connection may be reused.
    var isDropped = false
    /// Since when a rate limit or a slow reader holds it back, so that missing data is no fault of the server.
    var heldSince: Instant?
    /// Whether the next chunk need not wait: `holdsBack` was called before it was read.
    private var mayPass = false

    /// The response whose body is collected instead of being judged by its head alone.
    private var page: ErrorPage?
    /// What was measured of its request.
    var record: TransferRecord?

    init(lane: LaneID, transfer: TransferID, address: WebAddress, mayShare: Bool, runner: Runner) {
        self.lane = lane
        self.transfer = transfer
        origin = address.origin
        self.address = address
        target = address.target
        self.mayShare = mayShare
        self.runner = runner
    }

    func admit(_ extent: Lane.Extent) {
        cursor = extent.cursor
        end = extent.end
        responseEnd = extent.responseEnd
        uncompared = extent.overlap
        slot = extent.slot
        isAdmitted = true
        assert(uncompared >= 0 && uncompared <= cursor, "the overlap is before the cursor")
    }

    func transfer(_ id: TransferID, timing: TransferTiming) { record?.timing = timing }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        record?.head = head
        if runner.receivesStraight(self, head) { return true }
        if runner.wantsPage(of: head) {
            page = ErrorPage(head: head)
            return true
        }
        isJudged = true
        runner.responded(lane, head: head)
        isJudged = false
        return !isDropped && (isAdmitted || question != nil)
    }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        if page != nil { return unsafe collect(chunk) }
        if unsafe runner.collectsStraight(chunk) {
            runner.charge(chunk.count, to: origin)
            return .taken
        }
        guard isAdmitted else { return question == nil ? .stop : .pause }
        if !mayPass, runner.holdsBack(self) { return .pause }
        mayPass = false
        heldSince = nil
        received += Int64(chunk.count)
        runner.charge(chunk.count, to: origin)
        var rest = unsafe chunk
        if uncompared > 0 {
            let count = Int(min(uncompared, Int64(chunk.count)))
            guard unsafe compare(UnsafeRawBufferPointer(rebasing: chunk[..<count])) else { return .stop }
            unsafe rest = UnsafeRawBufferPointer(rebasing: chunk[count...])
        }
        return unsafe joint == nil ? write(rest) : join(rest)
    }

    func holdsBack(_ id: TransferID) -> Bool {
        guard page == nil, isAdmitted else { return false }
        mayPass = !runner.holdsBack(self)
        if mayPass { heldSince = nil }
        return !mayPass
    }

    /// Collects the body of a response that is not the content.
    private func collect(_ chunk: UnsafeRawBufferPointer) -> ChunkResult {
        received += Int64(chunk.count)
        runner.charge(chunk.count, to: origin)
        if unsafe page?.append(chunk) == true { return .taken }
        // Too long for memory: its status ends the download as a failure.
        if let head = page?.head { judge(head, nil) }
        return .stop
    }

    private func judge(_ head: ResponseHead, _ body: [UInt8]?) {
        page = nil
        runner.responded(lane, head: head, page: body)
    }

    /// Compares with the bytes on disk before the cursor.
    private func compare(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let agrees = unsafe runner.agrees(bytes, at: cursor - uncompared) else { return false }
        guard agrees else {
            runner.compared(lane, agreed: false)
            return false
        }
        uncompared -= Int64(bytes.count)
        guard uncompared == 0 else { return true }
        // The result of the comparison may end this lane.
        return runner.compared(lane, agreed: true)
    }

    /// Writes bytes that were collected before the lane was admitted.
    func deliver(_ bytes: UnsafeRawBufferPointer) -> ChunkResult {
        received += Int64(bytes.count)
        return unsafe bytes.isEmpty ? .taken : write(bytes)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> ChunkResult {
        let count = Int(min(Int64(bytes.count), end - cursor))
        if count > 0 {
            let wanted = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
            guard unsafe runner.write(wanted, at: cursor, slot: slot, isAlone: isAlone) else { return .stop }
            cursor += Int64(count)
        }
        // After the response's own last byte the transfer ends by its framing, and its connection is reused.
        guard cursor == end, end < responseEnd || count < bytes.count else { return .taken }
        return unsafe join(UnsafeRawBufferPointer(rebasing: bytes[count...]))
    }

    /// Compares the bytes behind the lane's end with those that another lane wrote.
    private func join(_ bytes: UnsafeRawBufferPointer) -> ChunkResult {
        guard let left = joint ?? beginJoint() else { return .stop }
        let count = Int(min(left.count, Int64(bytes.count)))
        let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
        guard let agrees = unsafe runner.agrees(part, at: left.start) else { return .stop }
        let rest = ByteRange(left.start + Int64(count), left.end)
        joint = rest
        if agrees, !rest.isEmpty { return .taken }
        runner.joined(lane, agreed: agrees)
        return .stop
    }

    private func beginJoint() -> ByteRange? {
        let count = runner.reachedEnd(lane)
        if count > 0 { joint = ByteRange(end, end + count) }
        return joint
    }

    private var isAlone: Bool {
        if alone.asOf != runner.decisions { alone = (runner.ask { $0.isAlone(lane) }, runner.decisions) }
        return alone.isTrue
    }

    /// Only while every byte that arrives is wanted, in order, and at once.
    func spliceTarget(_ id: TransferID) -> SpliceTarget? {
        guard isAdmitted, uncompared == 0, joint == nil, cursor < end, !runner.isLimited, isAlone,
            let descriptor = runner.place?.file?.descriptor
        else { return nil }
        return SpliceTarget(descriptor: descriptor, offset: cursor, limit: end - cursor)
    }

    func transfer(_ id: TransferID, willSplice count: Int) {
        runner.place?.file?.willWrite(ByteRange(cursor, cursor + Int64(count)))
    }

    func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult {
        heldSince = nil
        received += Int64(count)
        runner.charge(count, to: origin)
        runner.wrote(ByteRange(cursor, cursor + Int64(count)), slot: slot)
        cursor += Int64(count)
        return cursor == end && end < responseEnd && beginJoint() == nil ? .stop : .taken
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        guard !isDropped else { return }
        // The response may end the download, and with it the runner.
        let runner = runner
        if runner.endsStraight(end) { return }
        if let page, end == .complete { judge(page.head, page.bytes) }
        runner.ended(lane, end)
    }
}

/// The body of a response that is not the content.
private struct ErrorPage {
    let head: ResponseHead
    private(set) var bytes: [UInt8] = []

    init(head: ResponseHead) { self.head = head }

    /// Longer ones are no text for a person.
    private static let longest = 1 << 20

    /// `false` when it is too long.
    mutating func append(_ chunk: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count + chunk.count <= Self.longest else { return false }
        unsafe bytes.append(contentsOf: chunk)
        return true
    }
}
