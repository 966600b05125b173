import Glibc
package import Pawl
package import PawlCore
import Synchronization

/// Where the threads of the downloader and of the signals leave word for the main thread, which alone reads and prints.
package final class Mailbox: Sendable {
    package enum Message: Sendable {
        case event(DownloadEvent)
        case signal(Int32)
    }

    private let messages = Mutex<[Message]>([])
    private let reader: Int32
    private let writer: Int32

    package init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw Failure(.inputOutput, "cannot start", at: "pawl", because: "pipe: \(systemMessage(errno))")
        }
        (reader, writer) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Leaves word; never blocks for longer than the append takes.
    package func post(_ message: Message) {
        let wasEmpty = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        guard wasEmpty else { return }
        var byte: UInt8 = 0
        _ = unsafe write(writer, &byte, 1)
    }

    /// Waits until there is word or the time is over; `nil` waits without end.
    package func wait(milliseconds: Int32?) {
        var readable = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&readable, 1, milliseconds ?? -1) > 0 else { return }
        // More than can have been written since the last time; if not, the next wait is over at once.
        var bytes: (UInt64, UInt64) = (0, 0)
        _ = unsafe read(reader, &bytes, 16)
    }

    /// Everything left since the last call, in order.
    package func take() -> [Message] {
        messages.withLock { messages in
            let taken = messages
            messages = []
            return taken
        }
    }
}

/// What the system says about an error number.
func systemMessage(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
