import Pawl
import PawlCore
import Synchronization

/// What is done beside the service when something happens to a download.
package struct Hooks: Sendable {
    /// When a program is run; aria2's words are `onDownloadStart` and so on.
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
    /// Its name may lead to a private network, although it looks like a public one.
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
