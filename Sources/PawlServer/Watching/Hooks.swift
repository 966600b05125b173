import Pawl
import PawlCore
import Synchronization

/// Hooks and webhook: what is run or sent when something happens to a download.
package struct Hooks: Sendable {
    /// The events for which a hook is run; aria2 names them `onDownloadStart` and so on.
    package enum Occasion: String, Sendable, CaseIterable {
        case start, pause, stop, complete, error

        init?(word: String) { self.init(rawValue: word.dropFirst("onDownload".count).lowercased()) }

        /// Whether the queue knows of it later on.
        var isEnd: Bool { self == .complete || self == .error }
    }

    /// Programs, which are run without a shell as `CMD ID N PATH`.
    package var programs: [Occasion: String] = [:]
    /// Gets each occasion as JSON.
    package var webhook: String?
    /// Its public name may resolve to a private network.
    package var allowsPrivateWebhook = false

    package init() {}

    var isEmpty: Bool { programs.isEmpty && webhook == nil }

    /// The hooks and webhook that want the event.
    func listeners(to occasion: Occasion) -> Set<Outbox.Listener> {
        var listeners: Set<Outbox.Listener> = []
        if programs[occasion] != nil { listeners.insert(.program) }
        if webhook != nil { listeners.insert(.webhook) }
        return listeners
    }
}
