import PawlBase
import PawlPipe
import Testing

/// Servers that samples could not connect to.
@Suite struct ServerBreakersTests {
    private static let failure = Failure(.network, "cannot fetch", at: "http://a/", because: "refused")
    private static let start = Instant(nanoseconds: 1_000_000_000_000)

    /// The breakers of one server beside a plain description of what they have to do.
    private struct State: Hashable {
        var breakers: ServerBreakers
        var now = start
        var waits = 0
        /// The samples in a row that failed.
        var failures = 0
        var openUntil: Instant?
        var isProbing = false
        /// The samples under way.
        var running = 0

        var isOpen: Bool { openUntil != nil }
        /// Whether a sample is rejected now.
        var rejects: Bool { isProbing || openUntil.map { now < $0 } ?? false }
    }

    private func successors(of state: State, limit: Int) -> [State] {
        var states: [State] = []
        func add(_ change: (inout State) -> Void) {
            var next = state
            change(&next)
            states.append(next)
        }
        #expect((state.breakers.rejection(of: "a", at: state.now) != nil) == state.rejects)
        #expect(state.breakers.isProbed("a") == state.isOpen)
        #expect(state.breakers.rejection(of: "b", at: state.now) == nil, "another server")
        if state.running < 2 {
            add { state in
                switch state.breakers.start("a", at: state.now) {
                case .attempt:
                    #expect(!state.isOpen)
                    state.running += 1
                case .probe:
                    #expect(state.isOpen && !state.rejects)
                    state.isProbing = true
                    state.running += 1
                case .reject(let failure): #expect(state.rejects && failure == Self.failure)
                }
            }
        }
        for isShared in [false, true] where state.running > 0 {
            add { state in
                state.running -= 1
                state.failures += 1
                let isOverdue = !state.rejects || state.isProbing
                let opens = isOverdue && (isShared || state.isOpen || state.failures >= limit) && limit > 0
                if opens { state.openUntil = state.now + ServerBreakers.pause }
                if opens { state.isProbing = false }
                let failed = state.breakers.failed("a", Self.failure, isShared: isShared, at: state.now)
                #expect(failed == state.isOpen)
            }
        }
        if state.running > 0 {
            add { state in
                state.running -= 1
                (state.failures, state.openUntil, state.isProbing) = (0, nil, false)
                state.breakers.connected("a")
                #expect(state.breakers.count == 0)
            }
        }
        if state.waits < 3 {
            for time in [Interval.seconds(1), ServerBreakers.pause] {
                add { state in
                    state.waits += 1
                    state.now = state.now + time
                }
            }
        }
        return states
    }

    @Test(arguments: 0...3) func `in every reachable state samples are tried, probed or rejected`(limit: Int) {
        var seen: Set<State> = []
        var open = [State(breakers: ServerBreakers(limit: limit))]
        while let state = open.popLast() {
            guard state.failures <= 6, seen.insert(state).inserted else { continue }
            open += successors(of: state, limit: limit)
        }
        #expect(seen.count > 100)
        #expect(limit > 0 || !seen.contains { $0.isOpen })
    }

    @Test func `memory is bounded whatever the number of servers`() {
        var breakers = ServerBreakers(limit: 1)
        for number in 0...ServerBreakers.mostServers {
            let now = Self.start + .milliseconds(Int64(number))
            #expect(breakers.failed("s\(number)", Self.failure, at: now) == true)
        }
        #expect(breakers.count == ServerBreakers.mostServers / 2 + 1)
        let first = ServerBreakers.mostServers / 2
        #expect(breakers.rejection(of: "s\(first - 1)", at: Self.start) == nil, "the oldest are gone")
        #expect(breakers.rejection(of: "s\(first)", at: Self.start) != nil)
    }
}
