import Glibc
import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlGet
@testable import PawlSystem

@Suite struct CommandMailboxTests {
    private let ending = DownloadEvent.Kind.finished(
        DownloadedFile(path: "f", length: 1, received: 1, duration: 1, wasThere: false))

    private func message(_ kind: DownloadEvent.Kind) -> CommandMailbox<Never>.Message {
        .event(DownloadEvent(id: Download.ID(rawValue: 1), kind: kind))
    }

    private func isEnding(_ message: CommandMailbox<Never>.Message) -> Bool {
        guard case .event(let event) = message, case .finished = event.kind else { return false }
        return true
    }

    private func isSignal(_ message: CommandMailbox<Never>.Message) -> Bool {
        if case .signal = message { true } else { false }
    }

    @Test func `a message that is already there ends the wait immediately`() throws {
        let mailbox = try CommandMailbox<Never>()
        mailbox.post(message(.notice(DownloadNotice(.init("test", "one")))))
        mailbox.post(message(.notice(DownloadNotice(.init("test", "two")))))
        mailbox.wait(milliseconds: nil)
        #expect(mailbox.take().count == 2)
        #expect(mailbox.take().isEmpty)
    }

    @Test func `any message wakes a thread without patience`() throws {
        let mailbox = try CommandMailbox<Never>()
        let notice = message(.notice(DownloadNotice(.init("test", "one"))))
        let poster = SystemThread.start { mailbox.post(notice) }
        // Without the wake-up this wait would never end.
        mailbox.wait(milliseconds: nil)
        #expect(mailbox.take().count == 1)
        poster.join()
    }

    @Test func `with patience only enough ends wake it, and no message is lost`() throws {
        let mailbox = try CommandMailbox<Never>()
        let messages = [
            message(.notice(DownloadNotice(.init("test", "one")))), message(ending),
            message(.notice(DownloadNotice(.init("test", "two")))), message(ending),
        ]
        let poster = SystemThread.start { for message in messages { mailbox.post(message) } }
        mailbox.wait(milliseconds: nil, patience: 2)
        let taken = mailbox.take()
        #expect(taken.count == 4)
        #expect(taken.filter(isEnding).count == 2)
        poster.join()
    }

    @Test func `ends that were taken do not count for the next wait`() throws {
        let mailbox = try CommandMailbox<Never>()
        mailbox.post(message(ending))
        #expect(mailbox.take().count == 1)
        let messages = [message(ending), message(ending)]
        let poster = SystemThread.start { for message in messages { mailbox.post(message) } }
        mailbox.wait(milliseconds: nil, patience: 2)
        #expect(mailbox.take().count == 2)
        poster.join()
    }

    @Test func `a signal wakes it regardless of patience, also if it came before`() throws {
        let mailbox = try CommandMailbox<Never>()
        let poster = SystemThread.start { mailbox.post(.signal(SIGINT)) }
        mailbox.wait(milliseconds: nil, patience: 100)
        #expect(mailbox.take().contains(where: isSignal))
        mailbox.post(.signal(SIGTERM))
        mailbox.wait(milliseconds: nil, patience: 100)
        #expect(mailbox.take().contains(where: isSignal))
        poster.join()
    }

    @Test func `patience ends with the timeout`() throws {
        let mailbox = try CommandMailbox<Never>()
        mailbox.post(message(.notice(DownloadNotice(.init("test", "one")))))
        mailbox.wait(milliseconds: 1, patience: 5)
        #expect(mailbox.take().count == 1)
    }
}
