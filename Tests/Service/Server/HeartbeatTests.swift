import PawlServer
import Testing

/// The limits after which a thread counts as stuck, and a shutdown as too long.
@Suite struct HeartbeatTests {
    @Test func `a thread is stuck when it has not sent a heartbeat for long, and only then`() {
        var heartbeat = Heartbeat()
        for _ in 0..<5 {
            for _ in 0..<Heartbeat.patience { #expect(heartbeat.look(hasResponded: false, isEnding: false) == .well) }
            #expect(heartbeat.look(hasResponded: true, isEnding: false) == .well)
        }
        for _ in 0..<Heartbeat.patience { _ = heartbeat.look(hasResponded: false, isEnding: false) }
        #expect(heartbeat.look(hasResponded: false, isEnding: false) == .stuck)
    }

    @Test func `a shutdown has its grace period, whether or not the thread responds`() {
        for hasResponded in [true, false] {
            var heartbeat = Heartbeat()
            for _ in 0..<Heartbeat.grace {
                #expect(heartbeat.look(hasResponded: hasResponded, isEnding: true) == .well)
            }
            #expect(heartbeat.look(hasResponded: hasResponded, isEnding: true) == .unending)
        }
    }
}
