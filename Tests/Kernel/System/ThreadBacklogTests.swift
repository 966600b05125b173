import PawlTestKit
import Synchronization
import Testing

@testable import PawlSystem

@Suite struct ThreadBacklogTests {
    @Test func `work whose thread is refused waits until one is allowed`() {
        let mayStart = Mutex(false)
        let backlog = ThreadBacklog { mayStart.withLock(\.self) }
        let (first, second) = (Latch(), Latch())
        backlog.start("first") { first.open() }
        backlog.start("second") { second.open() }
        #expect(backlog.isWaiting)
        backlog.retry()
        #expect(backlog.isWaiting, "still refused")
        mayStart.withLock { $0 = true }
        backlog.retry()
        first.pass()
        second.pass()
        #expect(!backlog.isWaiting)
    }

    @Test func `a thread that has ended its work does what waits`() {
        let mayStart = Mutex(true)
        let backlog = ThreadBacklog { mayStart.withLock(\.self) }
        let (gate, done) = (Latch(), Latch())
        backlog.start("first") { gate.pass() }
        mayStart.withLock { $0 = false }
        backlog.start("second") { done.open() }
        #expect(backlog.isWaiting)
        gate.open()
        done.pass()
        #expect(!backlog.isWaiting)
    }
}
