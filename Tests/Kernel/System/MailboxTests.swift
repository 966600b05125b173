import PawlBase
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

@Suite struct MailboxTests {
    private let mailbox = Mailbox<Int>()
    private let poller = EpollPoller(clock: SystemClock())

    init() { mailbox.attach(wake: poller.wake) }

    /// Waits for a message of another thread: without its wake, this would never end.
    private func sleep() { poller.wait(until: nil) }

    private func isAsleep(for weight: Int = 0) -> Bool { mailbox.wait(for: weight) {} }

    @Test func `messages that are already there are taken in order, without a sleep`() {
        mailbox.post(1)
        mailbox.post(2)
        #expect(!isAsleep())
        #expect(mailbox.take() == [1, 2])
        #expect(mailbox.take().isEmpty)
        #expect(isAsleep())
    }

    @Test func `any message wakes a reader that waits for no weight`() {
        let poster = SystemThread.start { [mailbox] in mailbox.post(1, weight: 0) }
        mailbox.wait(sleep)
        #expect(mailbox.take() == [1])
        poster.join()
    }

    @Test func `only a sleeping reader is woken, and once`() {
        let wakes = Atomic(0)
        let mailbox = Mailbox<Int>()
        mailbox.post(0)
        mailbox.attach { wakes.add(1, ordering: .relaxed) }
        mailbox.post(1)
        #expect(mailbox.take() == [0, 1])
        #expect(wakes.load(ordering: .relaxed) == 0)
        let hasSlept = mailbox.wait {
            mailbox.post(2)
            mailbox.post(3)
        }
        #expect(hasSlept)
        #expect(wakes.load(ordering: .relaxed) == 1)
        mailbox.post(4)
        #expect(mailbox.take() == [2, 3, 4])
        #expect(wakes.load(ordering: .relaxed) == 1)
    }

    @Test func `a reader that waits for a weight is woken by messages that have it together, and no message is lost`() {
        let poster = SystemThread.start { [mailbox] in
            for (message, weight) in [(1, 0), (2, 1), (3, 0), (4, 1)] { mailbox.post(message, weight: UInt32(weight)) }
        }
        mailbox.wait(for: 2, sleep)
        #expect(mailbox.take() == [1, 2, 3, 4])
        poster.join()
    }

    @Test func `messages without weight do not end a wait for one`() {
        mailbox.post(1, weight: 0)
        #expect(isAsleep(for: 1))
        #expect(!isAsleep())
        mailbox.post(2, weight: 1)
        #expect(!isAsleep(for: 1))
        #expect(isAsleep(for: 2))
    }

    @Test func `messages that were taken do not count for the next wait`() {
        mailbox.post(1, weight: 1)
        #expect(mailbox.take() == [1])
        let poster = SystemThread.start { [mailbox] in for message in 2...3 { mailbox.post(message, weight: 1) } }
        mailbox.wait(for: 2, sleep)
        #expect(mailbox.take() == [2, 3])
        poster.join()
    }

    @Test func `a message is heavy enough by default, also if it came before`() {
        let poster = SystemThread.start { [mailbox] in mailbox.post(1) }
        mailbox.wait(for: 100, sleep)
        #expect(mailbox.take() == [1])
        mailbox.post(2)
        #expect(!isAsleep(for: 100))
        #expect(mailbox.take() == [2])
        poster.join()
    }

    @Test func `a wait for a weight ends with the sleep`() {
        mailbox.post(1, weight: 0)
        #expect(mailbox.wait(for: 5) { poller.wait(until: SystemClock().now + .milliseconds(1)) })
        #expect(mailbox.take() == [1])
    }

    @Test func `messages have the order of the decisions under the poster's lock`() {
        let next = Mutex(0)
        let count = 1000
        let posters = (0..<4).map { _ in
            SystemThread.start { [mailbox] in
                for _ in 0..<count {
                    let wake = next.withLock { next in
                        defer { next += 1 }
                        return mailbox.put(next).wake
                    }
                    wake?()
                }
            }
        }
        var taken: [Int] = []
        while taken.count < posters.count * count {
            mailbox.wait(sleep)
            taken += mailbox.take()
        }
        #expect(taken == Array(0..<posters.count * count))
        for poster in posters { poster.join() }
    }

    @Test func `a closed mailbox returns what is left, and refuses more`() {
        #expect(mailbox.post(1))
        #expect(mailbox.close() == [1])
        #expect(!mailbox.post(2))
        #expect(!mailbox.put(3).isTaken)
        #expect(mailbox.take().isEmpty)
    }
}
