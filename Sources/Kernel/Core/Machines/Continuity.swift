import PawlBase
import PawlJournal

/// What shows that the bytes on disk belong together, and to what the server sends: what is known of them, and what is
/// compared first.
///
/// Samples, other places, a tag's question and compared ends are independent: ``DownloadMachine/openFirst(now:)`` asks for
/// each in its order.
struct Continuity: Hashable, Sendable {
    private enum Content: Hashable, Sendable {
        /// Nothing is on disk, and no response was accepted. `former`: what was known of bytes that were there; an error
        /// page is not their new version.
        case none(former: Representation?)
        case known(Representation)
        /// The bytes on disk are of another range than the requested one; the first accepted response replaces them.
        case stale(Representation)
    }

    private var content = Content.none(former: nil)
    /// Where the file begins in the resource; `nil` until a response to a suffix range.
    var base: Int64?
    /// Ranges to compare before any other request: no header field can prove the bytes on disk.
    private(set) var samples: [ByteRange] = []
    /// Where bytes of two responses meet that were not compared there, though no strong tag covers both.
    private(set) var openJoints: [Int64] = []
    /// The places that are compared since other compared bytes have no information.
    var elsewhere: ComparedElsewhere?
    /// What was compared for the next request that brings bytes.
    private(set) var ahead: ComparedAhead?
    /// Where a compared response without a total ended: a request that begins there tells whether more follows.
    private(set) var end: ComparedEnd?
    /// The entity tag that is not known to be stable yet, and its host: it is requested once more before anything else.
    private(set) var question: TagQuestion?
    private let place = KeptInPlace()

    init(base: Int64?) { self.base = base }

    /// The identity of the bytes on disk; `nil` while there are none and no response was accepted.
    var representation: Representation? {
        get {
            switch content {
            case .none: nil
            case .known(let representation), .stale(let representation): representation
            }
        }
        // In place: with a second reference it would be copied for each change.
        _modify {
            let isStale = isStale
            var representation = representation
            content = .none(former: former)
            yield &representation
            if let representation { content = isStale ? .stale(representation) : .known(representation) }
        }
    }

    /// The content of which nothing is on disk any more.
    var former: Representation? { if case .none(let former) = content { former } else { nil } }

    var isStale: Bool { if case .stale = content { true } else { false } }

    /// Whether places without which nothing is proven are still to be compared.
    var isComparing: Bool { !samples.isEmpty || elsewhere?.left.isEmpty == false }

    // MARK: what is known

    /// A response describes the bytes from now on, or what an earlier run has left on disk.
    mutating func describe(_ representation: Representation) { content = .known(representation) }

    /// Those bytes are of another range than the requested one.
    mutating func foundStale() { if case .known(let representation) = content { content = .stale(representation) } }

    /// Nothing is on disk any more, and nothing of it is to be compared.
    mutating func reset(base: Int64?) {
        let former = representation.map(\.former) ?? former
        self = Continuity(base: base)
        content = .none(former: former)
    }

    /// Another run begins: what an earlier one knew is void.
    mutating func begin(base: Int64?) { self = Continuity(base: base) }

    mutating func noteFormer(_ page: SuspectPage) {
        guard case .none(var former?) = content else { return }
        former.suspect = page
        content = .none(former: former)
    }

    // MARK: samples and joints

    mutating func sample(_ places: [ByteRange]) { samples = places }

    /// The range was compared.
    mutating func sampled(_ range: ByteRange) { samples.removeAll { range.contains($0) } }

    /// Nothing has to be compared any more: digests of pieces or the whole itself tell.
    mutating func compareNothing() {
        samples = []
        openJoints = []
    }

    mutating func join(at joints: [Int64]) { openJoints = joints }

    mutating func openJoint(at joint: Int64) { openJoints.append(joint) }

    /// All bytes are on disk: what met without a comparison is compared before the end.
    mutating func sampleOpenJoints(horizon: Int64) {
        samples += openJoints.map { place in
            ByteRange(max(0, place - DownloadMachine.overlap), min(horizon, place + DownloadMachine.overlap))
        }
        openJoints = []
    }

    /// Divides the places into parts that one response of the source can hold.
    mutating func divide(by part: Int64, for source: Int) {
        samples = samples.flatMap { $0.divided(by: part) }
        guard elsewhere?.source == source, let left = elsewhere?.left else { return }
        elsewhere?.left = left.flatMap { $0.divided(by: part) }
    }

    // MARK: ends

    mutating func ended(at offset: Int64, of source: Int) { end = ComparedEnd(offset: offset, source: source) }

    /// Whether the source's last response was compared, ended there, and stated no total.
    func isEnd(_ offset: Int64, of source: Int) -> Bool { end == ComparedEnd(offset: offset, source: source) }

    /// A part before those to compare with the next response was compared.
    mutating func comparedAhead(_ part: ByteRange, of source: Int) {
        let isNext = ahead?.source == source && ahead?.range.start == part.end
        let end = isNext ? ahead?.range.end ?? part.end : part.end
        ahead = ComparedAhead(range: ByteRange(part.start, end), source: source)
    }

    /// Where what was compared ahead of `end` begins.
    func start(aheadOf end: Int64, of source: Int) -> Int64? {
        ahead.flatMap { $0.source == source && $0.range.end == end ? $0.range.start : nil }
    }

    /// The bytes that a response adds are compared for it alone.
    mutating func forgetAhead() { ahead = nil }

    // MARK: entity tags

    mutating func ask(_ question: TagQuestion) { self.question = question }

    mutating func answered() { question = nil }

    /// The source has another address.
    mutating func replaced(_ source: Int) { if question?.source == source { question = nil } }
}

/// What requests have compared before one whose response can hold only a part of the bytes to compare.
struct ComparedAhead: Hashable, Sendable {
    var range: ByteRange
    /// The agreement of another source would say nothing of this one's content.
    var source: Int
}

/// Where a compared response that stated no total ended.
struct ComparedEnd: Hashable, Sendable {
    var offset: Int64
    /// Another server's 416 would say nothing of this one's content.
    var source: Int
}

/// The places that are compared with one source since other compared bytes have no information.
struct ComparedElsewhere: Hashable, Sendable {
    let source: Int
    /// Those still to be compared.
    var left: [ByteRange]
    /// The bytes on disk that the next response repeats first, from the place on.
    var reach: ByteRange?
    /// Those that were compared and are equal.
    var equal = ByteRangeSet()
}

extension ComparedElsewhere {
    func contains(_ range: ByteRange, from source: Int) -> Bool {
        source == self.source && left.contains { range.contains($0) }
    }

    /// Notes that the bytes are equal; `false` unless they are one of the places.
    mutating func note(equal range: ByteRange) -> Bool {
        guard left.contains(where: { range.contains($0) }) else { return false }
        left.removeAll { range.contains($0) }
        equal.insert(range)
        return true
    }
}

extension ByteRange {
    fileprivate func divided(by part: Int64) -> [ByteRange] {
        stride(from: start, to: end, by: Int(part)).map { ByteRange($0, min(end, $0 + part)) }
    }
}
