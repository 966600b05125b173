import PawlBase
import Testing

@testable import PawlCore

@Suite struct JobRampTests {
    private typealias Host = JobWorld.Host
    private let start = Instant(nanoseconds: 0)

    // MARK: simulated hosts

    /// Hosts of one temper, and their files.
    struct Scene: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var hosts: [JobWorld.Host]
        var link = 25e6
        var file: @Sendable (Int) -> (host: Int, size: Double) = { _ in (0, 4096) }
        /// The number that suits them best.
        var best: Int
        /// When one as good is to be found, in simulated seconds.
        var found = 3.0

        init(
            _ name: String, _ hosts: [JobWorld.Host], best: Int, link: Double = 25e6, found: Double = 3,
            file: @escaping @Sendable (Int) -> (host: Int, size: Double) = { _ in (0, 4096) }
        ) {
            (testDescription, self.hosts, self.best, self.link, self.found, self.file) = (
                name, hosts, best, link, found, file
            )
        }
    }

    private static func every(_ size: Double) -> @Sendable (Int) -> (host: Int, size: Double) { { _ in (0, size) } }

    /// No order that the number of downloads could follow.
    private static func scattered(_ number: Int) -> Int { (number &* 2_654_435_761) >> 7 & 7 }

    private static let connections = Host(places: 16, isShared: false)

    static let scenes = [
        Scene("small files over HTTP/2", [Host()], best: 256), Scene("far away", [Host(trip: 0.15)], best: 256),
        Scene("small files over HTTP/1.1", [connections], best: 16), Scene("near", [Host(trip: 0.02)], best: 256),
        Scene("files of medium size", [Host()], best: 256, file: every(300_000)),
        Scene("the same over HTTP/1.1", [connections], best: 16, file: every(300_000)),
        Scene("large files", [Host()], best: 4, file: every(100e6)),
        Scene("large files over slow connections", [Host(connectionRate: 1e6)], best: 24, found: 8, file: every(100e6)),
        Scene("a server that takes a second", [Host(delay: 1)], best: 256, found: 8),
        Scene("the same over HTTP/1.1", [Host(delay: 1, places: 16, isShared: false)], best: 16, found: 5),
        Scene(
            "mixed sizes", [Host()], best: 64,
            file: { (0, [4096, 4096, 20_000, 4096, 300_000, 9000, 4096, 2_000_000][scattered($0)]) }),
        Scene("small files first", [Host()], best: 256, file: { (0, $0 < 2000 ? 4096 : 1e6) }),
        Scene("a slow host", [Host(rate: 5e5)], best: 24, file: every(20_000)),
        Scene("a slow link", [Host()], best: 64, link: 1e5),
        Scene("two hosts", [connections, connections], best: 64, file: { ($0 % 2, 4096) }),
        Scene("eight hosts", Array(repeating: connections, count: 8), best: 256, file: { (scattered($0), 4096) }),
        Scene("connections refused", [Host(isShared: false, mostConnections: 10)], best: 10, file: every(20_000)),
        Scene("503 beyond 24", [Host(mostRequests: 24)], best: 24, file: every(20_000)),
        Scene("503 beyond 6", [Host(mostRequests: 6)], best: 6, file: every(20_000)),
        Scene("a sick page in fifty", [Host(sickPage: 50)], best: 256, file: every(20_000)),
    ]

    private static func run(_ scene: Scene, fixed: Int? = nil) -> (world: JobWorld, rate: Double) {
        var world = JobWorld(scene.hosts, link: scene.link, fixed: fixed, file: scene.file)
        world.run(until: scene.found)
        let before = world.received
        world.run(until: scene.found + 4)
        return (world, (world.received - before) / 4)
    }

    @Test(arguments: scenes) func `at any host it is nearly as fast as the best number`(scene: Scene) {
        let found = Self.run(scene)
        let best = Self.run(scene, fixed: scene.best).rate
        #expect(best > 0)
        #expect(found.rate >= 0.8 * best, "\(found.world.widths)")
        #expect(found.world.widest <= JobRamp.most)
        #expect(zip(found.world.mostInUse, scene.hosts).allSatisfy { $0 <= $1.places })
    }

    @Test func `what hosts refuse is given back, and tried again seldom`() {
        for (host, most) in [(Host(mostRequests: 24), 24), (Host(isShared: false, mostConnections: 10), 10)] {
            var world = JobWorld([host], file: Self.every(20_000))
            world.run(until: 60)
            #expect(world.width <= most)
            // Those of a large step, and a few of each attempt of a minute.
            #expect(world.refusals < 80, "\(world.widths)")
        }
    }

    @Test func `under a limit of our own there are no more`() {
        var world = JobWorld([Host()], file: Self.every(100_000))
        world.limit = 1e6
        world.run(until: 20)
        #expect(world.width == JobRamp.start)
    }

    @Test func `what waits at a host is given back`() {
        var world = JobWorld([Self.connections])
        world.run(until: 5)
        #expect(world.width == 16 && world.widest == 32)
    }

    // MARK: single decisions

    /// Runs `count` downloads of `seconds` at the present width.
    private func take(_ ramp: inout JobRamp, _ count: Int, _ seconds: Double, from begin: Instant, bytes: Int64 = 0) {
        let end = begin + .seconds(seconds)
        let turns = (0..<count).map { _ in ramp.begins(now: begin) }
        for turn in turns { ramp.ends(turn, now: end) }
        ramp.measure(JobRamp.Sample(running: ramp.width, received: bytes), now: end)
    }

    @Test func `it is doubled while files a second rise by a fifth`() {
        for (slower, width) in [(1.6, 32), (1.7, 16)] {
            var ramp = JobRamp(now: start)
            take(&ramp, 8, 0.1, from: start)
            #expect(ramp.width == 16)
            take(&ramp, 16, 0.1 * slower, from: start + .seconds(0.1))
            #expect(ramp.width == width)
        }
    }

    @Test func `small files over HTTP/2 lead to many at once, larger ones do not`() {
        for (size, width) in [(4096, JobRamp.ofStreams), (1 << 14, 64), (1 << 16, 16), (1 << 20, 16)] {
            var ramp = JobRamp(now: start)
            ramp.sharesConnections()
            take(&ramp, 8, 0.1, from: start, bytes: Int64(8 * size))
            #expect(ramp.width == width)
        }
    }

    @Test func `one that brings nothing is taken back after a while, one that brings little stays`() {
        for (slower, width) in [(2.0, 8), (1.8, 16)] {
            var ramp = JobRamp(now: start)
            take(&ramp, 8, 1, from: start)
            take(&ramp, 16, slower, from: start + .seconds(1))
            #expect(ramp.width == width)
        }
    }

    @Test func `large files are judged by bytes when their rate is steady`() {
        var ramp = JobRamp(now: start)
        var now = start
        var received: Int64 = 0
        func second(_ rate: Int64, _ ramp: inout JobRamp) {
            now = now + .seconds(1)
            received += rate
            ramp.measure(JobRamp.Sample(running: ramp.width, received: received), now: now)
        }
        for rate in [1_000_000, 2_000_000, 4_000_000] as [Int64] { second(rate, &ramp) }
        #expect(ramp.width == 8)
        second(4_100_000, &ramp)
        #expect(ramp.width == 16)
        for _ in 0..<2 { second(4_200_000, &ramp) }
        #expect(ramp.width == 8)
    }

    @Test func `unused slots and rate limits say nothing`() {
        for (running, isHeld) in [(7, false), (8, true)] {
            var ramp = JobRamp(now: start)
            let turns = (0..<8).map { _ in ramp.begins(now: start) }
            let end = start + .seconds(0.1)
            for turn in turns { ramp.ends(turn, now: end) }
            ramp.measure(JobRamp.Sample(running: running, received: 0, isHeld: isHeld), now: end)
            ramp.measure(JobRamp.Sample(running: 8, received: 0), now: end + .seconds(0.1))
            #expect(ramp.width == 8)
        }
    }

    /// A ramp that has come to this width.
    private func wide(_ width: Int) -> (ramp: JobRamp, now: Instant) {
        var ramp = JobRamp(now: start)
        var now = start
        while ramp.width < width {
            take(&ramp, ramp.width, 0.1, from: now)
            now = now + .seconds(0.1)
        }
        return (ramp, now)
    }

    /// A few pages are sick, and of the hosts in a list more are down.
    @Test(arguments: [(60, true), (15, false)])
    func `a refused request among many served changes nothing`(others: Int, isOverload: Bool) {
        for (count, width) in [(others, 32), (others / 5, 16)] {
            var (ramp, now) = wide(32)
            for _ in 0..<20 {
                now = now + .seconds(0.05)
                for _ in 0..<count { ramp.ends(ramp.begins(now: now), now: now) }
                ramp.refuses(isOverload: isOverload, now: now)
            }
            #expect(ramp.width >= width && (ramp.width < 32) == (width < 32))
        }
    }

    @Test func `refusals take back at most half a second, and leave a few`() {
        var (ramp, now) = wide(64)
        for floor in [32, 16, 8, 4, 4] {
            for _ in 0..<100 { ramp.refuses(isOverload: true, now: now) }
            #expect(ramp.width == floor)
            now = now + JobRamp.refusedTime
        }
        // The next attempt is a small one, and not soon.
        #expect(!ramp.isDue(now: now + .seconds(5)))
        now = now + .seconds(1000)
        #expect(ramp.isDue(now: now))
        ramp.measure(JobRamp.Sample(running: 4, received: 0), now: now)
        take(&ramp, 4, 0.1, from: now)
        #expect(ramp.width == 5)
    }

    @Test func `there are never more than the most`() {
        let (ramp, _) = wide(JobRamp.most)
        #expect(ramp.width == JobRamp.most)
        var next = ramp
        take(&next, 256, 0.1, from: start + .seconds(60))
        #expect(next.width == JobRamp.most)
        for (most, width) in [(24, 24), (1, 4), (1000, 32)] {
            var ramp = JobRamp(most: most, now: start)
            take(&ramp, 8, 0.1, from: start)
            take(&ramp, 16, 0.1, from: start + .seconds(0.1))
            #expect(ramp.width == width)
        }
    }

    // MARK: every state

    private enum Event: CaseIterable {
        case files, slowFiles, streams, refused, crowded, held, second, rest
    }

    private func happen(_ event: Event, _ ramp: inout JobRamp, _ now: inout Instant) {
        let before = ramp.width
        var sample = JobRamp.Sample(running: ramp.width, received: now.nanoseconds / 1000)
        switch event {
        case .files, .slowFiles:
            let turns = (0..<ramp.width).map { _ in ramp.begins(now: now) }
            now = now + .seconds(event == .files ? 0.05 : 1)
            for turn in turns { ramp.ends(turn, now: now) }
        case .streams:
            ramp.sharesConnections()
            return
        case .refused:
            for _ in 0..<max(8, before / 8) { ramp.refuses(isOverload: true, now: now) }
            #expect(ramp.width <= before && ramp.width >= before / 4)
        case .crowded:
            now = now + .seconds(0.05)
            sample.waiting = ramp.width
        case .held: sample.isHeld = true
        case .second: now = now + .seconds(1)
        case .rest: now = now + .seconds(40)
        }
        guard ramp.isDue(now: now) else { return }
        let (width, unmeasured) = (ramp.width, ramp)
        ramp.measure(sample, now: now)
        #expect(ramp.width <= max(2 * width, JobRamp.ofStreams) && ramp.width >= min(width / 2, JobRamp.start))
        if sample.isHeld || sample.waiting > 0 { #expect(ramp.width <= width) }
        #expect(ramp != unmeasured, "what is due has an effect")
    }

    @Test func `in every state it keeps its bounds`() {
        var states: [JobRamp: Instant] = [JobRamp(now: start): start]
        for _ in 0..<4 {
            var next: [JobRamp: Instant] = [:]
            for (state, now) in states {
                for event in Event.allCases {
                    var (ramp, moment) = (state, now)
                    happen(event, &ramp, &moment)
                    #expect((JobRamp.fewest...JobRamp.most).contains(ramp.width))
                    next[ramp] = moment
                }
            }
            states = next
        }
        #expect(states.count > 500)
    }
}
