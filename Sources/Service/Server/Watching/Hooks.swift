import Pawl
import Synchronization

/// Hooks and webhook: what is run or sent when something happens to a download.
package struct Hooks: Sendable {
    /// The events for which a hook is run, and of which WebSockets are notified.
    package enum Occasion: String, Sendable, CaseIterable {
        case start, pause, stop, complete, error

        /// What the event means to listeners, who know the downloads in `running`.
        static func met(by event: DownloadEvent, _ running: inout Set<Download.ID>) -> Occasion? {
            guard case .state(let state) = event.kind else { return nil }
            switch state {
            case .probing, .transferring, .waitingForNetwork, .verifying, .publishing:
                return running.insert(event.id).inserted ? .start : nil
            case .paused: return running.remove(event.id) == nil ? nil : .pause
            case .waiting, .waitingForDisk, .preempted:
                running.remove(event.id)
                return nil
            case .removed: return running.remove(event.id) == nil ? nil : .stop
            case .finished:
                running.remove(event.id)
                return .complete
            case .failed:
                running.remove(event.id)
                return .error
            }
        }

        /// Whether it is the end of a download, which the queue records.
        var isEnd: Bool { self == .complete || self == .error }
    }

    /// The programs, run without a shell as `CMD ID N PATH`.
    package var programs: [Occasion: String] = [:]
    /// The program that is run without arguments when the last download has ended.
    package var idle: String?
    /// The URL that receives each event as JSON.
    package var webhook: String?
    /// Its public name may resolve to a private network.
    package var allowsPrivateWebhook = false

    package init() {}

    var isEmpty: Bool { programs.isEmpty && webhook == nil }

    /// The hooks and webhook that want the event.
    func listeners(to occasion: Occasion) -> Set<Outbox.Recipient> {
        var listeners: Set<Outbox.Recipient> = []
        if programs[occasion] != nil { listeners.insert(.program) }
        if webhook != nil { listeners.insert(.webhook) }
        return listeners
    }
}
