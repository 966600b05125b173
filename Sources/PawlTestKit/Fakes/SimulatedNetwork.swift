import PawlCore
import PawlEngine
import Synchronization

/// Hosts as values, with an account of every request.
package final class SimulatedNetwork: Sendable {
    struct State: Sendable {
        var servers: [String: SimulatedServer] = [:]
        var open: [String: Int] = [:]
        var peak: [String: Int] = [:]
        var served: [String: Int] = [:]
        var requests: [SimulatedRequest] = []
        var isUp = true
        /// Counts the times that transfers on their way were lost.
        var outages = 0
        /// Counts the crashes; what was under way before one is never delivered.
        var generation = 0
        var tags = 0
        var taken: Int64 = 0
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
        set { state.withLock { $0.servers[host] = newValue } }
    }

    /// Changes what stands under a path, for requests from now on.
    package func change(_ host: String, _ path: String, _ body: (inout SimulatedFile) -> Void) {
        state.withLock { state in
            guard var file = state.servers[host]?.files[path] else {
                preconditionFailure("\(host) has no \(path)")
            }
            body(&file)
            state.servers[host]?.files[path] = file
        }
    }

    /// The network is gone or back.
    ///
    /// When it goes, transfers on their way break at once or fall silent for ever.
    package func set(isUp: Bool, breaks: Bool = true) {
        state.withLock { state in
            state.isUp = isUp
            if !isUp { state.outages += breaks ? 1 : 0 }
        }
        timeline.note("network \(isUp ? "up" : "down")")
        timeline.wakeAll()
    }

    /// The other end of every transfer is gone for good: nothing more is delivered of them.
    package func forgetTransfers() {
        state.withLock { $0.generation += 1 }
    }

    /// Runs `body` once receivers have taken this many bytes in all.
    package func whenTaken(_ bytes: Int64, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.triggers.append((bytes, body)) }
    }

    // MARK: the account

    package var requests: [SimulatedRequest] { state.withLock { $0.requests } }
    /// Bytes that receivers took.
    package var taken: Int64 { state.withLock { $0.taken } }
    /// The most connections to a host at once.
    package func peak(_ host: String) -> Int { state.withLock { $0.peak[host] ?? 0 } }
    /// Connections that are open now, to all hosts.
    package var open: Int { state.withLock { $0.open.values.reduce(0, +) } }

    /// Bytes that were taken more than once, per path of one host.
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
    /// How a request fares.
    enum Fare {
        case answered(SimulatedAnswer)
        case failed(TransferFault)
        case silent
    }

    func begin(_ request: TransferRequest) -> (number: Int, fare: Fare, wait: Span) {
        let now = timeline.now
        return state.withLock { state in
            let host = request.address.host
            let number = state.requests.count
            state.requests.append(
                SimulatedRequest(
                    at: now,
                    address: request.address,
                    range: request.range,
                    connection: request.connection,
                    carriesSecrets: request.carriesSecrets,
                    bypassesCaches: request.bypassesCaches,
                    bufferSize: request.bufferSize
                )
            )
            let running = state.open[host] ?? 0
            state.open[host] = running + 1
            state.peak[host] = max(state.peak[host] ?? 0, running + 1)
            return (number, state.fare(of: request, running: running), state.latency(of: host))
        }
    }

    func close(_ number: Int, _ end: SimulatedRequest.Ending) {
        state.withLock { state in
            guard state.requests[number].end == nil else { return }
            state.requests[number].end = end
            state.open[state.requests[number].address.host, default: 1] -= 1
        }
    }

    func answered(_ number: Int, status: Int) {
        state.withLock { $0.requests[number].status = status }
    }

    func took(_ number: Int, _ range: ByteRange) {
        let due = state.withLock { state -> [@Sendable () -> Void] in
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
    }

    /// The next chunk's size and how long it takes to come.
    func pace(of answer: SimulatedAnswer, host: String, buffer: Int, left: Int64) -> (size: Int, wait: Span) {
        state.withLock { state in
            let server = state.servers[host] ?? SimulatedServer()
            var rate = Double(answer.rate ?? server.rate)
            if let total = server.totalRate {
                rate = min(rate, Double(total) / Double(state.open[host] ?? 1))
            }
            var size = min(server.chunk, buffer)
            if server.isUneven { size = max(1, Int(Double(size) * state.dice.fraction())) }
            size = Int(min(Int64(size), left))
            return (size, .seconds(Double(size) / max(rate, 1)))
        }
    }

    var generation: Int { state.withLock { $0.generation } }
    var outages: Int { state.withLock { $0.outages } }
}
