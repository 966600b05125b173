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
