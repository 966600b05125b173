import Glibc
import Pawl
import PawlCore
import Synchronization

/// Posts letters to one address, in order, each a few times at most.
///
/// What is not posted when the service ends is kept in a file, and posted when it begins again.
final class WebhookSender: Sendable {
    static let attempts = 5
    static let room = 1000

    private struct State {
        /// The first is on its way while somebody works.
        var waiting: [[UInt8]] = []
        var isWorking = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let address: String
    private let log: ServiceLog?
    private let firstDelay: Double
    private let file: String?

    /// `firstDelay` in seconds, doubled with each attempt.
    init(_ address: String, log: ServiceLog?, firstDelay: Double = 1, keptAt file: String? = nil) {
        self.address = address
        self.log = log
        self.firstDelay = firstDelay
        self.file = file
        for letter in file.map(WebhookSender.take) ?? [] { send(letter) }
    }

    func send(_ letter: [UInt8]) {
        let (isTaken, starts) = state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed, state.waiting.count < WebhookSender.room else { return (false, false) }
            state.waiting.append(letter)
            defer { state.isWorking = true }
            return (true, !state.isWorking)
        }
        if !isTaken {
            log?.note(Failure(.unknown, "left out a letter to", at: place, because: "too many wait"))
        }
        if starts { BackgroundThread.start("pawl-webhook") { self.work() } }
    }

    /// Keeps what has not been taken; the one that is on its way may come twice.
    func close() {
        let left = state.withLock { state in
            defer { state.waiting = [] }
            state.isClosed = true
            return state.waiting
        }
        guard !left.isEmpty, let file else { return }
        do throws(Failure) {
            try WholeFile.write(left.flatMap { $0 + [UInt8(ascii: "\n")] }, to: file)
        } catch {
            note(
                Failure(.inputOutput, "lost \(left.count) letters to", at: place, because: error.description)
            )
        }
    }

    private var place: String { Redaction.address(address) }

    private func work() {
        while let letter = next() {
            deliver(letter)
            state.withLock { if !$0.waiting.isEmpty { $0.waiting.removeFirst() } }
        }
    }

    private func next() -> [UInt8]? {
        state.withLock { state in
            if state.waiting.isEmpty { state.isWorking = false }
            return state.waiting.first
        }
    }

    private func deliver(_ letter: [UInt8]) {
        var delay = firstDelay
        for attempt in 1...WebhookSender.attempts {
            let failure: Failure
            switch LetterPost.send(letter, to: address) {
            case .success(200..<300): return
            case .success(let status):
                failure = Failure(.badAnswer, "cannot post to", at: place, because: "the answer is \(status)")
                // It will say the same again.
                if status < 500, status != 408, status != 429 { return note(failure) }
            case .failure(let reason): failure = reason
            }
            if attempt == WebhookSender.attempts { return note(failure) }
            BackgroundThread.sleep(seconds: delay)
            if state.withLock(\.isClosed) { return }
            delay *= 2
        }
    }

    private func note(_ failure: Failure) { log?.note(failure) }
}

// The file: a letter a line, which JSON allows.
extension WebhookSender {
    /// What was kept, which is not there any more.
    private static func take(_ path: String) -> [[UInt8]] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return [] }
        defer {
            Glibc.close(file)
            _ = unsafe unlink(path)
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(file, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }
}
