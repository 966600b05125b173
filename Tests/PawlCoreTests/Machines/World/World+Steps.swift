import PawlCore

// Time goes on: heads come, bodies flow, lines break.
extension World {
    mutating func sync() {
        for transfer in transfers {
            machine.progressed(
                transfer.lane,
                cursor: transfer.cursor,
                received: transfer.received,
                waits: false,
                now: now
            )
        }
    }

    /// Runs until the end, or until `limit` steps show that there is none.
    mutating func run(limit: Int) {
        begin()
        while !hasEnded, steps < limit, broken == nil {
            step()
            checkLaws()
        }
        if !hasEnded { breaks("no end after \(steps) steps, phase \(machine.phase)") }
        if ends != 1, broken == nil { breaks("\(ends) ends were told") }
        if !transfers.isEmpty { breaks("requests are left over") }
    }

    mutating func step() {
        steps += 1
        let span = Span.milliseconds(Int64(dice.number(50...400)))
        now = now + span
        if transfers.isEmpty, let alarm, machine.phase != .waitingForNetwork { now = max(now, alarm.at) }
        for transfer in transfers { move(transfer.lane, span: span) }
        if let due = alarm, due.at <= now {
            alarm = nil
            sync()
            perform(machine.rang(due.generation, now: now))
        }
        sync()
        perform(machine.tick(now: now))
    }

    private mutating func move(_ lane: LaneID, span: Span) {
        guard let index = transfers.firstIndex(where: { $0.lane == lane }) else { return }
        let transfer = transfers[index]
        if !transfer.isAdmitted {
            guard transfer.answersAt <= now else { return }
            return open(index)
        }
        let length = transfer.reply.body?.count ?? 0
        let limit = min(length, transfer.reply.breaksAfter ?? .max)
        let budget = max(1, Int64(transfer.reply.bytesPerSecond * span.seconds))
        let count = min(limit - transfer.sent, budget)
        if count > 0, !deliver(lane, count: count) { return end(lane, .stopped) }
        guard let index = transfers.firstIndex(where: { $0.lane == lane }) else { return }
        guard transfers[index].sent == limit else { return }
        if limit == length { return end(lane, .complete) }
        if !transfer.reply.stalls { end(lane, .failed(TransferFault(.connectionLost, "the line broke"))) }
    }

    private mutating func open(_ index: Int) {
        let lane = transfers[index].lane
        switch transfers[index].reply.opening {
        case .never: break
        case .fails(let kind): end(lane, .failed(TransferFault(kind, "it failed")))
        case .head(let head):
            sync()
            perform(machine.answered(lane, head: head, wallTime: UnixTime(seconds: 2_000_000), now: now))
            // A transport that was not told to go on stops.
            if let kept = transfers.first(where: { $0.lane == lane }), !kept.isAdmitted {
                end(lane, .stopped)
            }
        }
    }

    private mutating func end(_ lane: LaneID, _ end: TransferEnd) {
        sync()
        log("\(lane) ended \(end)")
        transfers.removeAll { $0.lane == lane }
        perform(machine.ended(lane, end, now: now))
    }

    /// Takes `count` bytes of the body to the file; `false` when the writer says stop.
    private mutating func deliver(_ lane: LaneID, count: Int64) -> Bool {
        guard let index = transfers.firstIndex(where: { $0.lane == lane }) else { return true }
        let body = transfers[index].reply.body ?? ByteRange(0, 0)
        var piece = ByteRange(body.start + transfers[index].sent, body.start + transfers[index].sent + count)
        transfers[index].sent += count
        transfers[index].received += count
        if transfers[index].overlap > 0 {
            let compared = min(transfers[index].overlap, piece.count)
            guard compare(index, ByteRange(piece.start, piece.start + compared)) else { return false }
            guard let still = transfers.firstIndex(where: { $0.lane == lane }) else { return true }
            piece.start += compared
            return write(still, piece)
        }
        return write(index, piece)
    }

    private mutating func compare(_ index: Int, _ piece: ByteRange) -> Bool {
        let transfer = transfers[index]
        let place = ByteRange(
            transfer.cursor - transfer.overlap,
            transfer.cursor - transfer.overlap + piece.count
        )
        let theirs = transfer.reply.content.stretches(of: piece, base: piece.start - place.start)
        let agreed = Sheet.joined(theirs) == file.read(place)
        transfers[index].overlap -= piece.count
        guard !agreed || transfers[index].overlap == 0 else { return true }
        sync()
        note(agreed ? "agreed" : "differed")
        perform(machine.compared(transfer.lane, agreed: agreed, now: now))
        return agreed && transfers.contains { $0.lane == transfer.lane }
    }

    private mutating func write(_ index: Int, _ piece: ByteRange) -> Bool {
        let transfer = transfers[index]
        let count = min(piece.count, max(0, transfer.end - transfer.cursor))
        let taken = ByteRange(piece.start, piece.start + count)
        for stretch in transfer.reply.content.stretches(of: taken, base: piece.start - transfer.cursor) {
            file.write(stretch)
        }
        transfers[index].cursor += count
        let cursor = transfers[index].cursor
        return !(cursor >= transfer.end && (transfer.end < transfer.answerEnd || count < piece.count))
    }
}
