import Pawl
import PawlBase
import PawlCore
import PawlEngine

// Hosts with TLS and HTTP/2.
extension Scenario {
    /// Whether downloads share connections, and their hosts have TLS, most of them with HTTP/2.
    package var usesHTTP2: Bool {
        var luck = Dice(seed: seed &* 613 &+ 17)
        return luck.chance(0.25)
    }

    /// Drawn apart, so that other worlds do not depend on it.
    mutating func addHTTP2() {
        guard usesHTTP2 else { return }
        var luck = Dice(seed: seed &* 617 &+ 19)
        if luck.chance(0.3) { addSmallFiles(&luck) }
        let takesAll = luck.chance(0.6)
        for host in servers.keys.sorted() where luck.chance(0.9) {
            servers[host]?.http2 = Self.makeHTTP2(&luck, takesAll: takesAll)
        }
        for index in downloads.indices {
            downloads[index].job.sharesConnections = true
            for place in downloads[index].job.plan.sources.indices {
                let address = downloads[index].job.plan.sources[place]
                guard address.scheme == .http else { continue }
                downloads[index].job.plan.sources[place] = Self.secured(address)
            }
        }
    }

    private static func secured(_ address: WebAddress) -> WebAddress {
        WebAddress(scheme: .https, host: address.host, port: 443, path: address.path, query: address.query)
    }

    private static func makeHTTP2(_ luck: inout Dice, takesAll: Bool) -> SimulatedHTTP2 {
        var http2 = SimulatedHTTP2()
        http2.takesAll = takesAll
        http2.streams = luck.pick([nil, 1, 2, 3, 5, 100])
        http2.announcesLate = luck.chance(0.3)
        http2.joins = luck.pick([0, 0.3, 0.7])
        http2.cuts = luck.pick([0, 0.3])
        http2.endsApart = luck.pick([0, 0.3])
        guard luck.chance(0.7) else { return http2 }
        http2.connecting = luck.pick([.zero, .zero, .milliseconds(Int64(luck.number(1...900))), .milliseconds(3_400)])
        http2.luck = luck.number(0...8)
        http2.shrinks = luck.pick([0, 0, 0.3])
        http2.goesAway = luck.pick([0, 0, 0.4, 0.9])
        http2.refuses = luck.pick([0, 0, 0.1, 0.3])
        http2.calms = luck.pick([0, 0, 0.1])
        http2.requiresHTTP1 = luck.pick([0, 0, 0, 0.05])
        http2.cutsEnds = luck.pick([0, 0, 0.2])
        http2.exceeds = luck.pick([0, 0, 0.1])
        http2.trailers = luck.pick([0, 0, 0.3])
        http2.resetsEnded = luck.pick([0, 0, 0.3])
        http2.hints = luck.pick([0, 0, 0.2])
        http2.pads = luck.pick([0, 0, 0.5])
        http2.splits = luck.pick([0, 0, 0.5])
        http2.pings = luck.pick([0, 0, 0.2])
        http2.closesIdle = luck.pick([0, 0, 0.2])
        http2.dies = luck.pick([0, 0, 0.1, 0.3])
        return http2
    }

    /// Adds many small downloads of one host.
    private mutating func addSmallFiles(_ luck: inout Dice) {
        let host = "many.test"
        var server = SimulatedServer()
        server.latency = .milliseconds(Int64(luck.number(1...80)))
        server.rate = luck.pick([600_000, 2_000_000, 8_000_000])
        server.isUneven = true
        slots = luck.number(3...12)
        for index in 0..<luck.number(4...16) {
            let path = "/small\(index)"
            let length = luck.chance(0.8) ? luck.bytes(0...30_000) : luck.bytes(30_000...1_500_000)
            var file = SimulatedFile(Payload(seed: contentSeed(60 + index), length: length))
            file.statesLength = !luck.chance(0.1)
            server.files[path] = file
            var job = Job(
                plan: DownloadPlan(sources: [Self.address(host, path)]), settings: downloads[0].job.settings,
                folder: Self.folder)
            job.plan.ramp = luck.pick([.fixed(1), .automatic(maximum: 8)])
            job.plan.retry = RetryPolicy(retries: 6, delay: .milliseconds(150))
            job.plan.timeout = .milliseconds(Int64(luck.number(2_000...8_000)))
            job.rateLimit = luck.chance(0.1) ? luck.bytes(100_000...1_000_000) : nil
            downloads.append(Download(job: job, path: path))
        }
        servers[host] = server
    }
}
