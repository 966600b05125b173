package import PawlBase
import Synchronization

/// Hosts as values, with a record of every request.
package final class SimulatedNetwork: Sendable {
    struct State: Sendable {
        var servers: [String: SimulatedServer] = [:]
        var open: [String: Int] = [:]
        var peak: [String: Int] = [:]
        var served: [String: Int] = [:]
        var requests: [SimulatedRequest] = []
        var isUp = true
        /// The number of times that transfers in progress were lost.
        var outages = 0
        /// The number of crashes; transfers started before one are never delivered.
        var generation = 0
        var tags = 0
        /// The time on every server's clock.
        var now = Instant(nanoseconds: 0)
        var tally = Tally()
        /// Responses of bad nodes.
        var badNodes = 0
        var tokens: [String: Int] = [:]
        /// Connections that are cut and have not noticed yet.
        var cut: Set<Int> = []
        var taken: Int64 = 0
        /// Every content that was ever served under a path, of any host.
        var versions: [String: [Payload]] = [:]
        /// The bytes of each path that were received, by any process.
        var received: [String: ByteRangeSet] = [:]
        var onTaken: (@Sendable (WebAddress, ByteRange) -> Void)?
        var watch = NetworkWatch()
        var sabotage: Sabotage?
        var triggers: [(at: Int64, body: @Sendable () -> Void)] = []
        var dice: Dice
    }

    let state: Mutex<State>
    let timeline: Timeline

    package init(timeline: Timeline, seed: UInt64) {
        self.timeline = timeline
        state = Mutex(State(dice: Dice(seed: seed)))
    }

    // MARK: the world

    package subscript(host: String) -> SimulatedServer {
        get { state.withLock { $0.servers[host] ?? SimulatedServer() } }
        set {
            state.withLock { state in
                state.servers[host] = newValue
                state.noteVersions(of: host)
            }
        }
    }

    /// Changes the file under a path, for later requests.
    package func change(_ host: String, _ path: String, _ body: (inout SimulatedFile) -> Void) {
        state.withLock { state in
            guard var file = state.servers[host]?.files[path] else { preconditionFailure("\(host) has no \(path)") }
            body(&file)
            state.servers[host]?.files[path] = file
            state.noteVersions(of: host)
        }
        timeline.note("changed \(path) of \(host)")
    }

    /// Takes the network down or up.
    ///
    /// When it goes down, transfers in progress break at once or stall forever.
    package func set(isUp: Bool, breaks: Bool = true) {
        state.withLock { state in
            state.isUp = isUp
            if !isUp { state.outages += breaks ? 1 : 0 }
        }
        timeline.note("network \(isUp ? "up" : "down")")
        timeline.wakeAll()
    }

    /// Drops the other end of every transfer: nothing more is delivered.
    package func forgetTransfers() {
        state.withLock { state in
            state.generation += 1
            state.watch.forget()
        }
    }

    /// Cuts one of the open connections; `false` when there is none.
    package func cutConnection() -> Bool {
        let isDone = state.withLock { state -> Bool in
            let open = state.requests.indices.filter { state.requests[$0].end == nil }
            guard !open.isEmpty else { return false }
            state.cut.insert(open[Int(state.dice.next() % UInt64(open.count))])
            return true
        }
        timeline.wakeAll()
        return isDone
    }

    /// Counts of server behaviour that the record of requests does not show.
    package var tally: Tally { state.withLock { $0.tally } }
    package var hosts: [String] { state.withLock { $0.servers.keys.sorted() } }
    package func versions(of path: String) -> [Payload] { state.withLock { $0.versions[path] ?? [] } }
    package func received(_ path: String) -> ByteRangeSet { state.withLock { $0.received[path] ?? ByteRangeSet() } }
    /// Calls `body` for all bytes that are received.
    package func onTaken(_ body: @escaping @Sendable (WebAddress, ByteRange) -> Void) {
        state.withLock { $0.onTaken = body }
    }

    /// Runs `body` once receivers have taken this many bytes in all.
    package func whenTaken(_ bytes: Int64, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.triggers.append((bytes, body)) }
    }

    // MARK: the record

    package var badNodes: Int { state.withLock { $0.badNodes } }

    package var requests: [SimulatedRequest] { state.withLock { $0.requests } }
    /// The bytes that were received.
    package var taken: Int64 { state.withLock { $0.taken } }
    /// The most connections to a host at once.
    package func peak(_ host: String) -> Int { state.withLock { $0.peak[host] ?? 0 } }
    /// Connections that are open now, to all hosts.
    package var open: Int { state.withLock { $0.open.values.reduce(0, +) } }

    /// The bytes that were received more than once, per path of one host.
    package func takenTwice(_ host: String, _ path: String) -> Int64 {
        var seen = ByteRangeSet()
        var sum: Int64 = 0
        for request in requests where request.address.host == host && request.address.path == path {
            seen.insert(request.taken)
            sum += request.taken.count
        }
        return sum - seen.count
    }
}

