import PawlCore

// Worlds and lives from a seed.
extension World {
    static func random(seed: UInt64) -> World {
        var dice = Dice(seed: seed &* 977 &+ 13)
        let length: Int64 =
            switch dice.number(0...9) {
            case 0: Int64(dice.number(0...2))
            case 1, 2: Int64(dice.number(1...200_000))
            default: Int64(dice.number(500_000...12_000_000))
            }
        let hosts = dice.chance(1, in: 4) ? ["a.example", "b.example"] : ["a.example"]
        var plan = DownloadPlan(
            sources: hosts.map { WebAddress(scheme: .https, host: $0, port: 443, path: "/file", query: nil) }
        )
        plan.timeout = .seconds(3)
        plan.retry = RetryPolicy(retries: 40, delay: .milliseconds(200))
        if dice.chance(1, in: 3) { plan.growth = .fixed(dice.number(1...6)) }
        plan.wish = wish(length, &dice)
        let servers = plan.sources.indices.map { server($0, length: length, wish: plan.wish, &dice) }
        var world = World(plan: plan, servers: servers, place: dice.pick([.early, .late]), seed: seed)
        if plan.wish == .whole, hosts.count == 1, dice.chance(1, in: 6) {
            world.existing = existing(length, &dice)
        }
        return world
    }

    private static func server(
        _ index: Int,
        length: Int64,
        wish: RequestedRange,
        _ dice: inout Dice
    ) -> Server {
        var traits = Traits(dice: &dice)
        if index == 0, wish != .whole, dice.chance(3, in: 4) { traits.ranges = .honoured }
        var changes: [Int] = []
        if dice.chance(1, in: 4) { changes = (0..<dice.number(1...3)).map { _ in dice.number(2...12) } }
        // A mirror has the same content, or content that only looks like it.
        let epoch = index == 1 && dice.chance(1, in: 3) ? 500 : 100
        var server = Server(
            traits: traits,
            content: Content(length: length, epoch: epoch),
            faults: dice.number(0...6),
            changes: changes,
            seed: dice.next()
        )
        server.isCruel = dice.chance(1, in: 10)
        return server
    }

    private static func wish(_ length: Int64, _ dice: inout Dice) -> RequestedRange {
        guard length > 10, dice.chance(1, in: 4) else { return .whole }
        let low = Int64.random(in: 0..<length, using: &dice)
        let high = Int64.random(in: (low + 1)...(length + 5), using: &dice)
        return dice.pick([.from(low), .closed(ByteRange(low, high)), .suffix(high - low), .from(0)])
    }

    /// The beginning of the content, all of it, or something else.
    private static func existing(_ length: Int64, _ dice: inout Dice) -> Sheet {
        var sheet = Sheet()
        let end = dice.pick([length, length / 2, Int64.random(in: 0...length, using: &dice), length + 10])
        sheet.write(
            Stretch(range: ByteRange(0, end), stamp: Stamp(epoch: dice.chance(3, in: 4) ? 100 : 7, shift: 0))
        )
        return sheet
    }

    /// The download's life, with a person and a network that interfere now and then.
    mutating func live() {
        let before = existing
        var troubles = dice.number(0...3)
        begin()
        while !hasEnded, steps < 6000, broken == nil {
            step()
            checkLaws()
            guard troubles > 0, !hasEnded, dice.chance(1, in: 12) else { continue }
            troubles -= 1
            interfere()
            checkLaws()
        }
        if !hasEnded { breaks("no end after \(steps) steps, phase \(machine.phase)") }
        if ends != 1 { breaks("\(ends) ends were told") }
        if !transfers.isEmpty { breaks("requests are left over") }
        if let before { checkExisting(before) } else { checkEnd() }
    }

    private mutating func interfere() {
        switch dice.number(0...2) {
        case 0: kill(politely: false)
        case 1: kill(politely: true)
        default:
            sync()
            isOnline = false
            note("offline")
            perform(machine.network(online: false, now: now))
            for _ in 0..<3 { step() }
            isOnline = true
            perform(machine.network(online: true, now: now))
        }
    }

    // MARK: what must be true at the end

    private func isRight(_ length: Int64) -> Bool {
        servers.flatMap(\.versions).contains { version in
            version.wished(plan.wish).count == length
                && version.wanted(plan.wish) == file.read(ByteRange(0, length))
        }
    }

    private mutating func checkEnd() {
        if let published {
            if !isRight(published) { breaks("\(published) bytes that no version has: \(file.stretches)") }
        } else if mustFinish {
            breaks("it did not finish: \(machine.failure?.description ?? "")")
        }
    }

    /// A file that was there is complete, or continued rightly, or as it was.
    private mutating func checkExisting(_ before: Sheet) {
        let length = before.written.count
        // A file of the right length is taken for complete without its bytes being compared.
        if let published {
            let isAsBefore = published == length && file == before
            if !isAsBefore, !isRight(published) { breaks("\(published) bytes that no version has") }
            return
        }
        guard existing == nil else { return }
        let isKept = file.read(ByteRange(0, length)) == before.stretches
        if !isKept, seen["kill"] == nil, seen["pause"] == nil { breaks("the existing file was lost") }
        if machine.phase == .finished, !gaveBack { breaks("finished with no file") }
    }

    /// Whether a download of the whole from one source, whose faults come to an end, has to arrive.
    private var mustFinish: Bool {
        guard plan.wish == .whole || isPartServed, !servers.contains(where: \.isCruel) else { return false }
        // A total that changes with each answer is content that changes with each answer.
        return !servers.contains { $0.traits.ranges == .otherTotal } && servers.count == 1
            && (plan.wish == .whole || servers[0].versions.count == 1)
    }

    /// A part comes only from a server that knows how; the last bytes only from one that sends all of them.
    private var isPartServed: Bool {
        switch servers[0].traits.ranges {
        case .honoured, .starTotal: return true
        case .capped, .cappedStar:
            if case .suffix = plan.wish { return false }
            return true
        case .ignored, .refused, .silent, .multipart, .noContentRange, .malformed, .shifted, .overlong,
            .coded,
            .lengthLies, .otherTotal:
            return false
        }
    }
}
