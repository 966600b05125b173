import Glibc
import PawlBase
import PawlCore
import PawlJournal
import PawlTestKit

/// Downloads files while the process is killed, stopped, cut off and deprived of disk space.
struct Torture {
    /// The number of kills requested; 0 by default.
    static let kills = number("PAWL_TORTURE") ?? 0
    static let seed = UInt64(number("PAWL_SEED") ?? time(nil))

    private(set) var report = TortureReport()
    private var dice = Dice(seed: seed)
    private let origin: OriginServer
    private let namespace: Namespace?
    private let distant: OriginServer?
    private let served: ServedFolder
    private let authority: TestAuthority
    private let nginx: NginxServer

    init() throws {
        origin = try OriginServer()
        namespace = Namespace.isAvailable ? try Namespace(number: 21) : nil
        distant = try namespace.map { try OriginServer(address: $0.address) }
        served = try ServedFolder()
        authority = try TestAuthority()
        // A server's timeout expires before a long stop does.
        let slow = "limit_rate 3m; send_timeout 2s;"
        nginx = try NginxServer(served, locations: slow, authority: authority)
    }

    private static func number(_ name: String) -> Int? {
        unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
    }

    private mutating func below(_ limit: Int64) -> Int64 { Int64(Double(limit) * dice.fraction()) }
    private mutating func chance(_ odds: Double) -> Bool { dice.fraction() < odds }
    private mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(below(Int64(values.count)))] }

    /// One file from its first byte to its last, with up to ten kills.
    mutating func downloadOne() throws {
        let victim = try makeVictim()
        for _ in 0..<1 + below(10) where report.kills < Self.kills && !victim.isPublished { try runAndKill(victim) }
        try finish(victim)
    }

    private mutating func makeVictim() throws -> Victim {
        var kinds = Victim.Kind.allCases
        if namespace == nil { kinds.removeAll { $0 == .link } }
        if !MountedFolder.isAvailable { kinds.removeAll { $0 == .smallDisk } }
        let kind = pick(kinds)
        let name = "file\(report.files).bin"
        let payload = Payload(seed: dice.next(), length: 300_000 + below(9_000_000))
        let connections = chance(0.5) ? 1 : 2 + Int(below(6))
        report.files += 1
        report.content += payload.length
        report.kinds[kind.rawValue, default: 0] += 1
        report.connections[connections, default: 0] += 1
        guard kind == .nginx || kind == .nginxTLS else {
            return try makeVictim(kind, name, payload, connections, of: kind == .link ? distant ?? origin : origin)
        }
        try served.add(name, payload)
        let isSecure = kind == .nginxTLS
        return try Victim(
            kind, name: name, payload: payload, connections: connections,
            url: isSecure ? nginx.secureURL("/\(name)") : nginx.url("/\(name)"),
            options: isSecure ? ["--cacert", authority.authority] : [])
    }

    /// The position of the content at the fault origin, with the mirror's position after its own.
    private static func paths(of victim: Victim) -> [String] {
        ["/\(victim.name)"] + (victim.kind == .wavering ? ["/mirror/\(victim.name)"] : [])
    }

    /// Between two runs: other content of the same name, other options, mirrors in another order.
    private mutating func waver(_ victim: Victim) {
        if chance(0.3), !victim.isWhole {
            count("content that changed between two runs")
            let length = chance(0.6) ? victim.payload.length : 300_000 + below(9_000_000)
            victim.order.content = Payload(seed: dice.next(), length: length)
            let validators = pick([
                Behaviour.Validators.strong, .weakTagOnly, .lastModifiedOnly, .none, .freshTagEachTime,
            ])
            for path in Torture.paths(of: victim) {
                victim.origin?.serve(path, victim.order.content) {
                    $0.pace = 6_000_000
                    $0.validators = validators
                }
            }
        }
        if chance(0.3) {
            count("range that is another")
            let start = below(victim.payload.length)
            victim.order.range = chance(0.3) ? nil : ByteRange(start, start + 1 + below(victim.payload.length - start))
        }
        if let range = victim.order.range, range.end > victim.payload.length { victim.order.range = nil }
        if chance(0.5) { victim.order.urls.reverse() }
        if chance(0.2) { victim.order.urls = Torture.paths(of: victim).compactMap { victim.origin?.url($0) } }
        if chance(0.2) { victim.order.urls = [victim.order.urls[0]] }
        victim.order.connections = 1 + Int(below(6))
    }

    private mutating func makeVictim(
        _ kind: Victim.Kind, _ name: String, _ payload: Payload, _ connections: Int, of origin: OriginServer
    ) throws -> Victim {
        let pace = 1_500_000 + below(12_000_000)
        // Half of the small disks do not know how much is to come, and so cannot reserve it.
        let framing: Behaviour.Framing = kind == .smallDisk && chance(0.5) ? .chunked : .length
        let cut: Behaviour.Cut? = chance(0.3) ? .reset(after: 200_000 + below(payload.length)) : nil
        let url = origin.serve("/\(name)", payload) {
            $0.pace = pace
            $0.framing = framing
            $0.cut = cut
        }
        if kind == .wavering { origin.serve("/mirror/\(name)", payload) { $0.pace = pace } }
        return try Victim(
            kind, name: name, payload: payload, connections: connections, url: url, origin: origin,
            namespace: kind == .link ? namespace : nil)
    }
}

extension Torture {
    /// One run that ends by a kill, unless it finishes before.
    private mutating func runAndKill(_ victim: Victim) throws {
        if victim.disk != nil, chance(0.2) {
            victim.fill()
            count("room taken before a run")
        }
        if victim.kind == .wavering, !victim.isNamed { waver(victim) }
        let process = try victim.start()
        while chance(0.35) {
            awaitMoment(process, victim)
            if process.exit != nil { break }
            try harm(process, victim)
        }
        awaitMoment(process, victim)
        process.send(SIGKILL)
        let exit = process.wait()
        victim.free()
        if exit == .signal(SIGKILL) {
            report.phases[victim.phase, default: 0] += 1
        } else {
            try judge(exit, process, victim)
        }
        look(at: victim)
    }

