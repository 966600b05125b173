import PawlCore

/// One request under way, with what the shell's writer knows of it.
struct Transfer {
    var lane: LaneID
    var server: Int
    var reply: Reply
    var answersAt: Moment
    var isAdmitted = false
    var cursor: Int64 = 0
    var end: Int64 = 0
    var answerEnd: Int64 = 0
    var overlap: Int64 = 0
    var received: Int64 = 0
    /// Bytes of the body that have been sent.
    var sent: Int64 = 0
}

/// Where the file was, before anything was fetched.
enum Place: Hashable {
    /// Its name is known before the first request.
    case early
    /// It comes with the first answer.
    case late
}

/// A whole download in memory: the machine, origins with faults, a file, a clock; everything follows from the seed.
struct World {
    var machine: DownloadMachine
    let plan: DownloadPlan
    var servers: [Server]
    var place: Place
    var file = Sheet()
    /// A finished file that is there before, to be continued.
    var existing: Sheet?
    var journal: JournalFacts?
    var transfers: [Transfer] = []
    var alarm: Alarm?
    var now = Moment(nanoseconds: 0)
    var isOnline = true
    var isClaimed = false
    var dice: Dice

    var published: Int64?
    var gaveBack = false
    var ends = 0
    var restarts = 0
    var steps = 0
    /// What broke a law, first of all.
    var broken: String?
    /// How often each mechanism ran: a simulation in which nothing happens proves nothing.
    var seen: [String: Int] = [:]

    /// What happened, for a seed that failed.
    var trace: [String]?

    init(plan: DownloadPlan, servers: [Server], place: Place, seed: UInt64) {
        self.plan = plan
        self.servers = servers
        self.place = place
        machine = DownloadMachine(plan: plan, seed: seed)
        dice = Dice(seed: seed &* 31 &+ 7)
    }

    mutating func log(_ text: @autoclosure () -> String) {
        if trace != nil { trace?.append("\(now.nanoseconds / 1_000_000) \(text())") }
    }

    mutating func note(_ mechanism: String) { seen[mechanism, default: 0] += 1 }
    mutating func breaks(_ law: String) {
        if broken == nil { broken = "\(law) at \(now.nanoseconds / 1_000_000) ms" }
    }

    var hasEnded: Bool { machine.phase == .finished || machine.phase == .failed }
    var facts: JournalFacts {
        JournalFacts(
            sources: plan.sources.map(\.text),
            identity: machine.identity ?? ContentIdentity(),
            name: "file.bin"
        )
    }

    // MARK: what the disk says

    mutating func claim() -> ClaimOutcome {
        isClaimed = true
        machine.named("file.bin")
        if let journal { return .found(LoadedJournal(facts: journal, done: file.written)) }
        if let existing {
            file = existing
            self.existing = nil
            return .existing(length: file.written.count)
        }
        file.clear()
        return .fresh
    }

    mutating func begin() {
        isClaimed = false
        // A partial is mostly found by its address, and sometimes by the name that the first answer gives.
        let isFoundFirst = journal != nil && !dice.chance(1, in: 4)
        let outcome = place == .early || isFoundFirst ? claim() : nil
        perform(machine.begin(claimed: outcome, online: isOnline, now: now))
    }

    /// The process is killed and started again: only the file and the journal are left.
    mutating func kill(politely: Bool) {
        sync()
        if politely { perform(machine.pause()) }
        guard !hasEnded, machine.phase != .verifying, machine.phase != .publishing else { return }
        note(politely ? "pause" : "kill")
        transfers.removeAll()
        alarm = nil
        if journal == nil, isClaimed { file.clear() }
        machine = DownloadMachine(plan: plan, seed: UInt64(steps))
        begin()
    }
}
