import Pawl
import PawlBase
import PawlCore
import PawlEngine

// The servers' traits and faults.
extension Scenario {
    /// The seed of a download's first content.
    func contentSeed(_ index: Int) -> UInt64 { seed &* 31 &+ UInt64(index * 8) }

    /// A download's first content with its validators.
    mutating func makeFile(length: Int64, index: Int) -> SimulatedFile {
        var file = SimulatedFile(Payload(seed: contentSeed(index), length: length))
        switch dice.below(8) {
        case 0: file.entityTag = EntityTag(opaque: "w0", isWeak: true)
        case 1: file.entityTag = nil
        case 2:
            file.entityTag = nil
            file.lastModified = nil
        case 3: file.renewsTag = true
        case 4: file.lastModified = nil
        default: break
        }
        file.statesLength = !dice.chance(0.1)
        file.ranges = makeRanges()
        if dice.chance(0.1) { file.tokenLife = dice.number(1...5) }
        disguise(&file)
        return file
    }

    private mutating func makeRanges() -> SimulatedFile.Ranges {
        guard dice.chance(0.4) else { return .honoured }
        return dice.pick([
            .capped(dice.bytes(100_000...900_000)), .cappedUntold(dice.bytes(100_000...900_000)), .ignored, .refused,
            .silent, .shifted(dice.bytes(-5_000...5_000)), .untoldTotal, .multipart, .unlabelled, .malformed,
            .overlong(dice.bytes(1...5_000)), .coded, .falseLength, .otherTotal,
        ])
    }

    /// The host of the given URL and its mirrors.
    mutating func makeHosts(_ path: String, _ file: SimulatedFile) -> [String] {
        let main = dice.chance(0.7) ? "files.test" : "other.test"
        serve(file, path, at: main)
        var hosts = [main]
        for index in 0..<dice.pick([0, 0, 0, 0, 1, 2]) {
            var copy = file
            if dice.chance(0.5), !copy.isRemade { copy.entityTag = EntityTag(opaque: "m\(index)", isWeak: false) }
            if dice.chance(0.2) { copy.ranges = makeRanges() }
            if dice.chance(0.2) {
                // It has the name of the content, and its length, but other bytes.
                copy.payload = Payload(seed: seed &* 31 &+ UInt64(1000 + index), length: file.payload.length)
            }
            serve(copy, path, at: "mirror\(index).test")
            hosts.append("mirror\(index).test")
        }
        return hosts
    }

    mutating func serve(_ file: SimulatedFile, _ path: String, at host: String) {
        if servers[host] == nil { servers[host] = makeServer() }
        servers[host]?.files[path] = file
    }

    /// How a server uses HTTP/1.1.
    private mutating func makeHTTP() -> SimulatedHTTP {
        var http = SimulatedHTTP()
        guard dice.chance(0.7) else { return http }
        http.isOld = dice.chance(0.05)
        http.closes = dice.pick([0, 0, 0.05, 0.5])
        http.chunks = dice.pick([0, 0, 0.3, 1])
        http.endsByClose = dice.pick([0, 0.3])
        http.pads = dice.pick([0, 0.5])
        http.hints = dice.pick([0, 0.2])
        http.joins = dice.pick([0, 0.5])
        http.cuts = dice.pick([0, 0.3])
        http.leftovers = dice.pick([0, 0.1, 0.3])
        http.closesIdle = dice.pick([0, 0.2])
        http.dies = dice.pick([0, 0.1, 0.3])
        return http
    }

    private mutating func makeServer() -> SimulatedServer {
        var server = SimulatedServer()
        server.isUneven = true
        server.latency = .milliseconds(Int64(dice.number(1...120)))
        server.rate = dice.pick([150_000, 600_000, 2_000_000, 8_000_000])
        server.chunk = dice.pick([8_192, 32_768, 131_072])
        server.http = makeHTTP()
        if dice.chance(0.3) { server.totalRate = server.rate * 2 }
        if dice.chance(0.25) {
            server.connections = dice.number(1...3)
            server.overflow = dice.pick([.refuse, .busy(retryAfter: nil), .busy(retryAfter: "2"), .deny, .drop])
        }
        guard dice.chance(0.7) else { return server }
        server.luck = dice.number(1...8)
        server.chances = [
            .init(.dropped, 0.05), .init(.refused, 0.05), .init(.silent, 0.04),
            .init(.status(503, retryAfter: dice.pick([nil, "1", "3"])), 0.04), .init(.status(429), 0.03),
            .init(.status(500), 0.03), .init(.status(404), 0.01), .init(.status(dice.pick([401, 403, 410])), 0.01),
            .init(.reset(after: dice.bytes(0...1_000_000)), 0.12),
            .init(.truncated(after: dice.bytes(0...1_000_000)), 0.1),
            .init(.stalled(after: dice.bytes(0...600_000)), 0.08), .init(.crawls(dice.bytes(3_000...30_000)), 0.12),
            .init(.page, 0.06), .init(.refusesRange, 0.03),
        ]
        return server
    }

    /// Makes every response of some servers break within the bytes to compare, or soon after them.
    ///
    /// Drawn apart, so that other worlds do not depend on it.
    mutating func shortenResponses(of download: Download, _ file: SimulatedFile) {
        var luck = Dice(seed: seed &* 389 &+ UInt64(downloads.count))
        let plan = download.job.plan
        guard luck.chance(0.1), download.canFinish, plan.sources.count == 1, file.ranges == .honoured,
            file.tokenLife == nil, (70_000...400_000).contains(file.payload.length)
        else { return }
        servers[plan.sources[0].host]?.files[download.path]?.breaksAfter = luck.bytes(20_000...70_000)
        // Where only a comparison identifies the content, such parts are too short for a usual one.
        guard luck.chance(0.5), plan.retry.retries > 1, plan.selection == .whole else { return }
        servers[plan.sources[0].host]?.files[download.path]?.ranges = .capped(luck.bytes(9_000...60_000))
    }

    /// Makes one of a host's backends serve other content of the same length and tag, with a checksum given.
    ///
    /// The result is the right file, or none.
    mutating func addBadNode(_ download: inout Download) {
        let plan = download.job.plan
        guard dice.chance(0.08), plan.sources.count == 1, plan.checksums.isEmpty, plan.selection == .whole,
            download.existing == nil, let file = servers[plan.sources[0].host]?.files[download.path]
        else { return }
        let bad = Payload(seed: dice.next(), length: file.payload.length)
        servers[plan.sources[0].host]?.files[download.path]?.badNode = .init(
            payload: bad, odds: dice.pick([0.1, 0.3, 0.5]))
        let digest = MessageDigest5.digest(file.payload.bytes)
        download.job.plan.checksums = [Checksum(algorithm: .md5, digest: digest)]
        download.canFinish = false
    }
}
