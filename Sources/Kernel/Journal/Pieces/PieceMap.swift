package import PawlBase

/// The pieces of one file: which are checked, which were bad, and from which source a bad one is requested next.
///
/// A piece is hashed once all of its bytes are on disk. Every byte of a piece that came from one source alone convicts that
/// source when the piece is bad; bytes of several sources, or of an earlier run, convict none.
package struct PieceMap: Hashable, Sendable {
    /// An order to hash one piece.
    package struct Check: Hashable, Sendable {
        package var piece: Int
        package var range: ByteRange
        /// How many zeros complete it.
        package var padding: Int64 = 0
        /// Identifies this order: the result of an earlier one is ignored.
        package var ticket: UInt64
    }

    package enum Outcome: Hashable, Sendable {
        /// The order is not the present one of its piece.
        case obsolete
        case good
        /// The bytes of `range` are not the piece's; `blamed` has sent all of them.
        case bad(range: ByteRange, blamed: Int?)
    }

    private enum State: Hashable, Sendable {
        case open
        case checking(ticket: UInt64)
        case good
    }

    package let hashes: PieceHashes
    package let total: Int64
    private var states: [State]
    /// All pieces before this one are good or being checked.
    private var firstOpen = 0
    /// How many pieces are good.
    package private(set) var verified = 0
    /// How many pieces are being hashed.
    package private(set) var checking = 0
    /// The bytes that each source has sent for pieces that are not good yet.
    private var sent: [Int: ByteRangeSet] = [:]
    /// The sources of the bad copies of a piece; empty where only the disk had one.
    private var suspects: [Int: Set<Int>] = [:]
    /// How often a piece was bad.
    private var failures: [Int: Int] = [:]
    /// How many bad pieces each source has sent.
    private var bad: [Int: Int] = [:]
    /// How often a source has sent other bytes than those of good pieces.
    private var contradictions = 0

    /// Simultaneous hashes of one file.
    package static let width = 2
    /// A source that has sent this many bad pieces is left out.
    package static let patience = 2

    /// `nil` unless `hashes` are those of a file of `total` bytes.
    package init?(_ hashes: PieceHashes, total: Int64) {
        guard hashes.fits(total) else { return nil }
        self.hashes = hashes
        self.total = total
        states = Array(repeating: .open, count: hashes.count)
    }

    /// The bytes of the pieces that are good.
    package var verifiedBytes: Int64 { min(total, hashes.start(of: verified)) }

    /// The end of the pieces from the first one that are good.
    package var verifiedPrefix: Int64 {
        min(total, hashes.start(of: states.firstIndex { $0 != .good } ?? states.count))
    }

    /// Whether all pieces that have bytes in `range` are good.
    package func areGood(in range: ByteRange) -> Bool {
        guard !range.isEmpty else { return true }
        return (hashes.piece(at: range.start)...hashes.piece(at: range.end - 1)).allSatisfy { states[$0] == .good }
    }

    package var isSettled: Bool { verified == states.count }

    /// Whether bad copies of some pieces have not been replaced by good ones yet.
    package var hasSuspects: Bool { !suspects.isEmpty }

    /// A source has sent the bytes of `range`, which are on disk.
    package mutating func wrote(_ range: ByteRange, by source: Int) {
        sent[source, default: ByteRangeSet()].insert(range)
    }

    /// Orders for pieces that are complete in `done` and not checked, as many as may run at once.
    ///
    /// `nextTicket` counts the orders of all maps of a download.
    package mutating func due(in done: ByteRangeSet, nextTicket: inout UInt64) -> [Check] {
        var orders: [Check] = []
        while firstOpen < states.count, states[firstOpen] != .open { firstOpen += 1 }
        assert(verified + checking <= states.count, "a piece is good or being checked, not both")
        guard checking < PieceMap.width else { return [] }
        for run in done.runs where run.end > hashes.start(of: firstOpen) {
            var piece = max(firstOpen, hashes.firstPiece(from: run.start))
            while checking < PieceMap.width, piece < states.count {
                let range = hashes.range(piece, in: total)
                guard range.end <= run.end else { break }
                if states[piece] == .open {
                    states[piece] = .checking(ticket: nextTicket)
                    checking += 1
                    let padding = hashes.padding(of: piece, in: total)
                    orders.append(Check(piece: piece, range: range, padding: padding, ticket: nextTicket))
                    nextTicket += 1
                }
                piece += 1
            }
        }
        return orders
    }

    /// Starts again: there are no bytes on disk.
    ///
    /// What each source has sent is kept. Otherwise a source without ranges that sends a wrong piece
    /// would get requests for the whole file without end.
    package mutating func startOver() {
        states = Array(repeating: .open, count: states.count)
        (firstOpen, verified, checking) = (0, 0, 0)
        sent = [:]
    }

    /// These bytes are on disk no more, though nothing is wrong with them.
    package mutating func discarded(_ range: ByteRange) {
        let first = hashes.piece(at: range.start)
        for piece in first..<states.count where hashes.range(piece, in: total).start < range.end {
            if states[piece] == .good { verified -= 1 }
            if case .checking = states[piece] { checking -= 1 }
            states[piece] = .open
        }
        assert(verified >= 0 && checking >= 0, "what is discarded was counted")
        firstOpen = min(firstOpen, first)
        clear(range)
    }

    /// A piece was hashed.
    package mutating func checked(_ check: Check, digest: [UInt8]) -> Outcome {
        guard states.indices.contains(check.piece), states[check.piece] == .checking(ticket: check.ticket) else {
            return .obsolete
        }
        checking -= 1
        let range = hashes.range(check.piece, in: total)
        assert(checking >= 0 && range == check.range, "an order is for one of these pieces")
        if digest.elementsEqual(hashes.digest(check.piece)) {
            states[check.piece] = .good
            verified += 1
            suspects[check.piece] = nil
            failures[check.piece] = nil
            clear(range)
            return .good
        }
        states[check.piece] = .open
        firstOpen = min(firstOpen, check.piece)
        let senders = sent.filter { $0.value.intersects(range) }.keys.sorted()
        suspects[check.piece, default: []].formUnion(senders)
        failures[check.piece, default: 0] += 1
        let blamed = senders.count == 1 && sent[senders[0]]?.contains(range) == true ? senders[0] : nil
        if let blamed { bad[blamed, default: 0] += 1 }
        clear(range)
        return .bad(range: range, blamed: blamed)
    }

    private mutating func clear(_ range: ByteRange) {
        for source in sent.keys {
            sent[source]?.remove(range)
            if sent[source]?.isEmpty == true { sent[source] = nil }
        }
    }

    /// A source has sent other bytes than those of a good piece; returns how often sources did.
    package mutating func contradicted(by source: Int) -> Int {
        bad[source, default: 0] += 1
        contradictions += 1
        return contradictions
    }

    /// Whether the source has sent so many bad pieces that it is left out.
    package func isConvicted(_ source: Int) -> Bool { bad[source, default: 0] >= PieceMap.patience }

    /// How often the piece at `offset` was bad.
    package func failures(at offset: Int64) -> Int { failures[piece(at: offset), default: 0] }

    /// The sources of bad copies of the piece at `offset`; `nil` if none was bad.
    package func suspects(at offset: Int64) -> Set<Int>? { suspects[piece(at: offset)] }

    /// The beginning of `range` that one request may fetch: one bad piece alone, or everything before the next one.
    ///
    /// So all bytes of the new copy of a bad piece come from one source.
    package func fitted(_ range: ByteRange) -> ByteRange {
        guard !suspects.isEmpty, !range.isEmpty else { return range }
        let first = piece(at: range.start)
        if suspects[first] != nil { return ByteRange(range.start, min(range.end, hashes.range(first, in: total).end)) }
        let next = suspects.keys.filter { $0 > first }.min().map { hashes.range($0, in: total).start }
        return ByteRange(range.start, min(range.end, next ?? range.end))
    }

    /// The source to ask for the bytes at `offset`: `preferred`, unless it sent a bad copy and another one did not.
    package func source(at offset: Int64, preferring preferred: Int, of usable: [Int]) -> Int {
        guard let suspects = suspects(at: offset), suspects.contains(preferred) else { return preferred }
        return usable.first { !suspects.contains($0) } ?? usable.first { $0 != preferred } ?? preferred
    }

    private func piece(at offset: Int64) -> Int { hashes.piece(at: max(0, offset)) }
}
