/// Decides which sample starts next, within limits for all samples and for each host, and a delay between the
/// starts of one host.
///
/// Hosts take turns, so that one with many samples does not delay the others. In its turn a host starts some samples one
/// after another, which use the same connection.
package struct PipeSchedule: Sendable {
    private struct Host: Sendable {
        /// Waiting samples; those before index `next` have started.
        var waiting: [Int] = []
        var next = 0
        var active = 0
        var delay: Interval
        var notBefore: Instant?
        /// Whether the host is in `ready` or in `later`.
        var isQueued = false
        /// The number of samples that followed another one in its turn.
        var followed = 0

        var isEmpty: Bool { next == waiting.count }

        mutating func add(_ sample: Int, isFirst: Bool) {
            if isFirst { waiting.insert(sample, at: next) } else { waiting.append(sample) }
        }

        mutating func popFirst() -> Int {
            defer {
                next += 1
                if next == waiting.count {
                    waiting.removeAll(keepingCapacity: true)
                    next = 0
                }
            }
            return waiting[next]
        }
    }

    /// The maximum number of samples that follow another one in a turn of their host.
    package static let longestTurn = 16

    private let slots: Int
    private let perHost: Int
    private let delay: Interval
    private var hosts: [String: Host] = [:]
    /// Hosts that may start a sample.
    private var ready = FIFO<String>()
    /// Hosts whose turn continues; they start before those in `ready`.
    private var following = FIFO<String>()
    private var later = InstantHeap()
    package private(set) var active = 0
    package private(set) var waiting = 0

    package init(slots: Int, perHost: Int, delay: Interval = .zero) {
        self.slots = slots
        self.perHost = perHost
        self.delay = delay
    }

    /// `isFirst`: puts it before the other samples of its host.
    package mutating func add(_ sample: Int, of name: String, isFirst: Bool = false) {
        waiting += 1
        hosts[name, default: Host(delay: delay)].add(sample, isFirst: isFirst)
        enqueue(name)
    }

    /// The sample to start now, if any.
    package mutating func next(now: Instant) -> Int? {
        guard active < slots else { return nil }
        while let name = later.pop(atMost: now) {
            if let notBefore = hosts[name]?.notBefore, now < notBefore {
                later.push(name, at: notBefore)
                continue
            }
            hosts[name]?.isQueued = false
            hosts[name]?.notBefore = nil
            enqueue(name)
            forgetIfIdle(name)
        }
        while let name = following.popFirst() {
            guard let host = hosts[name], !host.isEmpty, host.active < perHost, host.notBefore == nil else {
                continue
            }
            return start(name, host, now)
        }
        while let name = ready.popFirst() {
            hosts[name]?.isQueued = false
            guard var host = hosts[name], !host.isEmpty, host.active < perHost else {
                forgetIfIdle(name)
                continue
            }
            if let notBefore = host.notBefore, now < notBefore {
                hosts[name]?.isQueued = true
                later.push(name, at: notBefore)
                continue
            }
            host.followed = 0
            return start(name, host, now)
        }
        return nil
    }

    private mutating func start(_ name: String, _ host: Host, _ now: Instant) -> Int {
        var host = host
        let sample = host.popFirst()
        host.active += 1
        host.notBefore = host.delay > .zero ? now + host.delay : nil
        hosts[name] = host
        active += 1
        waiting -= 1
        enqueue(name)
        return sample
    }

    /// A sample of the host has ended.
    ///
    /// `keepsConnection`: the next sample of the host follows at once, within limits, because it can use the connection.
    package mutating func ended(of name: String, keepsConnection: Bool = false) {
        guard var host = hosts[name], host.active > 0 else { return }
        host.active -= 1
        active -= 1
        if host.isEmpty, !host.isQueued, let notBefore = host.notBefore {
            host.isQueued = true
            later.push(name, at: notBefore)
        }
        if keepsConnection, !host.isEmpty, host.notBefore == nil, host.followed < Self.longestTurn {
            host.followed += 1
            following.append(name)
        }
        hosts[name] = host
        enqueue(name)
        forgetIfIdle(name)
    }

    private mutating func forgetIfIdle(_ name: String) {
        guard let host = hosts[name], host.isEmpty, host.active == 0, !host.isQueued else { return }
        hosts[name] = nil
    }

    /// Raises the delay between two starts of a host to `delay`, for as long as the host has samples.
    package mutating func slowDown(_ name: String, to delay: Interval) {
        var host = hosts[name] ?? Host(delay: self.delay)
        host.delay = max(host.delay, delay)
        hosts[name] = host
    }

    /// Ends a sample that is to be started again, before others of its host but not before `instant`.
    package mutating func postpone(_ sample: Int, of name: String, until instant: Instant) {
        guard var host = hosts[name] else { preconditionFailure("a host with an active sample is known") }
        host.notBefore = max(host.notBefore ?? instant, instant)
        hosts[name] = host
        add(sample, of: name, isFirst: true)
        ended(of: name)
    }

    /// Removes a waiting sample.
    package mutating func remove(_ sample: Int, of name: String) {
        guard var host = hosts[name], let index = host.waiting[host.next...].firstIndex(of: sample) else {
            return
        }
        host.waiting.remove(at: index)
        waiting -= 1
        hosts[name] = host
        forgetIfIdle(name)
    }

    /// The next instant at which a host may start a sample; `nil` if one must end first.
    package var nextStart: Instant? { active < slots ? later.first : nil }

    /// Removes and returns all waiting samples.
    package mutating func removeAll() -> [Int] {
        let left = hosts.values.flatMap { $0.waiting[$0.next...] }
        for name in hosts.keys {
            hosts[name]?.waiting = []
            hosts[name]?.next = 0
        }
        waiting = 0
        return left
    }

    private mutating func enqueue(_ name: String) {
        guard let host = hosts[name], !host.isQueued, !host.isEmpty, host.active < perHost else { return }
        hosts[name]?.isQueued = true
        ready.append(name)
    }
}

/// A priority queue of names by instant, earliest first (binary heap).
struct InstantHeap: Sendable {
    private var items: [(at: Instant, name: String)] = []

    var first: Instant? { items.first?.at }

    mutating func push(_ name: String, at instant: Instant) {
        items.append((instant, name))
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].at < items[parent].at else { break }
            items.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the first name, if it is due.
    mutating func pop(atMost now: Instant) -> String? {
        guard let top = items.first, top.at <= now else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return top.name }
        items[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            let right = left + 1
            var least = parent
            if left < items.count, items[left].at < items[parent].at { least = left }
            if right < items.count, items[right].at < items[least].at { least = right }
            guard least != parent else { return top.name }
            items.swapAt(parent, least)
            parent = least
        }
    }
}
