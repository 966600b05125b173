import Pawl
package import PawlBase
package import PawlCore
package import PawlEngine
import PawlJournal

/// A whole scenario as a value: servers with their faults, downloads, and incidents with their times.
///
/// Everything follows from the seed.
package struct Scenario: Sendable {
    /// One download of the user.
    package struct Download: Sendable {
        package var job: Job
        package var path: String
        /// Whether it has to finish once all faults have ended.
        package var canFinish = true
        /// The content of an existing file.
        package var existing: [UInt8]?
        /// The part of it to which the program that made it never wrote.
        package var hole: ByteRange?
        /// The part that the next process requests, if another.
        package var nextSelection: RequestedRange?
        /// Whether the next process gets the sources in another order.
        package var turnsSources = false
        /// The seed of its part file.
        package var seeding: Seeding?
        /// Whether the digests of its pieces are of content of another length, or of a body without its coding.
        package var hasUnfitPieces = false
        /// The hooks that the program has.
        package var hooks: HookSet = []

        /// A name that no other download has.
        var ownName: String { path.dropFirst().split(separator: "/").joined(separator: "-") }

        package var source: String { job.plan.sources[0].text }
        package var width: Int {
            switch job.plan.ramp {
            case .fixed(let count): count
            case .automatic(let most): most
            }
        }
    }

    /// An event in the world, or an action of the user.
    package enum Incident: Sendable, Hashable {
        case crash(FakeDisk.Crash)
        case cut
        case network(isUp: Bool, breaks: Bool)
        /// As `network`, without a report of the monitor.
        case unreported(isUp: Bool, breaks: Bool)
        /// The monitor reports that, whatever the network does.
        case monitor(isOnline: Bool)
        case pause(Int)
        case resume(Int)
        case remove(Int)
        case limit(Int64?)
        case slots(Int)
        case room(Int64?)
        /// Replaces the content of a download, at every host.
        case change(Int, Payload)
        /// As `change`, under the same date: where the tag is weak or missing, only the bytes differ.
        case replace(Int, Payload)
        /// Another program extends the part file of a download by this many bytes.
        case grow(Int, by: Int)
        /// A written byte of the part file of a download changes, chosen by the number; between processes.
        case damage(Int, UInt64)
    }

    package static let folder = "/downloads"
    package let seed: UInt64
    package var servers: [String: SimulatedServer] = [:]
    package var downloads: [Download] = []
    package var slots = 1
    package var loops = 1
    package var rate: Int64?
    package var diskDelay = Interval.zero
    package var reservesRoom = true
    /// Whether whole files get their names at once.
    package var isDiskVolatile = false
    /// At an event, counted from 1.
    package var atEvents: [Int: [Incident]] = [:]
    package var atTimes: [(after: Interval, incident: Incident)] = []
    /// At a call to the disk, counted from 1.
    package var traps: [Int: FakeDisk.Trap] = [:]
    /// Other programs' changes to part files right after a crash.
    package var foreignChanges: [Incident] = []
    var dice: Dice

    package init(seed: UInt64) {
        self.seed = seed
        dice = Dice(seed: seed &* 977 &+ 13)
        let count = dice.pick([1, 1, 1, 2, 2, 3, 4])
        slots = dice.number(1...3)
        loops = dice.chance(0.02) ? 2 : 1
        if dice.chance(0.1) { rate = dice.bytes(200_000...2_000_000) }
        if dice.chance(0.4) { diskDelay = .milliseconds(Int64(dice.below(300))) }
        isDiskVolatile = diskDelay == .zero
        reservesRoom = dice.chance(0.5)
        for index in 0..<count { addDownload(index, of: count) }
        for _ in 0..<dice.pick([0, 1, 2, 3, 5]) { addIncident() }
        for _ in 0..<dice.pick([0, 0, 0, 1, 2]) { addTrap() }
        addForeignAppends()
        addChangeBeforePage()
        addFalseReports()
        addHooks()
        addBlanks()
        addDigests()
        addCrowd()
        addHTTP2()
    }
}

// MARK: - Downloads

