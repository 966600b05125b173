package import PawlBase

/// The downloads of a queue that wait for their disk, and when each is tried again.
///
/// On each disk one is tried at a time, and only if the disk reports enough room for it; the others follow when that one gets
/// further. Where the disk reports room and the attempt fails all the same (a quota), the attempts become rarer, and
/// each waiting download gets its turn.
package struct DiskWaits: Sendable {
    /// Why a download waits.
    package struct Cause: Sendable {
        package var failure: Failure
        /// The disk that cannot be written; `nil` when the download's own folder is not there.
        package var device: UInt64?
        /// The bytes that it needs; `nil` if no file can be written there, however small.
        package var needed: Int64?

        package init(_ failure: Failure, device: UInt64?, needed: Int64? = nil) {
            (self.failure, self.device, self.needed) = (failure, device, needed)
        }
    }

    private struct Member: Sendable {
        var cause: Cause
        var due: Instant
        var isTried = false
    }

    /// The number of a disk that reported none.
    package static let unknown: UInt64 = 0

    /// How often the disks are looked at.
    package static let period = Interval.seconds(2)
    private static let retries = RetryPolicy(delay: .seconds(5))

    private var members: [QueueID: Member] = [:]
    /// In the order of their turns.
    private var order: [QueueID] = []
    /// The attempts that failed for the same reason since there was room.
    private var attempts: [QueueID: Int] = [:]

    package init() {}

    package var isEmpty: Bool { members.isEmpty }
    package var count: Int { members.count }
    package func failure(of id: QueueID) -> Failure? { members[id]?.cause.failure }
    package var all: [QueueID] { order }

    /// It could not be written.
    package mutating func add(_ id: QueueID, _ cause: Cause, now: Instant, dice: inout Dice) {
        let wasTried = members[id]?.isTried ?? false
        if wasTried || attempts[id] == nil { attempts[id, default: 0] += 1 }
        remove(id, keepsCount: true)
        let wait = Self.retries.wait(attempt: attempts[id] ?? 1, retryAfter: nil, dice: &dice)
        members[id] = Member(cause: cause, due: now + wait)
        order.append(id)
    }

    /// It ended, or the user paused it.
    package mutating func remove(_ id: QueueID) { remove(id, keepsCount: false) }

    private mutating func remove(_ id: QueueID, keepsCount: Bool) {
        if !keepsCount { attempts[id] = nil }
        guard members.removeValue(forKey: id) != nil else { return }
        order.removeAll { $0 == id }
    }

    /// The failure that another download on the device would have as well; `nil` if it may run.
    package func obstacle(to id: QueueID, on device: UInt64) -> Failure? {
        guard members[id]?.isTried != true else { return nil }
        return order.lazy.compactMap { self.members[$0] }.first {
            $0.cause.device == device && $0.cause.needed == nil && !$0.isTried
        }?.cause.failure
    }

    /// The user wants it to be tried now.
    package mutating func tryNow(_ id: QueueID) { members[id]?.isTried = true }

    /// The downloads whose folder is there again: they wait no longer.
    package mutating func returned(_ isThere: (QueueID) -> Bool) -> [QueueID] {
        let found = order.filter { id in
            guard let member = members[id], !member.isTried else { return false }
            return member.cause.device == nil && isThere(id)
        }
        for id in found { remove(id) }
        return found
    }

    /// The downloads to try now: the next one on each disk with enough room.
    ///
    /// `room` is called with a download that is to be written to the device; where the room is not known, it is tried.
    package mutating func trials(now: Instant, room: (QueueID) -> DiskRoom?) -> [QueueID] {
        var busy = Set(members.values.lazy.filter(\.isTried).compactMap(\.cause.device))
        var rooms: [UInt64: DiskRoom] = [:]
        var found: [QueueID] = []
        for id in order {
            guard let member = members[id], member.due <= now, let device = member.cause.device, !busy.contains(device)
            else { continue }
            let present = rooms[device] ?? room(id)
            // Its disk went away: what has the folder's path now is another one.
            if let present, device != Self.unknown, present.device != device { continue }
            rooms[device] = present
            guard present?.mayHold(member.cause.needed) ?? true else { continue }
            members[id]?.isTried = true
            busy.insert(device)
            found.append(id)
        }
        return found
    }

    /// Those that are being tried.
    package var tried: [QueueID] { order.filter { members[$0]?.isTried == true } }

    /// It got further: it waits no longer, nor do the others on its disk, which are returned.
    package mutating func succeeded(_ id: QueueID) -> [QueueID] {
        guard let member = members[id] else { return [] }
        guard let device = member.cause.device else {
            remove(id)
            return []
        }
        let others = order.filter { other in
            guard let member = members[other] else { return false }
            return other != id && member.cause.device == device && !member.isTried
        }
        for gone in others + [id] { (members[gone], attempts[gone]) = (nil, nil) }
        order.removeAll { members[$0] == nil }
        return others
    }

    /// Ends all waits; returns who waited.
    package mutating func endAll() -> [QueueID] {
        defer { self = DiskWaits() }
        return order
    }
}
