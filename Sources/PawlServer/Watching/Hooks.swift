import Pawl
import PawlCore
import Synchronization

/// What is done beside the service when something happens to a download.
package struct Hooks: Sendable {
    /// When a program is run; aria2's words are `onDownloadStart` and so on.
    package enum Occasion: String, Sendable, CaseIterable {
        case start, pause, stop, complete, error

        init?(word: String) { self.init(rawValue: word.dropFirst("onDownload".count).lowercased()) }
    }

    /// Programs, which are run without a shell as `CMD ID N PATH`.
    package var programs: [Occasion: String] = [:]
    /// Gets each occasion as JSON.
    package var webhook: String?

    package init() {}

    var isEmpty: Bool { programs.isEmpty && webhook == nil }
}

/// Runs programs, a few at once, and never waits for one.
final class HookRunner: Sendable {
    /// At once.
    static let limit = 8
    /// Waiting for their turn; further ones are left out.
    static let room = 1000

    private struct State {
        var running = 0
        var waiting: [[String]] = []
    }

    private let state = Mutex(State())
    private let log: ServiceLog?

    init(log: ServiceLog?) { self.log = log }

    func run(_ words: [String]) {
        enum Turn { case now, later, never }
        let turn = state.withLock { state -> Turn in
            if state.running < HookRunner.limit {
                state.running += 1
                return .now
            }
            guard state.waiting.count < HookRunner.room else { return .never }
            state.waiting.append(words)
            return .later
        }
        switch turn {
        case .now: BackgroundThread.start("pawl-hook") { self.work(from: words) }
        case .later: break
        case .never:
            log?.note(
                Failure(
                    .unknown,
                    "left out",
                    at: words.joined(separator: " "),
                    because: "too many programs wait"
                )
            )
        }
    }

    private func work(from first: [String]) {
        var next: [String]? = first
        while let words = next {
            perform(words)
            next = state.withLock { state in
                guard !state.waiting.isEmpty else {
                    state.running -= 1
                    return nil
                }
                return state.waiting.removeFirst()
            }
        }
    }

    private func perform(_ words: [String]) {
        do throws(Failure) {
            let code = try ChildProcess.run(words[0], Array(words.dropFirst()))
            guard code != 0 else { return }
            log?.note(
                Failure(.unknown, "the program failed:", at: words[0], because: "it ended with \(code)")
            )
        } catch {
            log?.note(error)
        }
    }
}

/// Posts letters to one address, in order, each a few times at most.
final class WebhookSender: Sendable {
    static let attempts = 5
    static let room = 1000

    private struct State {
        var waiting: [[UInt8]] = []
        var isWorking = false
    }

    private let state = Mutex(State())
    private let address: String
    private let log: ServiceLog?
    private let firstDelay: Double

    /// `firstDelay` in seconds, doubled with each attempt.
    init(_ address: String, log: ServiceLog?, firstDelay: Double = 1) {
        self.address = address
        self.log = log
        self.firstDelay = firstDelay
    }

    func send(_ letter: [UInt8]) {
        let (isTaken, starts) = state.withLock { state -> (Bool, Bool) in
            guard state.waiting.count < WebhookSender.room else { return (false, false) }
            state.waiting.append(letter)
            defer { state.isWorking = true }
            return (true, !state.isWorking)
        }
        if !isTaken {
            log?.note(Failure(.unknown, "left out a letter to", at: place, because: "too many wait"))
        }
        if starts { BackgroundThread.start("pawl-webhook") { self.work() } }
    }

    private var place: String { Redaction.address(address) }

    private func work() {
        while true {
            let letter = state.withLock { state -> [UInt8]? in
                guard !state.waiting.isEmpty else {
                    state.isWorking = false
                    return nil
                }
                return state.waiting.removeFirst()
            }
            guard let letter else { return }
            deliver(letter)
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
            delay *= 2
        }
    }

    private func note(_ failure: Failure) { log?.note(failure) }
}
