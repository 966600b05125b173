import Glibc
import Pawl
import PawlBase
import PawlSystem

/// The messages for the main thread: lines of input, events of downloads, stored samples, signals.
package final class PipeInbox: Sendable {
    enum Message: Sendable {
        case event(DownloadEvent)
        case stored([PipeRecord])
        /// The name of a host was looked up.
        case lookedUp(String, HostQuery, HostResult)
        /// A sample is redirected to a URL.
        case redirected(Download.ID, to: String, Once<RedirectDecision>)
        /// The sink has failed.
        case sinkFailed(Failure)
        case inputFailed(Failure)
        case outputFailed(Failure)
        case outputDrained
        /// All lines were read.
        case inputEnded
        case stop
    }

    private struct State {
        var messages: [Message] = []
        var lines: [PipeLines.Line] = []
        /// The index of the next line.
        var next = 0
        var lineBytes = 0
        var isInputOver = false
        /// Whether the reader waits for room.
        var isReaderWaiting = false

        var hasLines: Bool { next < lines.count }
        /// Whether further lines are read.
        var hasRoom: Bool { lineBytes < 2 << 20 && lines.count - next < 16_384 }
        /// Whether a waiting reader continues: it is woken for many lines, not for one.
        var hasMuchRoom: Bool { lineBytes < 1 << 20 && lines.count - next < 8_192 }
    }

    private let state = Monitor(State())
    /// Whether the reader may continue; apart from the state, so that messages do not wake it.
    private let mayRead = Monitor(false)

    package init() {}

    /// Ends the run: finishes what is under way within the grace period.
    package func stop() { post(.stop) }

    func post(_ message: Message) { state.with { $0.messages.append(message) } }

    /// Waits for a message, for lines if `wantsLines`, or for the instant.
    func wait(until deadline: Instant?, wantsLines: Bool) -> [Message] {
        state.wait(until: deadline) { state in
            guard !state.messages.isEmpty || wantsLines && state.hasLines else { return nil }
            return take(&state)
        } ?? []
    }

    private func take(_ state: inout State) -> [Message] {
        defer { state.messages = [] }
        return state.messages
    }

    /// The next line, if one has been read.
    func nextLine() -> PipeLines.Line? {
        var wakesReader = false
        let line: PipeLines.Line? = state.with(waking: .none) { state in
            guard state.hasLines else { return nil }
            let line = state.lines[state.next]
            state.lines[state.next].bytes = nil
            state.next += 1
            state.lineBytes -= line.bytes?.count ?? 0
            if !state.hasLines || state.next >= 8192 {
                state.lines.removeFirst(state.next)
                state.next = 0
            }
            wakesReader = state.isReaderWaiting && state.hasMuchRoom
            if wakesReader { state.isReaderWaiting = false }
            return line
        }
        if wakesReader { mayRead.with { $0 = true } }
        return line
    }

    /// Whether the input has ended and all lines were taken.
    var isExhausted: Bool { state.read { $0.isInputOver && !$0.hasLines } }

    // MARK: the reader's thread

    /// Adds lines, and blocks until there is room for more.
    fileprivate func add(_ lines: [PipeLines.Line]) {
        let isWaiting = state.with { state in
            state.lines += lines
            state.lineBytes += lines.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
            state.isReaderWaiting = !state.hasRoom
            return state.isReaderWaiting
        }
        guard isWaiting else { return }
        _ = mayRead.wait(until: nil) { mayRead in
            defer { mayRead = false }
            return mayRead ? () : nil
        }
    }

    fileprivate func endInput(_ failure: Failure?) {
        state.with { state in
            state.isInputOver = true
            state.messages.append(failure.map(Message.inputFailed) ?? .inputEnded)
        }
    }

    private static var cutOff: Failure {
        Failure(
            .unfinished, "cannot use", at: "the jobs",
            because: "they end without the line of --end, so that their writer was probably killed",
            remedy: "run it again with all jobs")
    }

    /// Reads lines on a thread of its own, no faster than they are taken.
    ///
    /// `endLine`: the last line to read; input that ends without it is a failure.
    func read(from descriptor: Int32, to endLine: String?) {
        let end = endLine.map { Array($0.utf8) }
        SystemThread.detached("pawl-input", blocksSignals: true) { [self] in
            var splitter = PipeLines()
            var piece = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count: Int
                do throws(SystemError) { count = try BoundedRead.some(descriptor, into: &piece) } catch {
                    return endInput(
                        Failure(
                            .cannotOpen, "cannot read", at: "the jobs", because: error.message,
                            remedy: "give --input a file, or pass them on standard input"))
                }
                guard count > 0 else {
                    let last = splitter.finish()
                    if let end { return endInput(last?.bytes == end ? nil : Self.cutOff) }
                    if let last { add([last]) }
                    return endInput(nil)
                }
                let lines = splitter.feed(piece[..<count])
                let jobs = lines.prefix { end == nil || $0.bytes != end }
                if !jobs.isEmpty { add(Array(jobs)) }
                if jobs.count < lines.count { return endInput(nil) }
            }
        }
    }
}
