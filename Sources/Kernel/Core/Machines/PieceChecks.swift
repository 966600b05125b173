import PawlBase
import PawlJournal

/// The checks of the content's pieces, if their digests are known.
struct PieceChecks: Hashable, Sendable {
    var map: PieceMap?
    /// The number of the next order to hash a piece: no number is used twice, so that late digests are known.
    private var next: UInt64 = 0
    /// The whole is requested once the digests of the pieces on disk are known.
    private(set) var areAwaited = false

    /// The pieces to hash now.
    mutating func due(in done: ByteRangeSet) -> [PieceMap.Check]? { map?.due(in: done, nextTicket: &next) }

    /// Whether digests are to be known before what follows; `isOrdered`: some are computed from now on.
    mutating func awaits(_ isOrdered: Bool) -> Bool {
        areAwaited = isOrdered || (map?.checking ?? 0) > 0
        return areAwaited
    }

    mutating func awaitNone() { areAwaited = false }
}
