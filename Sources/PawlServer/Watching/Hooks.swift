import Pawl
import PawlCore
import Synchronization

/// Hooks and webhook: what is run or sent when something happens to a download.
package struct Hooks: Sendable {
    /// The events for which a hook is run; aria2 names them `onDownloadStart` and so on.
    package enum Occasion: String, Sendable, CaseIterable {
        case start, pause, stop, complete, error

        init?(word: String) { self.init(rawValue: word.dropFirst("onDownload".count).lowercased()) }

        /// Whether it is the end of a download, which the queue records.
        var isEnd: Bool { self == .complete || self == .error }
    }

    /// The programs, run without a shell as `CMD ID N PATH`.
    package var programs: [Occasion: String] = [:]
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
