import Glibc
import Pawl
import PawlBase
import PawlSystem

/// A message for the main thread.
enum PipeMessage: Sendable {
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
    /// Lines of the input in reverse order, for ``PipeInput``; without weight.
    case lines([PipeLines.Line])
    /// All lines were read.
    case inputEnded
    /// Finishes what is under way within the grace period.
    case stop
}

typealias PipeInbox = Mailbox<PipeMessage>

/// What the main thread waits for: messages, and lines that a thread reads no faster than they are taken.
struct PipeInput {
    private struct Unread {
        var lines = 0
        var bytes = 0
        /// Whether the reader waits for room.
        var isReaderWaiting = false

        /// Adds the lines, or removes them with -1 as their sign.
        mutating func count(_ batch: [PipeLines.Line], sign: Int = 1) {
            lines += sign * batch.count
            bytes += sign * batch.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
        }

        /// Whether further lines are read.
        var hasRoom: Bool { bytes < 2 << 20 && lines < 16_384 }
        /// Whether a waiting reader continues: it is woken for many lines, not for one.
        var hasMuchRoom: Bool { bytes < 1 << 20 && lines < 8_192 }
    }

    private let inbox: PipeInbox
    private let poller = EpollPoller(clock: SystemClock())
    private let unread = Monitor(Unread())
    private var batches = FIFO<[PipeLines.Line]>()
    /// The rest of a batch, in reverse order.
    private var lines: [PipeLines.Line] = []
    private var isOver = false
    /// The bytes of the lines that were taken.
    private(set) var taken: Int64 = 0

    init(_ inbox: PipeInbox) {
        self.inbox = inbox
        inbox.attach(wake: poller.wake)
    }

    private var hasLines: Bool { !lines.isEmpty || batches.count > 0 }

    /// Whether the input has ended and all lines were taken.
    var isExhausted: Bool { isOver && !hasLines }

    /// Waits for a message, for lines if `wantsLines`, or for the instant.
    mutating func wait(until deadline: Instant?, wantsLines: Bool) -> [PipeMessage] {
        if !wantsLines || !hasLines { inbox.wait(for: wantsLines ? 0 : 1) { poller.wait(until: deadline) } }
        let messages = inbox.take()
        for message in messages {
            switch message {
            case .lines(let batch): batches.append(batch)
            case .inputEnded, .inputFailed: isOver = true
            case _: break
            }
        }
        return messages
    }

    /// The next line, if one has been read.
    mutating func nextLine() -> PipeLines.Line? {
        if lines.isEmpty, let batch = batches.popFirst() {
            lines = batch
            let isAwaited = unread.with(waking: .none) { unread in
                unread.count(batch, sign: -1)
                return unread.isReaderWaiting && unread.hasMuchRoom
            }
            if isAwaited { unread.with { $0.isReaderWaiting = false } }
        }
        guard let line = lines.popLast() else { return nil }
        taken += Int64(line.bytes?.count ?? 0) + 1
        return line
    }

    private static var cutOff: Failure {
        Failure(
            .unfinished, "cannot use", at: "the jobs",
            because: "they end without the line of --end, so that their writer was probably killed",
            remedy: "run it again with all jobs")
    }

    /// Reads lines on a thread of its own.
    ///
    /// `endLine`: the last line to read; input that ends without it is a failure.
    func read(from descriptor: Int32, to endLine: String?) {
        let end = endLine.map { Array($0.utf8) }
        SystemThread.detached("pawl-input", blocksSignals: true) { [inbox, unread] in
            func add(_ batch: [PipeLines.Line]) {
                unread.with(waking: .none) { unread in
                    unread.count(batch)
                    unread.isReaderWaiting = !unread.hasRoom
                }
                inbox.post(.lines(batch), weight: 0)
                _ = unread.wait(until: nil) { $0.isReaderWaiting ? nil : () }
            }
            var splitter = PipeLines()
            var piece = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count: Int
                do throws(SystemError) { count = try BoundedRead.some(descriptor, into: &piece) } catch {
                    let failure = Failure(
                        .cannotOpen, "cannot read", at: "the jobs", because: error.message,
                        remedy: "give --input-file a file, or pass them on standard input")
                    inbox.post(.inputFailed(failure))
                    return
                }
                guard count > 0 else {
                    let last = splitter.finish()
                    if let end, last?.bytes != end {
                        inbox.post(.inputFailed(Self.cutOff))
                        return
                    }
                    if end == nil, let last { add([last]) }
                    break
                }
                let lines = splitter.feed(piece[..<count])
                let jobs = lines.prefix { end == nil || $0.bytes != end }
                if !jobs.isEmpty { add(jobs.reversed()) }
                if jobs.count < lines.count { break }
            }
            inbox.post(.inputEnded)
        }
    }
}
