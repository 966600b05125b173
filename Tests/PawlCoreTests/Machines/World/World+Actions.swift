import PawlCore

// Executes what the machine decides, as the shell does.
extension World {
    mutating func perform(_ actions: [Action]) {
        for action in actions {
            log("  \(action)")
            perform(action)
        }
    }

    private mutating func perform(_ action: Action) {
        switch action {
        case .open(let order): open(order)
        case .drop(let lane): transfers.removeAll { $0.lane == lane }
        case .limit(let lane, let end):
            if let index = transfers.firstIndex(where: { $0.lane == lane }) { transfers[index].end = end }
            note("limit")
        case .claim(let lane): perform(machine.claimed(lane, claim(), now: now))
        case .admit(let lane): admit(lane)
        case .startOver:
            if !isClaimed { breaks("started over without a file") }
            file.clear()
            if journal != nil { journal = facts }
            restarts += 1
            note("startOver")
        case .reserve: break
        case .record: if journal != nil { journal = facts }
        case .checkpoint: break
        case .alarm(let next): alarm = next
        case .refresh: breaks("nobody can be asked for another address")
        case .complain: note("complain")
        case .verify(let checksum, _): perform(machine.digested(checksum.digest))
        case .publish(let length, _):
            published = length
            perform(machine.published())
        case .close(let keeping): close(keeping: keeping)
        case .giveBack: gaveBack = true
        case .tell(let telling): hear(telling)
        }
    }

    private mutating func close(keeping: Bool) {
        if keeping, journal == nil { journal = facts }
        if keeping { journal = facts } else { file.clear() }
        isClaimed = false
    }

    private mutating func hear(_ telling: Telling) {
        switch telling {
        case .finished, .failed: ends += 1
        case .notice(let text):
            note(text.contains("same content") ? "settled" : "notice")
            if text.contains("left out") { note("left out") }
        case .retrying: note("retry")
        case .phase, .started: break
        }
    }

    private mutating func open(_ order: LaneOrder) {
        if !isOnline { breaks("a request without a network") }
        if dice.chance(1, in: 60) {
            note("denied")
            let until: Moment? = dice.chance(1, in: 2) ? now + .seconds(2) : nil
            return perform(machine.denied(order.lane, until: until, now: now))
        }
        guard let server = plan.sources.firstIndex(where: { $0.host == order.address.host }) else {
            return breaks("a request to \(order.address)")
        }
        let open = transfers.count { $0.server == server } + 1
        let reply = servers[server].reply(to: order, open: open)
        log("    reply \(reply)")
        transfers.append(
            Transfer(lane: order.lane, server: server, reply: reply, answersAt: now + reply.delay)
        )
        note("open")
        if transfers.count > 1 { note("segment") }
    }

    private mutating func admit(_ id: LaneID) {
        guard let lane = machine.lanes.first(where: { $0.id == id }),
            let index = transfers.firstIndex(where: { $0.lane == id })
        else { return breaks("admitted an unknown lane") }
        if !isClaimed { breaks("a body was let in before the claim") }
        // A small file that comes in one answer needs no journal.
        if journal == nil, machine.total.map({ $0 > 1 << 20 }) ?? true || machine.written > 0 {
            journal = facts
        }
        transfers[index].isAdmitted = true
        transfers[index].cursor = lane.cursor
        transfers[index].end = lane.end
        transfers[index].answerEnd = lane.answerEnd
        transfers[index].overlap = lane.overlap
    }
}
