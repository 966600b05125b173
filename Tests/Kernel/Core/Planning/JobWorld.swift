import PawlBase

@testable import PawlCore

/// Many files from hosts of one temper over one link, in steps of ten milliseconds: a model without randomness of what
/// the number of simultaneous downloads brings.
struct JobWorld {
    struct Host: Sendable {
        /// Round trip, and the time in which the server makes a response, in seconds.
        var trip = 0.04
        var delay = 0.0
        /// Bytes per second of one connection, and of all.
        var connectionRate = Double.infinity
        var rate = Double.infinity
        /// Our own bound; those that find no place wait.
        var places = 200
        /// Whether all requests share one connection.
        var isShared = true
        /// A further connection is refused.
        var mostConnections = Int.max
        /// A further request is answered with 503.
        var mostRequests = Int.max
        /// Of so many requests one is answered with 503, whatever is in use.
        var sickPage = Int.max
    }

    private enum Stage {
        case waiting
        case connecting(until: Double)
        case asking(until: Double)
        case receiving(left: Double, window: Double, next: Double)
        case off(until: Double)
    }

    private struct Job {
        var file: Int
        var host: Int
        var stage: Stage
        var turn: JobRamp.Turn?
        var retries = 0
    }

    static let step = 0.01
    private static let firstWindow = 14_600.0

    var hosts: [Host]
    let link: Double
    /// The host and the size of the nth file.
    let file: (Int) -> (host: Int, size: Double)
    private(set) var ramp: JobRamp?
    private let fixed: Int
    private(set) var now = 0.0
    private(set) var received = 0.0
    private(set) var finished = 0
    /// Those of finished files.
    private(set) var useful = 0.0
    private(set) var refusals = 0
    private(set) var mostInUse: [Int]
    private(set) var widest = 0
    private(set) var widths: [(at: Double, width: Int)] = []
    private var jobs: [Job] = []
    private var next = 0
    private var requests = 0
    /// The connections of each host that carry a request, and those that do not.
    private var inUse: [Int]
    private var idle: [Int]
    private var isConnected: [Bool]
    /// A limit of our own, in bytes per second.
    var limit = Double.infinity

    init(
        _ hosts: [Host], link: Double = 25e6, fixed: Int? = nil,
        file: @escaping (Int) -> (host: Int, size: Double) = { _ in (0, 4096) }
    ) {
        self.hosts = hosts
        self.link = link
        self.file = file
        self.fixed = fixed ?? 0
        ramp = fixed == nil ? JobRamp(now: Instant(nanoseconds: 0)) : nil
        idle = hosts.map { _ in 0 }
        mostInUse = idle
        inUse = idle
        isConnected = hosts.map { _ in false }
    }

    private var instant: Instant { Instant(nanoseconds: Int64(now * 1e9)) }
    var width: Int { ramp?.width ?? fixed }

    mutating func run(until end: Double) {
        while now < end {
            if widths.last?.width != width { widths.append((now, width)) }
            widest = max(widest, width)
            fill()
            measure()
            fill()
            advance()
            deliver()
            now += Self.step
        }
    }

    /// At each step, as at each download that ends and each tick.
    private mutating func measure() {
        guard ramp?.isDue(now: instant) == true else { return }
        let waiting = jobs.count { if case .waiting = $0.stage { true } else { false } }
        let sample = JobRamp.Sample(
            running: jobs.count, waiting: waiting, received: Int64(received), isHeld: allowed < Self.step * link)
        let now = instant
        ramp?.measure(sample, now: now)
    }

    private mutating func fill() {
        while jobs.count < width {
            let now = instant
            let turn = ramp?.begins(now: now)
            jobs.append(Job(file: next, host: file(next).host, stage: .waiting, turn: turn))
            next += 1
            advance(jobs.count - 1)
        }
    }

