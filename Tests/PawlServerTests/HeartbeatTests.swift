import PawlServer
import Testing

/// When a thread counts as stuck, and an end as too long.
@Suite struct HeartbeatTests {
    @Test func `a thread is stuck when it has not come round for long, and only then`() {
        var heartbeat = Heartbeat()
        for _ in 0..<5 {
            for _ in 0..<Heartbeat.patience {
                #expect(heartbeat.look(hasAnswered: false, isEnding: false) == .well)
            }
            #expect(heartbeat.look(hasAnswered: true, isEnding: false) == .well)
        }
        for _ in 0..<Heartbeat.patience { _ = heartbeat.look(hasAnswered: false, isEnding: false) }
        #expect(heartbeat.look(hasAnswered: false, isEnding: false) == .stuck)
    }

    @Test func `an end has its grace, whether or not the thread answers`() {
        for hasAnswered in [true, false] {
            var heartbeat = Heartbeat()
            for _ in 0..<Heartbeat.grace {
                #expect(heartbeat.look(hasAnswered: hasAnswered, isEnding: true) == .well)
            }
            #expect(heartbeat.look(hasAnswered: hasAnswered, isEnding: true) == .unending)
        }
    }
}
