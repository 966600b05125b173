import PawlSystem
import Testing

@Suite struct LockWaitTests {
    @Test func `a lock that its holder releases is taken`() {
        var calls = 0
        #expect(
            LockWait.take {
                calls += 1
                return calls == 3
            })
        #expect(calls == 3)
    }

    @Test func `a lock that stays held is given up`() {
        var calls = 0
        #expect(
            !LockWait.take {
                calls += 1
                return false
            })
        #expect(calls > 1)
    }
}
