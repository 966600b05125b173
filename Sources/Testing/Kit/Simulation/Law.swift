package import PawlBase
package import PawlCore

/// The laws of a simulated world, checked after every event and at the end.
///
/// Each is a function of evidence that returns `nil`, or the violation.
package enum Law: String, CaseIterable, Sendable {
    /// A published file equals one version of the origin's content, byte for byte.
    case published = "a published file is one version of the content"
    case written = "only bytes of the content are written"
    case once = "existing bytes are not written again"
    case digest = "each checksum that was given equals the digest of the file on disk"
    case pieces = "each piece of a published file has its digest"
    case tails = "bytes that another program appended are not used"
    case ladder = "durable ⊆ synced ⊆ written ⊆ received"
    case progress = "progress goes back only by a verdict with a reason"
    case kill = "a kill loses nothing that was written"
    case powerCut = "a power cut loses only what arrived last"
    case discarded = "nothing is discarded of content that stays the same"
    case onceOnly = "what was kept is not fetched again"
    case owner = "every byte has one owner"
    case connections = "connections stay within the budget"
    case silence = "a URL's Retry-After and a host's RateLimit are obeyed"
    case turns = "who waits for a host gets its turn, in order, and nobody waits without a reason"
    case fair = "a host is not limited to less than it served a moment ago"
    case finishes = "a download that can finish does"
    case ends = "everything ends"
    case paused = "what the user paused does not run"
    case slots = "slots are never exceeded"
    case idle = "no slot is idle while a download waits"
    case reached = "no download waits for a network that it has"
    case patience = "retries stop when there is no progress, and not before"
    case response = "a request gets its own response, and all of it"
    case reuse = "a connection carries one request at a time, and none after leftovers"
    case resend = "a request that a reused connection lost is sent again, once"
    case streams = "a connection carries no more streams than both sides allow, and none after GOAWAY"
    case credit = "a server sends no more than its receiver's window, and waits for no other receiver"
    case drain = "an unwanted body is read no longer than its limits"
    case traffic = "a rate limit makes servers send nothing in vain"
    case tidiness = "nothing is left open or left behind"
    case room = "no download waits for a disk that has room"
    case confirmed = "what a queue has confirmed, it keeps"
    case followed = "who reads each download that an event names knows what the queue shows"
    case agreement = "small files end alike with and without a machine"
    case told = "nothing is left out of a stream in silence"
    case users = "a file that no download has finished stays as it is"
    case listed = "a listing has each file once, and says when one may be missing"
    case mirrored = "a mirror fetches nothing twice, and removes only what it has fetched and is gone"
}

/// A law that was broken, and how.
package struct Violation: Hashable, Sendable, CustomStringConvertible {
    package let law: Law
    package let text: String

    package init(_ law: Law, _ text: String) {
        self.law = law
        self.text = text
    }

    package var description: String { "\(law.rawValue): \(text)" }
}

extension Law {
    /// `selection` is the requested part.
    package static func published(_ bytes: [UInt8], of versions: [Payload], selection: RequestedRange) -> String? {
        let isRight = versions.contains { version in
            let wanted = selection.part(of: version.length)
            guard wanted.count == bytes.count else { return false }
            return unsafe bytes.withUnsafeBytes { unsafe version.agreement(with: $0, at: wanted.start) } == bytes.count
        }
        return isRight ? nil : "\(bytes.count) bytes that none of \(versions.count) versions has"
    }

    package static func ladder(
        durable: ByteRangeSet, synced: ByteRangeSet, written: ByteRangeSet, received: ByteRangeSet?
    ) -> String? {
        if !durable.isSubset(of: synced) { return "durable \(durable.runs), synced only \(synced.runs)" }
        if !synced.isSubset(of: written) { return "synced \(synced.runs), written only \(written.runs)" }
        guard let received, !written.isSubset(of: received) else { return nil }
        return "written \(written.runs), received only \(received.runs)"
    }

    package static func progress(from before: Int64, to after: Int64, hasReason: Bool) -> String? {
        after >= before || hasReason ? nil : "from \(before) bytes to \(after), without a reason"
    }