// MARK: - For transports

extension SimulatedNetwork {
    /// The outcome of a request.
    enum Fare {
        case responded(SimulatedResponse)
        case failed(TransferFault)
        case silent
    }

    func begin(_ request: TransferRequest) -> (number: Int, fare: Fare, wait: Interval) {
        let now = timeline.now
        return state.withLock { state in
            let host = request.address.host
            let number = state.requests.count
            state.requests.append(
                SimulatedRequest(
                    at: now, address: request.address, range: request.range, connection: request.connection,
                    carriesSecrets: request.carriesSecrets, bypassesCaches: request.bypassesCaches,
                    bufferSize: request.bufferSize))
            let running = state.open[host] ?? 0
            state.watch.begins(request.address, running: running, now: now)
            state.now = now
            state.open[host] = running + 1
            state.peak[host] = max(state.peak[host] ?? 0, running + 1)
            return (number, state.fare(of: request, running: running), state.latency(of: host))
        }
    }

    func close(_ number: Int, _ end: SimulatedRequest.Ending, unread: Int64 = 0) {
        state.withLock { state in
            guard state.requests[number].end == nil else { return }
            state.requests[number].end = end
            state.requests[number].unread = unread
            let address = state.requests[number].address
            state.open[address.host, default: 1] -= 1
            state.watch.ends(address)
        }
    }

    func responded(_ number: Int, status: Int) {
        state.withLock { state in
            state.requests[number].status = status
            let host = state.requests[number].address.host
            if [200, 206].contains(status) { state.watch.served(host, open: state.open[host] ?? 0) }
        }
    }

    /// Notes, before the receiver is informed, that the host throttles: it allows the other connections that are open now.
    ///
    /// Noted before: the connections that the receiver ends because of it were allowed too, and a process killed by it has
    /// forgotten all.
    func throttled(_ number: Int, stillOpen: Bool, retryAfter: Interval?) {
        let now = timeline.now
        state.withLock { state in
            let address = state.requests[number].address
            let others = (state.open[address.host] ?? 0) - (stillOpen ? 1 : 0)
            let isSameFile = state.requests.contains { other in
                other.end == nil && other.address.host == address.host && other.address.path == address.path
                    && !other.taken.isEmpty
            }
            state.watch.throttled(address, open: others, isSameFile: isSameFile, retryAfter: retryAfter, now: now)
        }
    }

    /// Notes the quota that a response states.
    func stated(_ number: Int, quotaWait: Interval?) {
        guard let quotaWait else { return }
        let now = timeline.now
        state.withLock { state in state.watch.usedUp(state.requests[number].address.host, wait: quotaWait, now: now) }
    }

    func took(_ number: Int, _ range: ByteRange) {
        let due = state.withLock { state -> [@Sendable () -> Void] in
            state.received[state.requests[number].address.path, default: ByteRangeSet()].insert(range)
            let before = state.requests[number].taken
            state.requests[number].taken = ByteRange(before.isEmpty ? range.start : before.start, range.end)
            state.taken += range.count
            guard !state.triggers.isEmpty else { return [] }
            let taken = state.taken
            let due = state.triggers.filter { $0.at <= taken }.map(\.body)
            state.triggers.removeAll { $0.at <= taken }
            return due
        }
        for body in due { timeline.after(.zero, body) }
        let (address, onTaken) = state.withLock { ($0.requests[number].address, $0.onTaken) }
        onTaken?(address, range)
    }

    /// The next chunk's size and its delay.
    func pace(of response: SimulatedResponse, host: String, buffer: Int, left: Int64) -> (size: Int, wait: Interval) {
        state.withLock { state in
            let server = state.servers[host] ?? SimulatedServer()
            var rate = Double(response.rate ?? server.rate)
            if let total = server.totalRate { rate = min(rate, Double(total) / Double(state.open[host] ?? 1)) }
            var size = min(server.chunk, buffer)
            if server.isUneven { size = max(1, Int(Double(size) * state.dice.fraction())) }
            size = Int(min(Int64(size), left))
            return (size, .seconds(Double(size) / max(rate, 1)))
        }
    }

    /// Whether the connection was cut, which is reported now.
    func takeCut(_ number: Int) -> Bool { state.withLock { $0.cut.remove(number) != nil } }
    var generation: Int { state.withLock { $0.generation } }
    var outages: Int { state.withLock { $0.outages } }
    var isUp: Bool { state.withLock { $0.isUp } }
}

extension SimulatedNetwork.State {
    mutating func noteVersions(of host: String) {
        for (path, file) in servers[host]?.files ?? [:] where file.location == nil {
            for version in [file.payload, file.coded, file.badNode?.payload] {
                if let version { note(version, of: path) }
            }
        }
    }

    mutating func note(_ version: Payload, of path: String) {
        if versions[path]?.contains(version) != true { versions[path, default: []].append(version) }
    }
}
