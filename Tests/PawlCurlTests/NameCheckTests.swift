import PawlCore
import Synchronization
import Testing

@testable import PawlCurl

/// A name that does not exist, and a resolver that does not respond.
@Suite struct NameCheckTests {
    /// Lookups that wait to be run, the time, and the resolver's response.
    private final class Stage: Sendable {
        struct State {
            var pending: [@Sendable () -> Void] = []
            var seconds: Int64 = 0
            var isMissing = true
        }

        let state = Mutex(State())

        func check() -> NameCheck {
            NameCheck { [self] in
                Instant(nanoseconds: state.withLock { $0.seconds } * 1_000_000_000)
            } starting: { [self] body in
                state.withLock { $0.pending.append(body) }
            } resolving: { [self] _ in
                state.withLock { $0.isMissing }
            }
        }

        /// Runs the lookups and returns their number.
        func runLookups() -> Int {
            let bodies = state.withLock { state in
                defer { state.pending = [] }
                return state.pending
            }
            for body in bodies { body() }
            return bodies.count
        }
    }

    @Test func `a name is missing once the resolver has said so`() {
        let stage = Stage()
        let check = stage.check()
        #expect(!check.isMissing("nowhere.example") && !check.isMissing("nowhere.example"))
        #expect(stage.runLookups() == 1, "one lookup of a name at a time")
        #expect(check.isMissing("nowhere.example"))
        #expect(!check.isMissing("elsewhere.example"))
        #expect(stage.runLookups() == 1)
        #expect(!check.isMissing("nowhere.example", .v6), "another question")
        #expect(stage.runLookups() == 1)
    }

    @Test func `a resolver that does not respond says nothing about the name`() {
        let stage = Stage()
        stage.state.withLock { $0.isMissing = false }
        let check = stage.check()
        for _ in 0..<3 {
            #expect(!check.isMissing("host.example"))
            #expect(stage.runLookups() == 1, "it is looked up again")
        }
    }

    @Test func `what was found out is looked up again after a minute`() {
        let stage = Stage()
        let check = stage.check()
        _ = check.isMissing("new.example")
        _ = stage.runLookups()
        #expect(check.isMissing("new.example"))
        stage.state.withLock { ($0.seconds, $0.isMissing) = (60, false) }
        #expect(!check.isMissing("new.example"))
        #expect(stage.runLookups() == 1)
        #expect(!check.isMissing("new.example"))
    }

    @Test func `few lookups run at the same time`() {
        let stage = Stage()
        let check = stage.check()
        for number in 0..<100 { _ = check.isMissing("host\(number).example") }
        #expect(stage.runLookups() == 8)
    }
}