    private mutating func advance() {
        for index in jobs.indices { advance(index) }
        for host in hosts.indices { mostInUse[host] = max(mostInUse[host], inUse[host]) }
    }

    private mutating func refuse(_ index: Int, isOverload: Bool) {
        refusals += 1
        inUse[jobs[index].host] -= 1
        let moment = instant
        ramp?.refuses(isOverload: isOverload, now: moment)
        jobs[index].retries += 1
        jobs[index].stage = .off(until: now + Double(1 << min(5, jobs[index].retries - 1)))
    }

    private mutating func advance(_ index: Int) {
        let host = jobs[index].host
        let temper = hosts[host]
        switch jobs[index].stage {
        case .off(let end) where now >= end: jobs[index].stage = .waiting
        case .waiting:
            guard inUse[host] < temper.places else { return }
            inUse[host] += 1
            if temper.isShared ? isConnected[host] : idle[host] > 0 {
                if !temper.isShared { idle[host] -= 1 }
                ask(index)
            } else {
                if temper.isShared { isConnected[host] = true }
                jobs[index].stage = .connecting(until: now + 2 * temper.trip)
            }
        case .connecting(let end) where now >= end:
            guard inUse[host] <= temper.mostConnections else { return refuse(index, isOverload: false) }
            ask(index)
        case .asking(let end) where now >= end:
            requests += 1
            guard inUse[host] <= temper.mostRequests, requests % temper.sickPage != 0 else {
                if !temper.isShared { idle[host] += 1 }
                return refuse(index, isOverload: true)
            }
            if temper.isShared { ramp?.sharesConnections() }
            let size = file(jobs[index].file).size
            jobs[index].stage = .receiving(left: size, window: Self.firstWindow, next: now + temper.trip)
        case .off, .connecting, .asking, .receiving: break
        }
    }

    private mutating func ask(_ index: Int) {
        let temper = hosts[jobs[index].host]
        jobs[index].stage = .asking(until: now + temper.trip + temper.delay)
    }

    private var allowed: Double { limit == .infinity ? .infinity : max(0, limit * (now + Self.step) - received) }

    /// Divides the link equally among those that receive.
    private mutating func deliver() {
        let receivers = jobs.indices.filter { if case .receiving = jobs[$0].stage { true } else { false } }
        guard !receivers.isEmpty else { return }
        var counts = hosts.map { _ in 0 }
        for index in receivers { counts[jobs[index].host] += 1 }
        let budget = min(link * Self.step, allowed)
        var ended: [Int] = []
        // Those that cannot use their share leave it to others.
        var shareLeft = budget
        var others = receivers.count
        let wants = receivers.map { index -> (Int, Double) in
            guard case .receiving(let left, let window, _) = jobs[index].stage else { return (index, 0) }
            let temper = hosts[jobs[index].host]
            let rate = min(temper.connectionRate, temper.rate / Double(counts[jobs[index].host]), window / temper.trip)
            return (index, min(left, rate * Self.step))
        }
        for (index, want) in wants.sorted(by: { ($0.1, $0.0) < ($1.1, $1.0) }) {
            guard case .receiving(let left, var window, var next) = jobs[index].stage else { continue }
            let got = min(want, shareLeft / Double(others))
            shareLeft -= got
            others -= 1
            received += got
            if now >= next { (window, next) = (window * 2, now + hosts[jobs[index].host].trip) }
            jobs[index].stage = .receiving(left: left - got, window: window, next: next)
            if left - got < 1 { ended.append(index) }
        }
        for index in ended.sorted(by: >) { end(index) }
    }

    private mutating func end(_ index: Int) {
        let job = jobs.remove(at: index)
        inUse[job.host] -= 1
        finished += 1
        useful += file(job.file).size
        if !hosts[job.host].isShared { idle[job.host] += 1 }
        let moment = Instant(nanoseconds: Int64((now + Self.step) * 1e9))
        if let turn = job.turn { ramp?.ends(turn, now: moment) }
    }
}