    /// Waits for some time, some progress, or nearly the end.
    private mutating func awaitMoment(_ process: PawlProcess, _ victim: Victim) {
        let path = "/\(victim.name)"
        switch below(4) {
        case 0: pass(below(60), process)
        case 1: pass(below(1_500), process)
        case 2:
            guard let origin = victim.origin else { return pass(300 + below(1_500), process) }
            let rest = victim.payload.length - victim.written.count
            origin.wait(bytes: origin.log.bodySent(path) + below(rest + 1), of: path, atMost: .seconds(2))
        default:
            guard let origin = victim.origin else { return pass(1_000 + below(2_500), process) }
            let rest = victim.payload.length - victim.written.count
            origin.wait(bytes: origin.log.bodySent(path) + rest, of: path, atMost: .seconds(4))
            pass(below(25), process)
        }
    }

    /// Waits, for a shorter time if the process ends.
    private func pass(_ milliseconds: Int64, _ process: PawlProcess) {
        process.line(atMost: .milliseconds(milliseconds)) { _ in false }
    }

    /// Every disturbance except a kill.
    private mutating func harm(_ process: PawlProcess, _ victim: Victim) throws {
        if let namespace = victim.namespace, chance(0.7) {
            count("cable out and in")
            try namespace.unplug()
            pass(below(3_000), process)
            return try namespace.plugIn()
        }
        if victim.disk != nil, chance(0.7) {
            count("room taken and given")
            victim.fill()
            pass(below(500), process)
            return victim.free()
        }
        // Longer than its own timeout and the server's, or shorter.
        let isLong = chance(0.3)
        count(isLong ? "stopped for longer than every time-out" : "stopped for less than a time-out")
        process.send(SIGSTOP)
        pass(isLong ? 3_500 : below(800), process)
        process.send(SIGCONT)
    }

    private mutating func count(_ incident: String) { report.incidents[incident, default: 0] += 1 }

    /// A run that ended normally must have finished, or run out of disk space.
    private mutating func judge(_ exit: PawlProcess.Exit?, _ process: PawlProcess, _ victim: Victim) throws {
        switch exit {
        case .code(0): count("run that ended before its kill")
        case .code(9) where victim.disk != nil: count("run that found the disk full")
        default:
            report.problems.append(
                "\(victim.kind.rawValue), \(victim.name): \(exit.map { "\($0)" } ?? "hangs"): \(process.errors)")
        }
    }

    /// On one connection nothing is requested that the journal had when the run began.
    private mutating func compare(_ records: ArraySlice<RequestRecord>, _ victim: Victim) {
        for record in records {
            guard let range = record.contentSent else { continue }
            let again = range.count - ByteRangeSet([range]).subtracting(victim.written).count
            guard again > 0 else { continue }
            // Where no header can prove anything, the last bytes on disk are compared with the server's.
            if again <= DownloadMachine.overlap, range.start + again == victim.written.prefix {
                report.compared += again
                continue
            }
            report.fetchedAgain += again
            report.problems.append(
                "\(victim.kind.rawValue), \(victim.name): \(record.request.header("Range") ?? "everything") "
                    + "was requested and \(range) sent, though \(victim.written.runs) was written")
        }
    }

    /// The bytes that the run fetched again, and the files that it leaves.
    private mutating func look(at victim: Victim) {
        if let origin = victim.origin {
            let records = origin.ended("/\(victim.name)")
            if victim.isCounted { compare(records.dropFirst(victim.seen), victim) }
            victim.seen = records.count
        }
        // A file with its final name is no part file any more: the next run finds it and leaves it alone.
        let isThere = FileSystem.exists("\(victim.place)/\(victim.name)")
        victim.written = isThere ? ByteRangeSet() : victim.known
        guard victim.isCounted, FileSystem.exists("\(victim.place)/\(victim.name).part") else { return }
        let more = max(0, victim.reached - victim.written.prefix)
        guard victim.journal != nil else {
            report.unjournalled += more
            return
        }
        report.unknown += more
        // Only the write at the instant of the kill, which was announced, may be there in part.
        guard more > ByteRange.longestWrite else { return }
        report.problems.append("\(victim.kind.rawValue), \(victim.name): \(more) bytes in the file are not known")
    }

    /// The last run is not disturbed, and the file must be correct.
    private mutating func finish(_ victim: Victim) throws {
        for path in Torture.paths(of: victim) { victim.origin?.adjust(path) { $0.pace = nil } }
        if !victim.isPublished {
            let process = try victim.start()
            let exit = process.wait(atMost: .seconds(90))
            if exit != .code(0) { try judge(exit, process, victim) }
            look(at: victim)
        }
        if let wrong = victim.difference {
            report.problems.append("\(victim.kind.rawValue): \(wrong) after \(victim.history)")
        }
        if victim.leftovers != [victim.name] {
            report.problems.append("\(victim.kind.rawValue): in the folder: \(victim.leftovers)")
        }
        guard let origin = victim.origin else { return }
        report.sent += origin.log.bodySent("/\(victim.name)")
        report.sentTwice += origin.log.sentTwice("/\(victim.name)")
    }
}

extension ByteRangeSet {
    /// The bytes that are not in `other`.
    fileprivate func subtracting(_ other: ByteRangeSet) -> ByteRangeSet {
        var rest = self
        for run in other.runs { rest.remove(run) }
        return rest
    }
}
