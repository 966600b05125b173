package import PawlBase

/// The machine of one file of a stream: what is requested next, what is appended, what follows a failure.
package struct StreamMachine: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case fetch(Int)
        case fetchKey(WebAddress)
        /// The bytes of this item are the next; its key is there.
        case append(Int)
        /// The bytes of this item are those before the next: they have to be on disk already.
        case compare(Int)
        /// The file goes on without this item.
        case skip(Int, because: String)
        /// The playlist has to be requested again: addresses have expired.
        case askAgain
        /// The file begins anew, and all requests are void.
        case startOver(because: String)
        case finish
        case fail(Failure)
    }

    private enum State: Hashable, Sendable {
        case requested(generation: Int)
        case arrived(bytes: Int)
        /// Its address has expired: it waits for another.
        case expired(Failure)
        /// It is not to be had; that matters when it is due.
        case lost(Failure)
    }

    package private(set) var file: StreamFile
    package private(set) var next = 0
    package private(set) var gaps: [Int] = []
    /// The most requests at once.
    package var width: Int
    private let allowedGaps: Int
    /// More items may follow: a programme is being recorded.
    private var isOpen: Bool
    /// Its playlist lists what is new, and no other addresses of what it had.
    private let isRecorded: Bool
    private var window: [Int: State] = [:]
    private var keys: Set<WebAddress> = []
    private var requestedKeys: [WebAddress: Int] = [:]
    /// Those that could not be had since the playlist was requested last.
    private var failedKeys: [WebAddress: Failure] = [:]
    /// Whether bytes are being appended or compared.
    private var isAppending = false
    /// The item that is requested again, so that what follows is known to belong to what is on disk.
    private var compared: Int?
    private var comparesLater = false
    private var isAsking = false
    private var isOver = false
    /// How often the playlist was requested again.
    private var generation = 0
    /// Responses to requests of earlier generations are not used.
    private var firstUsed = 0
    private var restarts = 0
    private var attempts: [Int: Int] = [:]
    private var largest = 1 << 20

    /// The bytes of segments that wait or arrive.
    private static let room = 64 << 20
    /// How often a segment is requested in vain.
    private static let mostAttempts = 3

    /// `width`: the most requests at once; `isOpen`: more items follow, until ``complete()``.
    package init(_ file: StreamFile, width: Int, allowedGaps: Int = 0, isOpen: Bool = false) {
        self.file = file
        self.isOpen = isOpen
        isRecorded = isOpen
        self.width = max(1, width)
        self.allowedGaps = allowedGaps
    }

    /// Begins, or continues behind the items that are on disk.
    package mutating func begin(at item: Int = 0, gaps: [Int] = []) -> [Action] {
        next = min(item, file.items.count)
        self.gaps = gaps
        compareLast()
        return advance()
    }

    // MARK: events

    package mutating func fetched(_ index: Int, bytes: Int) -> [Action] {
        guard case .requested(let generation) = window[index] else { return [] }
        guard generation >= firstUsed else {
            window[index] = nil
            return advance()
        }
        window[index] = .arrived(bytes: bytes)
        largest = max(largest, bytes)
        if let key = file.items[index].segment.key?.address, let failure = failedKeys[key] {
            block(index, key, failure)
            return askIfExpired() + advance()
        }
        return advance()
    }

    package mutating func failed(_ index: Int, _ failure: Failure) -> [Action] {
        guard case .requested(let generation) = window[index] else { return [] }
        attempts[index, default: 0] += 1
        if generation < self.generation, attempts[index, default: 0] < Self.mostAttempts {
            window[index] = nil
            return advance()
        }
        window[index] = mayExpire(failure, index) ? .expired(failure) : .lost(failure)
        return askIfExpired() + advance()
    }

    package mutating func keyFetched(_ address: WebAddress) -> [Action] {
        guard requestedKeys.removeValue(forKey: address) != nil else { return [] }
        keys.insert(address)
        return advance()
    }

    package mutating func keyFailed(_ address: WebAddress, _ failure: Failure) -> [Action] {
        guard requestedKeys.removeValue(forKey: address) != nil else { return [] }
        failedKeys[address] = failure
        // One that is on its way is still requested: its response ends that.
        for (index, state) in window where file.items[index].segment.key?.address == address {
            if case .arrived = state { block(index, address, failure) }
        }
        return askIfExpired() + advance()
    }

    /// An item that is there cannot be decrypted.
    private mutating func block(_ index: Int, _ key: WebAddress, _ failure: Failure) {
        attempts[index, default: 0] += 1
        var failure = failure
        failure.why = "its key cannot be had from \(key.redacted): \(failure.why)"
        window[index] = mayExpire(failure, index) ? .expired(failure) : .lost(failure)
    }

    /// The item that was to be appended is on disk.
    package mutating func appended() -> [Action] {
        guard isAppending else { return [] }
        isAppending = false
        leave(next)
        if comparesLater { compareLast() }
        return advance()
    }

    /// The bytes that were to be appended or compared are not those of the item.
    package mutating func rejected(_ failure: Failure) -> [Action] {
        guard isAppending else { return [] }
        isAppending = false
        let index = compared ?? next
        attempts[index, default: 0] += 1
        if let key = file.items[index].segment.key { keys.remove(key.address) }
        window[index] = attempts[index, default: 0] < Self.mostAttempts ? nil : .lost(failure)
        return advance()
    }

    /// Whether the bytes of the item before the next are those on disk.
    package mutating func compared(areEqual: Bool) -> [Action] {
        guard isAppending, let index = compared else { return [] }
        isAppending = false
        (compared, window[index], attempts[index]) = (nil, nil, nil)
        if comparesLater, areEqual { compareLast() }
        return areEqual ? advance() : begunAnew(file, because: "\(name(of: index)) has other bytes than before")
    }

    /// The playlist was requested again.
    package mutating func renewed(_ other: StreamFile) -> [Action] {
        guard isAsking else { return [] }
        isAsking = false
        generation += 1
        guard other.identity == file.identity else { return changed(other) }
        file.renew(other)
        failedKeys = [:]
        for (index, state) in window { if case .expired = state { window[index] = nil } }
        if isAppending || compared != nil {
            // That came before.
            comparesLater = true
        } else if lastWritten != nil {
            compareLast()
        } else {
            // Nothing can be compared with what came before.
            firstUsed = self.generation
            for (index, state) in window { if case .arrived = state { window[index] = nil } }
        }
        return advance()
    }

    package mutating func renewalFailed(_ failure: Failure) -> [Action] {
        guard isAsking else { return [] }
        isAsking = false
        for (index, state) in window { if case .expired(let own) = state { window[index] = .lost(own) } }
        return advance()
    }

    // MARK: recording

    /// The playlist has these items, after some that it no longer lists.
    package mutating func extended(by items: [StreamFile.Item], missed: [StreamFile.Item] = []) -> [Action] {
        guard isOpen, !isOver else { return [] }
        for item in missed {
            window[file.items.count] = .lost(
                Failure(
                    .notFound, "", at: "", because: "it had left the playlist before it was seen there"))
            file.items.append(item)
        }
        file.items += items
        return advance()
    }

    /// No more items follow.
    package mutating func complete() -> [Action] {
        guard isOpen, !isOver else { return [] }
        isOpen = false
        return advance()
    }

    /// The file ends with what is on disk.
    package mutating func cut() -> [Action] {
        guard isOpen || isRecorded, !isOver else { return [] }
        file.items.removeSubrange(next...)
        (window, isOpen) = ([:], false)
        return advance()
    }

    // MARK: decisions

    /// Whether the playlist, requested again, may have another address for it.
    private func mayExpire(_ failure: Failure, _ index: Int) -> Bool {
        !isRecorded && failure.isExpiry && attempts[index, default: 0] < Self.mostAttempts
    }

    private mutating func changed(_ other: StreamFile) -> [Action] {
        begunAnew(other, because: "the playlist has changed: \(file.difference(from: other))")
    }

    private mutating func begunAnew(_ other: StreamFile, because why: String) -> [Action] {
        restarts += 1
        guard restarts == 1 else {
            isOver = true
            return [
                .fail(
                    Failure(
                        .cannotResume, "cannot download", at: "the stream", because: "its playlist keeps changing",
                        remedy: "try again when the programme is complete"))
            ]
        }
        file = other
        (next, gaps, window, attempts, requestedKeys, isAppending, compared) = (0, [], [:], [:], [:], false, nil)
        (comparesLater, failedKeys) = (false, [:])
        return [.startOver(because: why)] + advance()
    }

    /// Requests the last item that is on disk again: names and lengths of segments do not show that their bytes are the same.
    private mutating func compareLast() {
        comparesLater = false
        guard compared == nil else { return }
        compared = lastWritten
    }

    /// The last item that is on disk.
    private var lastWritten: Int? { (0..<next).last { !gaps.contains($0) && !file.items[$0].segment.isGap } }

    private mutating func askIfExpired() -> [Action] {
        guard !isAsking, !isOver, window.values.contains(where: { if case .expired = $0 { true } else { false } })
        else {
            return []
        }
        isAsking = true
        return [.askAgain]
    }

    private mutating func leave(_ index: Int) {
        window[index] = nil
        attempts[index] = nil
        next += 1
    }

    private mutating func advance() -> [Action] {
        guard !isOver else { return [] }
        var actions: [Action] = []
        if let index = compared, !isAppending {
            if case .lost(let failure) = window[index] {
                isOver = true
                return [.fail(named(failure, index))]
            }
            if case .arrived = window[index], hasKey(index) {
                isAppending = true
                actions.append(.compare(index))
            }
        }
        while compared == nil, next < file.items.count, !isAppending {
            let item = file.items[next]
            if item.segment.isGap {
                actions.append(.skip(next, because: "its author says that it is missing"))
                gaps.append(next)
                leave(next)
            } else if case .lost(let failure) = window[next] {
                guard let skip = skip(failure) else {
                    isOver = true
                    return actions + [.fail(named(failure, next))]
                }
                actions.append(skip)
            } else if case .arrived = window[next], hasKey(next) {
                isAppending = true
                actions.append(.append(next))
            } else {
                break
            }
        }
        if next == file.items.count, compared == nil, !isOpen {
            isOver = true
            return actions + [.finish]
        }
        fill(&actions)
        return actions
    }

    private func hasKey(_ index: Int) -> Bool {
        file.items[index].segment.key.map { keys.contains($0.address) } ?? true
    }

    private mutating func skip(_ failure: Failure) -> Action? {
        let index = next
        let lost = gaps.count { !file.items[$0].segment.isGap }
        guard !file.items[index].isInitialization, failure.isOfSegment, file.allows(lost + 1, of: allowedGaps) else {
            return nil
        }
        gaps.append(index)
        leave(index)
        return .skip(index, because: failure.why)
    }

    private mutating func fill(_ actions: inout [Action]) {
        var inFlight = 0
        var held = 0
        for state in window.values {
            if case .requested = state { inFlight += 1 }
            if case .arrived(let bytes) = state { held += bytes }
        }
        for index in (compared.map { [$0] } ?? []) + Array(next..<min(file.items.count, next + 3 * width)) {
            let segment = file.items[index].segment
            if segment.isGap { continue }
            if let key = segment.key, !keys.contains(key.address), requestedKeys[key.address] == nil,
                failedKeys[key.address] == nil, !isBlocked(index)
            {
                requestedKeys[key.address] = generation
                actions.append(.fetchKey(key.address))
            }
            guard window[index] == nil else { continue }
            guard inFlight < width, index <= next || held + (inFlight + 1) * largest <= Self.room else { break }
            window[index] = .requested(generation: generation)
            inFlight += 1
            actions.append(.fetch(index))
        }
    }

    /// Whether it waits for another address, or for nothing any more.
    private func isBlocked(_ index: Int) -> Bool {
        switch window[index] {
        case .expired, .lost: true
        case .requested, .arrived, nil: false
        }
    }

    private func remedy(_ failure: Failure, _ item: StreamFile.Item) -> Remedy {
        // It says what has to be allowed, or which certificate is wrong.
        if failure.code == .insecure { return failure.remedy }
        // A recording is never continued, and what it has lost is nowhere any more.
        if isRecorded { return item.isInitialization ? "" : "allow gaps to record on without it" }
        guard item.isInitialization else { return "\(.resume) to continue with this segment, or allow gaps" }
        // No part of the file can be used without it, and it will be the same later.
        return failure.isOfSegment ? "" : "\(.resume)"
    }

    private func named(_ failure: Failure, _ index: Int) -> Failure {
        let item = file.items[index]
        var named = Failure(
            failure.code, .init(stringLiteral: "cannot fetch \(name(of: index))"),
            at: item.segment.address.redacted, because: failure.why,
            remedy: remedy(failure, item))
        named.status = failure.status
        return named
    }

    private func name(of index: Int) -> String {
        guard !file.items[index].isInitialization else { return "the initialization" }
        let number = file.items[...index].count { !$0.isInitialization }
        return isRecorded ? "segment \(number)" : "segment \(number) of \(file.items.count { !$0.isInitialization })"
    }
}

extension StreamFile {
    /// Whether so many segments may be left out beside those that the author declares missing, also behind them.
    package func allows(_ lost: Int, of allowed: Int) -> Bool {
        lost == 0 || lost + items.count(where: \.segment.isGap) <= allowed
    }

    /// Takes the addresses of the same file, requested again.
    mutating func renew(_ other: StreamFile) { items = other.items }

    fileprivate func difference(from other: StreamFile) -> String {
        guard items.count == other.items.count else {
            return "it has \(other.items.count) segments instead of \(items.count)"
        }
        for (mine, theirs) in zip(items, other.items) where mine.identity != theirs.identity {
            return "its segment \(mine.segment.number) is another one"
        }
        return "another track has taken its place"
    }
}

extension Failure {
    /// Whether another address of the same may help.
    var isExpiry: Bool { status.map { [401, 403, 404, 410].contains($0) } ?? false }

    /// Whether the segment is the reason, and not the connection or the disk.
    var isOfSegment: Bool { isExpiry || code == .checksumMismatch || code == .badResponse || code == .notFound }
}
