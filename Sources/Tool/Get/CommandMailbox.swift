import Glibc
package import Pawl
package import PawlBase
import PawlSystem
import Synchronization

/// Messages from the downloader's threads and the signal thread to the main thread, which alone reads and prints.
///
/// `Own` are messages of the command itself, `Never` if it has none.
package final class CommandMailbox<Own: Sendable>: Sendable {
    package enum Message: Sendable {
        case event(DownloadEvent)
        case trace(TransferTrace)
        case signal(Int32)
        case own(Own)
    }

    private struct State {
        var messages: [Message] = []
        /// The number of messages that report the end of a download.
        var endings = 0
        /// Whether the main thread sleeps and has not been woken yet.
        var isAwaited = false
        /// The number of ends that wakes it; 0 wakes it for any message.
        var patience = 0

        /// Whether the messages justify waking the main thread.
        var isDue: Bool {
            guard !messages.isEmpty else { return false }
            return patience == 0 || endings >= patience
        }
    }

    private let state = Mutex(State())
    private let reader: Int32
    private let writer: Int32

    package init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw Failure(.inputOutput, "cannot start", at: "pawl", because: "pipe: \(SystemError.last.text)")
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

    /// Posts a message; blocks no longer than the append takes.
    package func post(_ message: Message) {
        let wakes = state.withLock { state in
            state.messages.append(message)
            if message.isEnding { state.endings += 1 }
            guard state.isAwaited, state.isDue || message.isUrgent else { return false }
            state.isAwaited = false
            return true
        }
        guard wakes else { return }
        var byte: UInt8 = 0
        _ = unsafe write(writer, &byte, 1)
    }

    /// Waits until there is a message or the timeout expires; `nil` waits indefinitely.
    ///
    /// With `patience`, only a signal or that many ends of downloads wake it: waking for each event of many small
    /// files would cost more than the files.
    package func wait(milliseconds: Int32?, patience: Int = 0) {
        let sleeps = state.withLock { state in
            state.patience = patience
            state.isAwaited = !state.isDue && !state.messages.contains(where: \.isUrgent)
            return state.isAwaited
        }
        guard sleeps else { return }
        var readable = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        let isWoken = unsafe poll(&readable, 1, milliseconds ?? -1) > 0
        let mustRead = state.withLock { state in
            defer { state.isAwaited = false }
            return isWoken || !state.isAwaited
        }
        guard mustRead else { return }
        // The thread that cleared the flag writes one byte, now or soon; an unread byte only ends the next wait early.
        var byte: UInt8 = 0
        _ = unsafe read(reader, &byte, 1)
    }

    /// The messages posted since the last call, in order.
    package func take() -> [Message] {
        state.withLock { state in
            let taken = state.messages
            state.messages = []
            state.endings = 0
            return taken
        }
    }
}

extension CommandMailbox.Message {
    fileprivate var isUrgent: Bool { if case .signal = self { true } else { false } }

    fileprivate var isEnding: Bool {
        guard case .event(let event) = self else { return false }
        return RunLedger.isEnd(event.kind)
    }
}
