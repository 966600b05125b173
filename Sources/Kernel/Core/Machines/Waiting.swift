package import PawlBase

/// What the next attempt waits for, or the next lane beside others.
package struct Waiting: Hashable, Sendable {
    enum Reason: Hashable, Sendable {
        case none
        /// The next attempt is due then.
        case alarm(Instant)
        /// The next attempt needs another connection to the host to end; the host requested no request before `until`.
        case place(until: Instant?)
        /// A further lane needs that.
        case placeForLane
        /// Another address was requested; the failure, if there is none.
        case address(Failure)
        /// The program decides what follows.
        case program(PendingFailure)
    }

    private(set) var reason = Reason.none
    /// No further lane is opened before.
    var refillAfter: Instant?
    /// The next request is sent for the user or the program, whatever the host has requested.
    private(set) var isForced = false
    /// The number of the present wait: events of an earlier one are late.
    private(set) var generation: UInt32 = 0
    /// The waits for a descriptor so far.
    package var descriptors = DescriptorWait()

    /// Whether there is to be another attempt, which something has to happen before.
    var isForAttempt: Bool {
        switch reason {
        case .alarm, .place, .address, .program: true
        case .none, .placeForLane: false
        }
    }

    /// Whether the attempt may be made at any time, on behalf of the user.
    var maySkip: Bool {
        switch reason {
        case .alarm, .place: true
        case .none, .placeForLane, .address, .program: false
        }
    }

    var isForPlace: Bool {
        switch reason {
        case .place, .placeForLane: true
        case .none, .alarm, .address, .program: false
        }
    }

    /// When the attempt is due; `nil` where no time is known.
    var due: Instant? {
        switch reason {
        case .alarm(let due): due
        case .place(let until): until
        case .none, .placeForLane, .address, .program: nil
        }
    }

    /// The failed attempt that the program is to decide about.
    var pendingFailure: PendingFailure? { if case .program(let pending) = reason { pending } else { nil } }

    mutating func begin(until due: Instant) -> Alarm {
        generation += 1
        reason = .alarm(due)
        return Alarm(generation: generation, at: due)
    }

    /// Returns the number by which the address is told from one that comes late.
    mutating func beginForAddress(after failure: Failure) -> UInt32 {
        generation += 1
        reason = .address(failure)
        return generation
    }

    mutating func begin(for question: PendingFailure) {
        generation += 1
        reason = .program(question)
    }

    /// There is no connection to the host; `isForLane`: for one more beside others.
    mutating func beginForPlace(until: Instant?, isForLane: Bool) {
        guard !isForLane else {
            assert(!isForAttempt, "no attempt is awaited while there are lanes")
            reason = .placeForLane
            return
        }
        // An alarm that was set before is not for this wait.
        generation += 1
        reason = .place(until: until)
    }

    /// There is a connection for a further lane.
    mutating func endForLane() { if reason == .placeForLane { reason = .none } }

    /// What it waited for has happened.
    mutating func end() { reason = .none }

    /// Whatever was awaited comes too late.
    mutating func abandon() {
        generation += 1
        reason = .none
        isForced = false
    }

    mutating func force() { isForced = true }

    /// Whether the request that is about to be sent is forced.
    mutating func takeForce() -> Bool {
        defer { isForced = false }
        return isForced
    }
}
