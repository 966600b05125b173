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

    private struct State {
        var messages: [Message] = []
        /// Those among the messages that tell of a download's end.
        var endings = 0
        /// Whether the main thread sleeps and nobody has woken it yet.
        var isAwaited = false
        /// How many ends it sleeps through; 0 wakes it for anything.
        var patience = 0

        /// Whether what is here is worth waking for.
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

    /// Waits until there is word or the time is over; `nil` waits without end.
    ///
    /// With `patience` only a signal or that many ends of downloads are word enough: waking for each event of
    /// many small files costs more than the files do.
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
        // Who set the flag back writes one byte, if not already then soon: it stays for the next wait to end early.
        var byte: UInt8 = 0
        _ = unsafe read(reader, &byte, 1)
    }

    /// Everything left since the last call, in order.
    package func take() -> [Message] {
        state.withLock { state in
            let taken = state.messages
            state.messages = []
            state.endings = 0
            return taken
        }
    }
}

extension Mailbox.Message {
    fileprivate var isUrgent: Bool {
        if case .signal = self { true } else { false }
    }

    fileprivate var isEnding: Bool {
        guard case .event(let event) = self else { return false }
        switch event.kind {
        case .finished, .failed, .state(.paused): return true
        case .state, .started, .notice, .retry, .added, .changed, .missed: return false
        }
    }
}

/// What the system says about an error number.
func systemMessage(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