extension Scenario {
    private mutating func addDownload(_ index: Int, of count: Int) {
        let path = sharesNames ? "/d\(index)/same.bin" : "/d\(index)"
        let file = makeFile(length: length(of: count), index: index)
        let hosts = makeHosts(path, file)
        addHops(path, hosts)
        var job = Job(
            plan: DownloadPlan(sources: hosts.map { Self.address($0, path) }), settings: Self.settings,
            folder: Self.folder)
        job.fileName = dice.chance(0.3) ? "n\(index).bin" : nil
        job.plan.ramp = dice.pick([.fixed(1), .fixed(2), .fixed(4), .fixed(6), .automatic(maximum: 32)])
        job.plan.retry = RetryPolicy(retries: dice.number(2...6), delay: .milliseconds(150))
        job.plan.timeout = .milliseconds(Int64(dice.number(1_000...4_000)))
        job.rateLimit = dice.chance(0.1) ? dice.bytes(100_000...1_000_000) : nil
        var download = Download(job: job, path: path)
        adorn(&download, file)
        addBadNode(&download)
        if dice.chance(0.05) {
            download.job.plan.lowestSpeed = dice.bytes(50_000...1_000_000)
            // Its servers may be too slow for all its retries.
            download.canFinish = false
        }
        download.canFinish = download.canFinish && isServed(download) && !isFickle(file)
        addPieces(&download, file)
        shortenResponses(of: download, file)
        codePart(of: &download, file)
        changeMind(&download, file)
        serveByFTP(&download)
        addUnfitPieces(&download, file)
        keepFile(&download, file)
        downloads.append(download)
    }

    /// Whether the servers suggest the same name for all downloads.
    package var sharesNames: Bool {
        var luck = Dice(seed: seed &* 631)
        return luck.chance(0.06)
    }

    private static let settings = TransferSettings(TransferSettings.Values())

    static func address(_ host: String, _ path: String) -> WebAddress {
        WebAddress(scheme: .http, host: host, port: 80, path: path, query: nil)
    }

    private mutating func length(of count: Int) -> Int64 {
        switch dice.below(10) {
        case 0: Int64(dice.below(3))
        case 1, 2: dice.bytes(3...200_000)
        case 3...6: dice.bytes(200_000...1_400_000)
        default: dice.bytes(1_000_000...(count == 1 ? 5_000_000 : 2_500_000))
        }
    }

    /// Of a shorter existing file everything is compared.
    private static let shortestWithHole = 3 * ComparisonSample.length

    /// Adds a requested part, a checksum, or an existing file.
    private mutating func adorn(_ download: inout Download, _ file: SimulatedFile) {
        let length = file.payload.length
        if length > 10, dice.chance(0.12) {
            let low = dice.bytes(0...(length - 1))
            let high = dice.bytes((low + 1)...(length + 5))
            let selections: [RequestedRange] = [.from(low), .closed(ByteRange(low, high)), .suffix(high - low)]
            download.job.plan.selection = dice.pick(selections)
        } else if download.job.plan.sources.count == 1, dice.chance(0.06) {
            let end = dice.pick([length, length / 2, dice.bytes(0...length), length + 10])
            let payload = dice.chance(0.75) ? file.payload : Payload(seed: 5, length: length + 10)
            download.existing = payload.bytes(in: ByteRange(0, end))
            if end > Self.shortestWithHole, dice.chance(0.4) {
                let start = dice.bytes(0...(end - 1))
                let hole = ByteRange(start, dice.bytes((start + 1)...end))
                for index in hole.start..<hole.end { download.existing?[Int(index)] = 0 }
                download.hole = hole
            }
            download.job.ifExists = .resume
            download.job.fileName = download.job.fileName ?? download.ownName
            download.canFinish = false
        } else if length < 300_000, dice.chance(0.2) {
            let isRight = dice.chance(0.8)
            let digest = isRight ? MessageDigest5.digest(file.payload.bytes) : Array(repeating: 1, count: 16)
            download.job.plan.checksums = [Checksum(algorithm: .md5, digest: digest)]
            download.canFinish = isRight
        }
    }

    /// A part can be served only by a server with ranges, and a suffix only by one that supports all of them.
    private func isServed(_ download: Download) -> Bool {
        let hosts = download.job.plan.sources.map(\.host)
        // A server that redirects has no content itself, and the targets may have other content each time.
        if hosts.contains(where: { servers[$0]?.files[download.path]?.hops.isEmpty == false }) { return false }
        let files = download.job.plan.sources.compactMap { servers[$0.host]?.files[download.path] }
        if files.contains(where: { $0.ranges == .otherTotal }) { return false }
        if Set(files.map(\.payload)).count > 1, !download.job.plan.checksums.isEmpty { return false }
        guard download.job.plan.selection != .whole else { return true }
        return files.allSatisfy { file in
            switch file.ranges {
            case .honoured, .untoldTotal: return true
            case .capped, .cappedUntold:
                if files.count > 1 { return false }
                if case .suffix = download.job.plan.selection { return false }
                return true
            case .ignored, .refused, .silent, .shifted, .multipart, .unlabelled, .malformed, .overlong, .coded,
                .falseLength, .otherTotal:
                return false
            }
        }
    }
}
