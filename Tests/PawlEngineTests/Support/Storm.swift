import PawlCore
import PawlEngine
import PawlTestKit

/// A download in weather that a seed makes: what the server is like, what breaks, who interferes.
struct Storm {
    private var dice: Dice
    let seed: UInt64
    /// What the job must have in the end.
    private(set) var payload: Payload
    /// What is asked for, again and again after crashes.
    private(set) var job: Job
    let name = "storm.bin"

    init(seed: UInt64) {
        self.seed = seed
        dice = Dice(seed: seed &* 977)
        payload = Payload(seed: seed, length: 0)
        job = Stage.job(name)
    }

    private mutating func chance(_ odds: Double) -> Bool { dice.fraction() < odds }
    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(dice.next() % UInt64(values.count))]
    }
    private mutating func bytes(upTo limit: Int64) -> Int64 { Int64(Double(limit) * dice.fraction()) }

    private mutating func file() -> SimulatedFile {
        let length = pick([0, 1, 700, 900_000, 3_000_000, 5_000_000]) + bytes(upTo: 3_000_000)
        payload = Payload(seed: seed, length: length)
        var file = SimulatedFile(payload)
        file.entityTag = pick([
            EntityTag(opaque: "s", isWeak: false), EntityTag(opaque: "s", isWeak: false),
            EntityTag(opaque: "w", isWeak: true), nil,
        ])
        file.renewsTag = chance(0.15)
        if chance(0.15), !file.renewsTag { file.lastModified = nil }
        if chance(0.1) { file.ranges = .capped(1 + bytes(upTo: 600_000) + 200_000) }
        return file
    }

    private mutating func server(_ file: SimulatedFile, calm: Bool) -> SimulatedServer {
        var server = SimulatedServer()
        server.files["/" + name] = file
        server.isUneven = true
        server.rate = pick([200_000, 1_000_000, 8_000_000])
        server.chunk = pick([4_096, 65_536, 300_000])
        if chance(0.4) { server.totalRate = server.rate * 3 }
        if chance(0.2) {
            server.connections = pick([1, 2, 3])
            server.overflow = pick([.refuse, .busy(retryAfter: nil), .busy(retryAfter: "2")])
        }
        guard !calm else { return server }
        server.chances = [
            .init(.dropped, 0.04), .init(.refused, 0.04), .init(.silent, 0.03),
            .init(.status(503, retryAfter: "1"), 0.03), .init(.status(500), 0.03),
            .init(.reset(after: bytes(upTo: 2_000_000)), 0.15),
            .init(.truncated(after: bytes(upTo: 2_000_000)), 0.1),
            .init(.stalled(after: bytes(upTo: 1_000_000)), 0.08),
            .init(.crawls(5_000 + bytes(upTo: 20_000)), 0.1),
        ]
        return server
    }

    /// Sets the stage, starts the download, and plans who interferes.
    mutating func begin(on stage: Stage) -> DownloadID {
        let file = file()
        stage.world.disk.expect(payload, at: Stage.path(name))
        stage.world.network[Stage.host] = server(file, calm: false)
        var mirrors: [String] = []
        for index in 0..<pick([0, 0, 1, 2]) {
            let host = "mirror\(index).test"
            var other = file
            if chance(0.5) { other.entityTag = EntityTag(opaque: "m\(index)", isWeak: false) }
            stage.world.network[host] = server(other, calm: chance(0.5))
            mirrors.append(host)
        }
        if chance(0.3) { stage.world.disk.setDelay(.milliseconds(Int64(dice.next() % 400))) }
        job = makeJob(mirrors)
        let id = stage.start(job)
        interfere(with: id, on: stage)
        return id
    }

    private mutating func makeJob(_ mirrors: [String]) -> Job {
        var job = Stage.job(name, mirrors: mirrors)
        job.plan.growth = pick([.fixed(1), .fixed(3), .fixed(6), .automatic(maximum: 8)])
        job.plan.retry = RetryPolicy(retries: 60, delay: .milliseconds(200))
        job.plan.timeout = .seconds(3)
        if chance(0.2) { job.rateLimit = 400_000 }
        return job
    }

    /// When the process dies, and how.
    mutating func crashes() -> [(after: Span, kind: FakeDisk.Crash)] {
        (0..<pick([1, 2, 4])).map { _ in
            (.milliseconds(Int64(dice.next() % 5_000)), chance(0.6) ? .kill : .powerCut)
        }
    }

    private mutating func interfere(with id: DownloadID, on stage: Stage) {
        for _ in 0..<pick([0, 0, 1, 2]) {
            let start = Int64(dice.next() % 6_000)
            let end = start + 500 + Int64(dice.next() % 3_000)
            let breaks = chance(0.5)
            let isPause = chance(0.5)
            stage.after(.milliseconds(start)) { stage in
                if isPause {
                    stage.engine.pause(id)
                } else {
                    stage.world.set(online: false, breaks: breaks)
                }
            }
            stage.after(.milliseconds(end)) { stage in
                stage.world.set(online: true)
                stage.engine.resume(id)
            }
        }
    }
}
