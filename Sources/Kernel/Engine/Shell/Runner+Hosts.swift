import PawlBase
import PawlCore
import PawlJournal

/// The place of a connection that has ended.
struct FreedPlace {
    let lane: LaneID
    let origin: Origin
    let target: UInt64
    let wasServed: Bool

    /// Its URL, if its response had been accepted.
    var ended: UInt64? { wasServed ? target : nil }
}

// Connections as the budgets of their hosts grant them.
extension Runner {
    /// Keeps the place of an ended connection until the present actions are performed: the next request of the same
    /// download has it, such as one that follows a redirect.
    func free(_ writer: LaneWriter) {
        let place = FreedPlace(
            lane: writer.lane, origin: writer.origin, target: writer.target, wasServed: writer.isServed)
        freed.append(place)
    }

    /// The response to its request is used.
    func serve(_ writer: LaneWriter) {
        guard !writer.isServed else { return }
        writer.isServed = true
        shared.hosts.accept(writer.origin, run: run, target: writer.target, now: clock.now)
    }

    private func release(_ place: FreedPlace, now: Instant) {
        shared.hosts.release(place.origin, run: run, ended: place.ended, now: now)
    }

    /// Releases what nothing has used, and leaves the lines in which it does not wait any more.
    func settlePlaces() {
        performing -= 1
        guard performing == 0, !freed.isEmpty || !standing.isEmpty else { return }
        let now = clock.now
        while let place = freed.popLast() { release(place, now: now) }
        guard !standing.isEmpty, straight?.isWaiting != true, !ask({ $0.awaitsPlace }) else { return }
        leaveLines(now: now)
    }

    private func leaveLines(now: Instant) {
        while let origin = standing.popLast() {
            shared.hosts.leave(origin, run: run, isLast: standing.isEmpty, now: now)
        }
    }

    /// Whether there is a connection for the order; without one the machine is informed.
    func acquire(_ address: WebAddress, for order: LaneOrder, mayShare: Bool, now: Instant) -> Bool {
        let origin = address.origin
        let request = HostBudget.Request(
            run: run, isFurther: !writers.isEmpty, target: address.target, obeysMemory: job.plan.ramp.isAutomatic,
            isForced: order.isForced, mayShare: mayShare)
        let post = loop.poster(for: self)
        let call: HostLines.Call = { post(.turn($0)) }
        let grant: HostBudget.Grant
        if let index = freed.firstIndex(where: { $0.origin == origin }) {
            let place = freed.remove(at: index)
            grant = shared.hosts.replace(ended: place.ended, by: request, at: origin, now: now, call: call)
        } else {
            grant = shared.hosts.acquire(request, at: origin, now: now, call: call)
        }
        switch grant {
        case .granted:
            deniedBy = nil
            standing.removeAll { $0 == origin }
            return true
        case .full: deny(order, by: origin, until: nil, now: now)
        case .hold(let until): deny(order, by: origin, until: until, now: now)
        }
        return false
    }

    private func deny(_ order: LaneOrder, by origin: Origin, until: Instant?, now: Instant) {
        deniedBy = origin
        if !standing.contains(origin) { standing.append(origin) }
        if until == nil, straight != nil {
            straight?.isWaiting = true
            return
        }
        feed(now: now) { $0.denied(order.lane, until: until, now: $1) }
    }

    /// A connection is reserved for it.
    func turn(at origin: Origin) {
        guard standing.contains(origin) else { return }
        if !continueStraight() { feed { $0.turn(now: $1) } }
        guard standing.contains(origin) else { return }
        // It has used another one, or none.
        shared.hosts.pass(origin, run: run, now: clock.now)
    }

    /// The connection of a lane was refused.
    func refused(_ refusal: LaneRefusal) {
        guard let index = freed.firstIndex(where: { $0.lane == refusal.lane }) else { return }
        let now = clock.now
        let place = freed.remove(at: index)
        release(place, now: now)
        let evidence = HostRefusal(
            refusal.reason, target: place.target, isSameFile: refusal.isSameFile, retryAfter: refusal.retryAfter)
        // A proxy may be what refuses.
        let isDirect = job.settings.values.proxy?.isEmpty ?? true
        shared.hosts.refused(evidence, by: place.origin, isRemembered: isDirect, now: now)
        shared.onSlot(.refused(refusal.reason))
    }

    /// Notes what a response says of its host; whether that alone may be why it was refused.
    func noteHost(_ origin: Origin, _ head: ResponseHead, mayShare: Bool) -> Bool {
        if mayShare, shared.hosts.isBounded,
            shared.hosts.learn(origin, hasStreams: head.isOfStream, now: clock.now), head.isOfStream
        {
            shared.onSlot(.sharesConnections)
        }
        if head.status == 304, Validators(head).isEmpty { shared.hosts.hideValidators(origin, now: clock.now) }
        if let wait = head.quotaWait(wallTime: clock.wallTime), let allowed = job.plan.retry.allowed(wait),
            allowed > .zero
        {
            let now = clock.now
            shared.hosts.hold(origin, until: now + allowed, now: now)
        }
        return head.status >= 400 && shared.hosts.isCrowded(origin)
    }
}

extension WebAddress {
    /// Identifies it within this process.
    var target: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
}
