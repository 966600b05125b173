package import PawlBase

/// How many downloads run at once: doubled while that raises the total of files or of bytes a second.
///
/// A number is judged by the downloads that began under it. Their mean duration predicts the files a second (Little's
/// law), so that it does not matter whether they end one by one or, far away, all together. Where too few end, the bytes
/// decide, once their rate is steady.
package struct JobRamp: Hashable, Sendable {
    /// A download that has begun.
    package struct Turn: Hashable, Sendable {
        fileprivate var round: UInt64
        /// One of those that the last step has added.
        fileprivate var isAdded: Bool
        fileprivate var at: Instant
    }

    /// The state of the downloads at one moment.
    package struct Sample: Hashable, Sendable {
        /// Those that run.
        package var running: Int
        /// Those of them that wait for a place at their host, or for a descriptor.
        package var waiting: Int
        /// Bytes received so far.
        package var received: Int64
        /// A rate limit holds them back.
        package var isHeld: Bool

        package init(running: Int, waiting: Int = 0, received: Int64, isHeld: Bool = false) {
            self.running = running
            self.waiting = waiting
            self.received = received
            self.isHeld = isHeld
        }
    }

    private struct Rates: Hashable {
        /// `nil` where too few ended.
        var files: Double?
        var bytes: Double

        /// The growth of what has grown most.
        func gain(over before: Rates) -> Double {
            func ratio(_ now: Double?, _ before: Double?) -> Double {
                guard let now, let before, before > 0 else { return 0 }
                return now / before
            }
            return max(ratio(files, before.files), ratio(bytes, before.bytes))
        }
    }

    /// The time since the last step.
    private struct Round: Hashable {
        var number: UInt64 = 0
        var since: Instant
        var received: Int64 = 0
        /// The downloads that the step has added, and how many of them began and ended.
        var added = 0
        var addedBegun = 0
        var addedEnded = 0
        /// The downloads that began in it and ended, and their durations together.
        var ended = 0
        var seconds = 0.0
        /// How many have to end until it is judged, the first and the next time.
        var enough: Int
        var nextLook: Int
        /// The last look at the bytes alone, and their rate then.
        var bytesSince: Instant
        var bytesBefore: Int64 = 0
        var bytesRate: Double?
    }

    private enum Course: Hashable {
        /// Measuring, to double the number if that pays.
        case climbing
        /// Until then, nothing is tried.
        case resting(until: Instant)
    }

    package static let start = 8
    /// The number that is left where hosts refuse requests.
    package static let fewest = 4
    /// The second number at most where the first files came over HTTP/2, whose connections carry many.
    package static let ofStreams = 128
    /// So many bytes those hold together that are added then: they fill a long link, and do not crowd it.
    package static let together = 1 << 20
    /// More than one host is asked for at once (``HostBounds``), so that those that end are followed without a delay.
    package static let most = 320
    /// A step pays when files or bytes a second rise by this factor.
    package static let worthwhile = 1.2
    /// A step that raises them by less than this factor is taken back.
    package static let little = 1.05
    /// How many downloads have to end at least.
    package static let least = 4
    package static let shortest = Interval.milliseconds(20)
    /// How long bytes are measured where few downloads end.
    package static let window = Interval.seconds(1)
    /// New connections start slowly (RFC 5681 §3.1) and may take this long until they pay.
    package static let patience = Interval.seconds(1)
    /// The time until more are tried again; doubled whenever that brought nothing.
    package static let rest = Interval.seconds(10)
    private static let mostDoublings = 4
    /// The share of overloaded responses (one in so many) that shows a limit, and not single sick pages.
    package static let overloadedShare = 32
    /// The same of refused connections: more of the hosts in a list are down.
    package static let refusedShare = 8
    /// The number of refused requests that may be chance, one in so many that run.
    private static let few = 16
    /// How long they are counted.
    package static let refusedTime = Interval.seconds(1)

    /// What this program may run at most.
    private let most: Int
    /// Downloads that may run now.
    package private(set) var width: Int
    /// The width before the last step, and what it brought.
    private var paid: Int
    private var before: Rates?
    private var round: Round
    private var course = Course.climbing
    private var doublings = 0
    /// Hosts have refused requests: further steps are small.
    private var isCareful = false
    /// Responses came over HTTP/2.
    private var hasStreams = false
    /// The requests that were refused, and the downloads that ended, since then.
    private var refusedSince: Instant
    private var refused = 0
    private var overloaded = 0
    private var served = 0
    private var hasShrunk = false
    /// The width that is kept, however many are refused in that time.
    private var floor = JobRamp.fewest

    package init(most: Int = JobRamp.most, now: Instant) {
        self.most = max(Self.fewest, min(most, Self.most))
        width = min(Self.start, self.most)
        paid = width
        refusedSince = now
        round = Round(since: now, enough: width, nextLook: width, bytesSince: now)
    }

    // MARK: events

    /// A host has responded over HTTP/2 for the first time.
    package mutating func sharesConnections() { hasStreams = true }

    /// A download has got a slot.
    package mutating func begins(now: Instant) -> Turn {
        let isAdded = round.addedBegun < round.added
        if isAdded { round.addedBegun += 1 }
        return Turn(round: round.number, isAdded: isAdded, at: now)
    }

    /// A download has given its slot back.
    package mutating func ends(_ turn: Turn, now: Instant) {
        if now - refusedSince >= Self.refusedTime { countRefusals(now: now) }
        served += 1
        guard turn.round == round.number else { return }
        round.ended += 1
        round.seconds += (now - turn.at).seconds
        if turn.isAdded { round.addedEnded += 1 }
    }

    /// A request was refused because there are too many: 429, 503, or a refused connection.
    ///
    /// A few among many are those of single pages. More take slots back, at most half of them a second. `isOverload`: the
    /// host says so itself (429, 503).
    package mutating func refuses(isOverload: Bool, now: Instant) {
        if now - refusedSince >= Self.refusedTime { countRefusals(now: now) }
        refused += 1
        if isOverload { overloaded += 1 }
        let few = max(1, width / Self.few)
        let isMuch = refused * Self.refusedShare > served || overloaded * Self.overloadedShare > served
        guard refused > few, isMuch else { return }
        let isFirst = !hasShrunk
        (isCareful, hasShrunk) = (true, true)
        width = min(width, max(floor, width - (isFirst ? refused : 1)))
        settle(inVain: isFirst, now: now)
    }

    private mutating func countRefusals(now: Instant) {
        (refusedSince, refused, overloaded, served, hasShrunk) = (now, 0, 0, 0, false)
        floor = max(Self.fewest, width / 2)
    }

    /// Whether ``measure(_:now:)`` may decide something now.
    package func isDue(now: Instant) -> Bool {
        switch course {
        case .resting(let until): now >= until
        case .climbing:
            mayLook(now: now) || now - round.bytesSince >= Self.window
                || round.added > 0 && now - round.since >= Self.shortest
        }
    }

    private func mayLook(now: Instant) -> Bool {
        round.ended >= round.nextLook && 2 * round.addedEnded >= round.added && now - round.since >= Self.shortest
    }

    /// Decides by what was measured.
    package mutating func measure(_ sample: Sample, now: Instant) {
        if case .resting(let until) = course {
            guard now >= until else { return }
            // The old measurements are those of other times.
            (course, before, paid) = (.climbing, nil, width)
            return begin(sample, now: now)
        }
        // With slots unused, or a limit of our own, it says nothing of the hosts.
        guard sample.running >= width, !sample.isHeld else { return begin(sample, now: now) }
        if round.added > 0, sample.waiting * 2 >= round.added, now - round.since >= Self.shortest {
            // Those that were added wait for others to end.
            width = min(width, max(paid, sample.running - sample.waiting))
            return settle(inVain: true, now: now)
        }
        if mayLook(now: now) {
            let bytes = Double(sample.received - round.received) / max((now - round.since).seconds, 1e-9)
            let files = round.seconds > 0 ? Double(width * round.ended) / round.seconds : nil
            return judge(Rates(files: files, bytes: bytes), isSteady: false, sample, now: now)
        }
        guard now - round.bytesSince >= Self.window else { return }
        lookAtBytes(sample, now: now)
    }

    /// Their rate counts when it is steady: connections become faster for a while, and a large file gets more of them.
    private mutating func lookAtBytes(_ sample: Sample, now: Instant) {
        let rate = Double(sample.received - round.bytesBefore) / (now - round.bytesSince).seconds
        let last = round.bytesRate
        (round.bytesSince, round.bytesBefore, round.bytesRate) = (now, sample.received, rate)
        guard let last, rate > 0, max(rate, last) < min(rate, last) * Self.worthwhile else { return }
        judge(Rates(files: nil, bytes: rate), isSteady: true, sample, now: now)
    }

    private mutating func judge(_ rates: Rates, isSteady: Bool, _ sample: Sample, now: Instant) {
        guard let before else { return step(rates, sample, now: now) }
        let gain = rates.gain(over: before)
        if gain >= Self.worthwhile { return step(rates, sample, now: now) }
        // The next look has twice as many to judge by: what is looked at often enough rises by chance.
        round.nextLook = 2 * round.ended
        guard isSteady || round.ended >= 2 * round.enough && now - round.since >= Self.patience else { return }
        let isLittle = gain < Self.little
        if isLittle { width = paid }
        settle(inVain: isLittle, now: now)
    }

    private mutating func step(_ rates: Rates, _ sample: Sample, now: Instant) {
        // More would only wait as well.
        guard width < most, sample.waiting * 4 < width else { return settle(inVain: false, now: now) }
        if width > paid { doublings = 0 }
        (before, paid) = (rates, width)
        width = isCareful ? width + max(1, width / 4) : max(2 * width, fitting(rates))
        width = min(most, width)
        countRefusals(now: now)
        begin(sample, adding: width - paid, now: now)
    }

    /// How many small files over HTTP/2 fit ``together``.
    private func fitting(_ rates: Rates) -> Int {
        guard hasStreams, let files = rates.files, files > 0 else { return 0 }
        return Int(min(Double(Self.ofStreams), Double(Self.together) * files / max(rates.bytes, 1)))
    }

    private mutating func settle(inVain: Bool, now: Instant) {
        if inVain { doublings = min(doublings + 1, Self.mostDoublings) }
        course = .resting(until: now + Self.rest * Double(1 << max(0, doublings - 1)))
        (before, paid) = (nil, width)
        begin(nil, now: now)
    }

    private mutating func begin(_ sample: Sample?, adding added: Int = 0, now: Instant) {
        // What a step has added is still to be judged.
        let added = added > 0 ? added : width > paid ? round.added : 0
        let enough = max(Self.least, width / 2)
        round = Round(
            number: round.number + 1, since: now, received: sample?.received ?? 0, added: added, enough: enough,
            nextLook: enough, bytesSince: now, bytesBefore: sample?.received ?? 0)
    }
}
