import PawlBase

/// When the bytes written are made durable.
struct Checkpoints: Hashable, Sendable {
    static let period = Interval.seconds(2)
    static let size: Int64 = 64 << 20

    /// When the next one is due; `nil` before the first byte.
    private var due: Instant?
    /// How many bytes the last one covers.
    ///
    /// Counts without a time, too: a wait for the network may come before the first byte is added to an existing file.
    private var covered: Int64 = 0

    /// The first body flows.
    mutating func began(now: Instant) { if due == nil { due = now + Checkpoints.period } }

    /// All bytes are covered by one that is about to be made.
    mutating func made(of written: Int64, now: Instant) {
        due = now + Checkpoints.period
        covered = written
    }

    /// Whether one is to be made now: after some time, or many bytes.
    mutating func isDue(of written: Int64, now: Instant) -> Bool {
        guard let due, written > covered, now >= due || written - covered >= Checkpoints.size else { return false }
        made(of: written, now: now)
        return true
    }

    /// Whether one is to be made before a wait, since none may follow for long.
    mutating func isDueBeforeWait(of written: Int64) -> Bool {
        defer { covered = written }
        return written > covered
    }

    /// Bytes are about to be discarded, and a checkpoint in progress with them: the others need a new one.
    mutating func voided(of written: Int64) { covered = min(covered, max(0, written - 1)) }

    /// Nothing is on disk any more.
    mutating func startedOver() { covered = 0 }
}
