import Glibc
import PawlCore
import Testing

@testable import Pawl
@testable import PawlCommands

@Suite struct MailboxTests {
    private let ending = DownloadEvent.Kind.finished(
        DownloadedFile(path: "f", length: 1, received: 1, duration: 1, wasThere: false)
    )

    private func message(_ kind: DownloadEvent.Kind) -> Mailbox.Message {
        .event(DownloadEvent(id: Download.ID(rawValue: 1), kind: kind))
    }

    private func isEnding(_ message: Mailbox.Message) -> Bool {
        guard case .event(let event) = message, case .finished = event.kind else { return false }
        return true
    }

    private func isSignal(_ message: Mailbox.Message) -> Bool {
        if case .signal = message { true } else { false }
    }

    @Test func `a message that is already there ends the wait immediately`() throws {
        let mailbox = try Mailbox()
        mailbox.post(message(.notice(DownloadNotice("one"))))
        mailbox.post(message(.notice(DownloadNotice("two"))))
        mailbox.wait(milliseconds: nil)
        #expect(mailbox.take().count == 2)
        #expect(mailbox.take().isEmpty)
    }

    @Test func `any message wakes a thread without patience`() throws {
        let mailbox = try Mailbox()
        let notice = message(.notice(DownloadNotice("one")))
        let poster = Poster { mailbox.post(notice) }
        // Without the wake-up this wait would never end.
        mailbox.wait(milliseconds: nil)
        #expect(mailbox.take().count == 1)
        poster.join()
    }

    @Test func `with patience only enough ends wake it, and no message is lost`() throws {
        let mailbox = try Mailbox()
        let letters = [
            message(.notice(DownloadNotice("one"))), message(ending), message(.notice(DownloadNotice("two"))),
            message(ending),
        ]
        let poster = Poster { for letter in letters { mailbox.post(letter) } }
        mailbox.wait(milliseconds: nil, patience: 2)
        let taken = mailbox.take()
        #expect(taken.count == 4)
        #expect(taken.filter(isEnding).count == 2)
        poster.join()
    }

    @Test func `ends that were taken do not count for the next wait`() throws {
        let mailbox = try Mailbox()
        mailbox.post(message(ending))
        #expect(mailbox.take().count == 1)
        let letters = [message(ending), message(ending)]
        let poster = Poster { for letter in letters { mailbox.post(letter) } }
        mailbox.wait(milliseconds: nil, patience: 2)
        #expect(mailbox.take().count == 2)
        poster.join()
    }

    @Test func `a signal wakes it regardless of patience, also if it came before`() throws {
        let mailbox = try Mailbox()
        let poster = Poster { mailbox.post(.signal(SIGINT)) }
        mailbox.wait(milliseconds: nil, patience: 100)
        #expect(mailbox.take().contains(where: isSignal))
        mailbox.post(.signal(SIGTERM))
        mailbox.wait(milliseconds: nil, patience: 100)
        #expect(mailbox.take().contains(where: isSignal))
        poster.join()
    }

    @Test func `patience ends with the timeout`() throws {
        let mailbox = try Mailbox()
        mailbox.post(message(.notice(DownloadNotice("one"))))
        mailbox.wait(milliseconds: 1, patience: 5)
        #expect(mailbox.take().count == 1)
    }
}

/// A dedicated thread: the waiting tests would block the whole pool.
private final class Poster {
    private final class Work {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private var thread = pthread_t()

    init(_ run: @escaping @Sendable () -> Void) {
        let work = unsafe Unmanaged.passRetained(Work(run)).toOpaque()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            work
        )
        precondition(code == 0, "pthread_create: \(code)")
    }

    func join() { pthread_join(thread, nil) }
}
