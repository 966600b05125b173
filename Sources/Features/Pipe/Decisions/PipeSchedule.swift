package import PawlBase

/// Decides which sample starts next, within limits for all samples and for each host, and a delay between the
/// starts of one host.
///
/// A host whose name has to be looked up starts nothing before that: a name server that is silent takes no place from the samples of
/// other hosts.
///
/// Hosts take turns, so that one with many samples does not delay the others. In its turn a host starts some samples one
/// after another, which use the same connection.
package struct PipeSchedule: Sendable {
    /// What is known of the addresses of a host.
    private enum Addresses: Sendable {
        /// Known, or not needed.
        case known
        /// To be looked up.
        case wanted
        /// Being looked up.
        case pending
    }

    private struct Host: Sendable {
        /// Waiting samples; those before index `next` have started.
        var waiting: [Int] = []
        var next = 0
        /// How many of the first waiting samples hold up others.
        var urgent = 0
        var active = 0
        var delay: Interval
        var notBefore: Instant?
        var addresses = Addresses.known
        /// Whether it was looked up, and has started nothing since.
        var isFresh = false
        /// Whether the host is in `ready`, `unresolved` or `later`.
        var isQueued = false
        /// The number of samples that followed another one in its turn.
        var followed = 0
        /// Samples that wait by themselves: the server requested it for their URLs.
        var resting: Set<Int> = []
        /// What the host has refused since it served a sample.
        var refusals = Refusals()

        var isEmpty: Bool { next == waiting.count }

        /// Whether nothing of it waits or runs.
        var isIdle: Bool { isEmpty && active == 0 && resting.isEmpty && !isQueued && addresses != .pending }

        mutating func add(_ sample: Int, isFirst: Bool, isUrgent: Bool) {
            if isUrgent {
                waiting.insert(sample, at: next + urgent)
                urgent += 1
            } else if isFirst {
                waiting.insert(sample, at: next + urgent)
            } else {
                waiting.append(sample)
            }
        }

        /// Starts the next sample.
        mutating func start(_ now: Instant) -> Int {
            active += 1
            isFresh = false
            notBefore = delay > .zero ? now + delay : nil
            return popFirst()
        }

        private mutating func popFirst() -> Int {
            urgent = max(0, urgent - 1)
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
    /// The maximum number of lookups under way, most of which wait: the resolver takes fewer.
    package static let mostLookups = 1_024

    /// Refusals for overload (429, 503).
    ///
    /// That of one URL says nothing of others while they are served. Where one after another is refused, the host is.
    struct Refusals: Sendable {
        /// How long what is under way has time to show which of both it is.
        static let doubt = Interval.seconds(1)

        private var samples: Set<Int> = []
        private var hasServed = false
        private var until: Instant?
        /// Until when the host starts nothing because of them.
        private(set) var holdsUntil: Instant?

        mutating func note(_ sample: Int, until: Instant, isAlone: Bool, now: Instant) {
            samples.insert(sample)
            self.until = max(self.until ?? until, until)
            guard samples.count > 1 || !hasServed && !isAlone else { return }
            holdsUntil = samples.count > 1 && isAlone ? self.until : now + Self.doubt
        }

        mutating func served() {
            self = Refusals()
            hasServed = true
        }
    }

    private let slots: Int
    private let perHost: Int
    private let delay: Interval
    private typealias HostIndex = Dictionary<String, Host>.Index

    private var hosts: [String: Host] = [:]
    /// Hosts that may start a sample.
    private var ready = FIFO<String>()
    /// Hosts with samples that hold up others; they start before all others.
    private var urgent = FIFO<String>()
    /// Hosts whose turn continues; they start before those in `ready`.
    private var following = FIFO<String>()
    /// Hosts to be looked up.
    private var unresolved = FIFO<String>()
    private var later = InstantHeap<String>()
    private var rests = InstantHeap<(host: String, sample: Int)>()
    private var lookups = 0
    /// The number of fresh hosts.
    private var fresh = 0
    package private(set) var active = 0
    package private(set) var waiting = 0

    package init(slots: Int, perHost: Int, delay: Interval = .zero) {
        self.slots = slots
        self.perHost = perHost
        self.delay = delay
    }

    /// Adds a waiting sample.
    ///
    /// `isFirst`: puts it before the other samples of its host. `isUrgent`: also before those of other hosts, because started samples
    /// wait for it. `needsLookup`: its host has a name that has to be looked up.
    package mutating func add(
        _ sample: Int, of name: String, isFirst: Bool = false, isUrgent: Bool = false, needsLookup: Bool = false
    ) {
        waiting += 1
        let index = hosts.index(forKey: name) ?? insert(name, needsLookup: needsLookup)
        // In place: a copy of the host would share its samples, and they would be copied.
        hosts.values[index].add(sample, isFirst: isFirst, isUrgent: isUrgent)
        if isUrgent { urgent.append(name) }
        enqueue(name, at: index)
    }

    private mutating func insert(_ name: String, needsLookup: Bool) -> HostIndex {
        hosts[name] = Host(delay: delay, addresses: needsLookup ? .wanted : .known)
        guard let index = hosts.index(forKey: name) else { preconditionFailure("it was inserted") }
        return index
    }

    /// The sample to start now, if any.
    ///
    /// `onlyUrgent`: starts none but those that hold up others.
    package mutating func next(now: Instant, onlyUrgent: Bool = false) -> Int? {
        wake(now)
        guard active < slots else { return nil }
        if let urgent = nextUrgent(now) { return urgent }
        guard !onlyUrgent else { return nil }
        while let name = following.popFirst() {
            guard let index = hosts.index(forKey: name), mayStart(index), hosts.values[index].notBefore == nil else {
                continue
            }
            return start(name, at: index, now)
        }
        while let name = ready.popFirst() {
            guard let index = hosts.index(forKey: name) else { continue }
            hosts.values[index].isQueued = false
            guard mayStart(index) else {
                enqueue(name, at: index)
                forgetIfIdle(index)
                continue
            }
            guard !delay(name, at: index, now) else { continue }
            hosts.values[index].followed = 0
            return start(name, at: index, now)
        }
        return nil
    }

    /// Those that cannot start yet stay: their host has no place, a delay, or no address.
    private mutating func nextUrgent(_ now: Instant) -> Int? {
        for _ in 0..<urgent.count {
            guard let name = urgent.popFirst() else { return nil }
            guard let index = hosts.index(forKey: name), hosts.values[index].urgent > 0 else { continue }
            urgent.append(name)
            let notBefore = hosts.values[index].notBefore
            guard mayStart(index), notBefore.map({ $0 <= now }) ?? true else { continue }
            return start(name, at: index, now)
        }
        return nil
    }

    /// Whether the host has a waiting sample that may start, except for its delay.
    private func mayStart(_ index: HostIndex) -> Bool {
        let host = hosts.values[index]
        return !host.isEmpty && host.active < perHost && host.addresses == .known
    }

    /// Queues samples and hosts whose delay is over.
    private mutating func wake(_ now: Instant) {
        while let (name, sample) = rests.pop(atMost: now) {
            guard hosts[name]?.resting.remove(sample) != nil else { continue }
            waiting -= 1
            add(sample, of: name, isFirst: true)
        }
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
    }

    /// Whether the host has to wait for its delay.
    private mutating func delay(_ name: String, at index: HostIndex, _ now: Instant) -> Bool {
        guard let notBefore = hosts.values[index].notBefore, now < notBefore else { return false }
        hosts.values[index].isQueued = true
        later.push(name, at: notBefore)
        return true
    }

    private mutating func start(_ name: String, at index: HostIndex, _ now: Instant) -> Int {
        if hosts.values[index].isFresh { fresh -= 1 }
        let sample = hosts.values[index].start(now)
        active += 1
        waiting -= 1
        enqueue(name, at: index)
        return sample
    }

    /// A sample of the host has ended.
    ///
    /// `keepsConnection`: the next sample of the host follows at once, within limits, because it can use the connection.
    package mutating func ended(of name: String, keepsConnection: Bool = false) {
        guard let index = hosts.index(forKey: name), hosts.values[index].active > 0 else { return }
        active -= 1
        hosts.values[index].active -= 1
        let host = hosts.values[index]
        if host.isEmpty, !host.isQueued, let notBefore = host.notBefore {
            hosts.values[index].isQueued = true
            later.push(name, at: notBefore)
        }
        if keepsConnection, !host.isEmpty, host.notBefore == nil, host.followed < Self.longestTurn {
            hosts.values[index].followed += 1
            following.append(name)
        }
        enqueue(name, at: index)
        forgetIfIdle(index)
    }

    private mutating func forgetIfIdle(_ name: String) {
        if let index = hosts.index(forKey: name) { forgetIfIdle(index) }
    }

    private mutating func forgetIfIdle(_ index: HostIndex) {
        let host = hosts.values[index]
        guard host.isIdle else { return }
        if host.isFresh { fresh -= 1 }
        hosts.remove(at: index)
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

    /// Starts nothing of the host before `instant`.
    package mutating func pause(_ name: String, until instant: Instant) {
        guard let index = hosts.index(forKey: name) else { return }
        hosts.values[index].notBefore = max(hosts.values[index].notBefore ?? instant, instant)
    }

    /// Ends a sample whose place is of a host that has refused it for overload: the sample is started again at `instant`.
    ///
    /// Other samples of the place start meanwhile, unless they are refused as well.
    package mutating func rest(_ sample: Int, of name: String, in place: String, until instant: Instant, now: Instant) {
        guard var host = hosts[place] else { preconditionFailure("a host with an active sample is known") }
        host.refusals.note(sample, until: instant, isAlone: host.active == 1, now: now)
        if let until = host.refusals.holdsUntil { host.notBefore = max(host.notBefore ?? until, until) }
        hosts[place] = host
        let index = hosts.index(forKey: name) ?? insert(name, needsLookup: false)
        hosts.values[index].resting.insert(sample)
        waiting += 1
        rests.push((name, sample), at: instant)
        ended(of: place)
    }

    /// The host has served a sample.
    package mutating func served(_ name: String) {
        guard let index = hosts.index(forKey: name) else { return }
        let held = hosts.values[index].refusals.holdsUntil
        hosts.values[index].refusals.served()
        guard let held, hosts.values[index].notBefore == held else { return }
        hosts.values[index].notBefore = nil
        hosts.values[index].isQueued = false
        enqueue(name, at: index)
    }

    /// Removes a waiting sample.
    package mutating func remove(_ sample: Int, of name: String) {
        if hosts[name]?.resting.remove(sample) != nil {
            waiting -= 1
            return forgetIfIdle(name)
        }
        guard var host = hosts[name], let index = host.waiting[host.next...].firstIndex(of: sample) else { return }
        if index < host.next + host.urgent { host.urgent -= 1 }
        host.waiting.remove(at: index)
        waiting -= 1
        hosts[name] = host
        forgetIfIdle(name)
    }

    /// Removes and returns the waiting samples of a host that `isRemoved` names.
    package mutating func removeAll(of name: String, where isRemoved: (Int) -> Bool = { _ in true }) -> [Int] {
        guard var host = hosts[name] else { return [] }
        let samples = host.waiting[host.next...]
        let rested = host.resting.filter(isRemoved).sorted()
        host.resting.subtract(rested)
        waiting -= rested.count
        hosts[name] = host
        let removed = samples.filter(isRemoved)
        guard !removed.isEmpty else {
            forgetIfIdle(name)
            return rested
        }
        host.urgent -= samples.prefix(host.urgent).count(where: isRemoved)
        host.waiting = removed.count == samples.count ? [] : samples.filter { !isRemoved($0) }
        host.next = 0
        waiting -= removed.count
        hosts[name] = host
        forgetIfIdle(name)
        return removed + rested
    }

    /// The waiting samples of a host.
    package func waiting(of name: String) -> ArraySlice<Int> { hosts[name].map { $0.waiting[$0.next...] } ?? [] }

    /// The next instant at which a host may start something.
    package var nextStart: Instant? {
        guard let rest = rests.first, let start = later.first else { return rests.first ?? later.first }
        return min(rest, start)
    }

    /// Removes and returns all waiting samples.
    package mutating func removeAll() -> [Int] {
        let left = hosts.values.flatMap { $0.waiting[$0.next...] + $0.resting.sorted() }
        for name in hosts.keys {
            hosts[name]?.resting = []
            hosts[name]?.waiting = []
            hosts[name]?.next = 0
            hosts[name]?.urgent = 0
        }
        waiting = 0
        return left
    }

    private mutating func enqueue(_ name: String) {
        if let index = hosts.index(forKey: name) { enqueue(name, at: index) }
    }

    private mutating func enqueue(_ name: String, at index: HostIndex) {
        let host = hosts.values[index]
        guard !host.isQueued, !host.isEmpty, host.active < perHost else { return }
        switch host.addresses {
        case .known: ready.append(name)
        case .wanted: unresolved.append(name)
        case .pending: return
        }
        hosts.values[index].isQueued = true
    }
}

// Lookups of hosts.
extension PipeSchedule {
    /// Starts the lookup of the next host, which has a waiting sample; `nil` when none is due, or enough hosts were looked up.
    ///
    /// The addresses of hosts that cannot start soon would be outdated then.
    package mutating func nextLookup(now: Instant) -> String? {
        wake(now)
        while lookups < PipeSchedule.mostLookups, fresh < max(64, slots * 2), let name = unresolved.popFirst() {
            guard let index = hosts.index(forKey: name) else { continue }
            hosts.values[index].isQueued = false
            guard !hosts.values[index].isEmpty else {
                forgetIfIdle(index)
                continue
            }
            guard !delay(name, at: index, now) else { continue }
            hosts.values[index].addresses = .pending
            lookups += 1
            return name
        }
        return nil
    }

    package func isLookedUp(_ name: String) -> Bool { hosts[name]?.addresses == .pending }

    /// A lookup has ended; without addresses the host is looked up again, not before `instant`.
    package mutating func lookedUp(_ name: String, hasAddresses: Bool, until instant: Instant? = nil) {
        guard var host = hosts[name], host.addresses == .pending else { return }
        lookups -= 1
        host.addresses = hasAddresses ? .known : .wanted
        if hasAddresses {
            host.isFresh = true
            fresh += 1
        } else if let instant {
            host.notBefore = max(host.notBefore ?? instant, instant)
        }
        hosts[name] = host
        enqueue(name)
        forgetIfIdle(name)
    }

    /// The name of the host could not be resolved any more: it is looked up before further samples start.
    package mutating func lookUpAgain(_ name: String) {
        guard hosts[name]?.addresses == .known else { return }
        hosts[name]?.addresses = .wanted
        if hosts[name]?.isFresh == true { fresh -= 1 }
        hosts[name]?.isFresh = false
    }
}