    package static func kept(known: ByteRangeSet, written: ByteRangeSet, mayBeLost: ByteRangeSet) -> String? {
        var must = written
        for run in mayBeLost.runs { must.remove(run) }
        return must.isSubset(of: known) && known.isSubset(of: written)
            ? nil : "the journal and the file's length claim \(known.runs), written is \(written.runs)"
    }

    package static func bounded(mustStay: ByteRangeSet, kept: ByteRangeSet) -> String? {
        mustStay.isSubset(of: kept) ? nil : "\(kept.runs) is left of \(mustStay.runs)"
    }

    package static func onceOnly(again: Int64, requests: Int) -> String? {
        // Each request may compare, and has its last bytes in buffers.
        let allowed = Int64(requests) * 2 * DownloadMachine.overlap
        return again <= allowed ? nil : "\(again) bytes again by \(requests) requests"
    }

    package static func within(_ count: Int, _ limit: Int) -> String? {
        count <= limit ? nil : "\(count) connections of \(limit)"
    }

    package static func silent(now: Instant, until: Instant) -> String? {
        now >= until ? nil : "requested \((until - now).seconds) s too early"
    }

    /// At the end of an instant; `before` is the budget at the last one.
    package static func turns(_ budget: HostBudget, before: HostBudget?, now: Instant) -> String? {
        if let idle = budget.line.first(where: \.isInvited) {
            return "\(idle.request.run) has a place and does not use it"
        }
        let able = budget.line.filter { !budget.isHeld($0.request, now: now) }
        let first = able.first { !$0.request.isFurther }
        if let first, budget.inUse < min(budget.most ?? .max, budget.knownPlaces) {
            return "\(first.request.run) waits, \(budget.inUse) are in use"
        }
        guard let before else { return nil }
        // What got a connection was not behind another first one that still waits.
        for (index, waiter) in before.line.enumerated() where !waiter.request.isFurther {
            let runs = budget.line.map(\.request.run)
            guard !runs.contains(waiter.request.run), budget.holds(waiter.request.run) else { continue }
            let passed = before.line[..<index].filter { earlier in
                !earlier.request.isFurther && able.contains { $0.request == earlier.request }
                    && !budget.wasRefused(earlier.request)
            }
            // One more than the host is known to allow may be tried for another one.
            if passed.count > 1 { return "\(waiter.request.run) overtook \(passed.map(\.request.run))" }
        }
        return nil
    }

    /// `recent` is the most that the host served at the end of an instant of the last ten seconds.
    package static func fair(_ budget: HostBudget, before: HostBudget?, recent: Int) -> String? {
        guard let limit = budget.limit?.connections, limit < before?.limit?.connections ?? .max else { return nil }
        let least = min(recent, before?.limit?.connections ?? .max)
        return limit < least ? "it served \(least), and \(limit) are allowed" : nil
    }

    package static func slots(running: Int, of slots: Int) -> String? {
        running <= slots ? nil : "\(running) run in \(slots) slots"
    }

    package static func idle(running: Int, waiting: Int, of slots: Int) -> String? {
        waiting == 0 || running >= slots ? nil : "\(waiting) wait, \(running) of \(slots) run"
    }

    /// An attempt is made at least every minute.
    package static func reached(upSince: Instant?, waitsSince: Instant?, now: Instant) -> String? {
        guard let upSince, let waitsSince, case let both = max(upSince, waitsSince) else { return nil }
        // An attempt takes its time.
        let longest = RetryPolicy.longestWait * 1.1
        return now - both <= longest ? nil : "has waited for \((now - both).seconds) s while there is a network"
    }

    /// The rarest attempts, and one that takes its time.
    package static let longestWaitForRoom = Interval.seconds(100)

    /// A download failed after `total` retries, `idle` of them after the last new byte.
    package static func patience(idle: Int, total: Int, of most: Int) -> String? {
        idle <= most && total >= most ? nil : "it failed after \(idle) of \(total) retries, \(most) are allowed"
    }
}

extension RequestedRange {
    /// The range in a resource of `length` bytes.
    package func part(of length: Int64) -> ByteRange {
        switch self {
        case .whole: ByteRange(0, length)
        case .from(let start): ByteRange(min(start, length), length)
        case .closed(let range): ByteRange(min(range.start, length), min(range.end, length))
        case .suffix(let count): ByteRange(max(0, length - count), length)
        }
    }
}
