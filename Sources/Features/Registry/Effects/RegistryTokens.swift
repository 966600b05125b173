package import PawlBase
import PawlSystem
import Synchronization

/// What registries have given this process to be let in with: a value of Authorization for each repository and user.
///
/// All transports share it, so that a token is asked for once, and renewed once.
package final class RegistryTokens: Sendable {
    package struct Key: Hashable, Sendable {
        var origin: String
        var name: String
        var login: RegistryLogin?

        package init(_ url: WebAddress, _ reference: RegistryReference, _ login: RegistryLogin?) {
            origin = url.origin.text
            name = reference.name
            self.login = login
        }
    }

    private struct Known {
        var field: String
        var until: Instant
    }

    private let known = Mutex<[Key: Known]>([:])
    private static let most = 4096
    /// So many seconds before its end a token is renewed.
    private static let margin = 5.0

    package static let shared = RegistryTokens()

    package init() {}

    /// The value of Authorization; `nil` if none is known that is still good.
    package func field(_ key: Key, at now: Instant) -> String? {
        known.withLock { known in
            guard let found = known[key], now < found.until else { return nil }
            return found.field
        }
    }

    package func note(_ token: RegistryToken, for key: Key, at now: Instant) {
        // One that lives shorter than the margin is used until it is refused.
        let seconds = token.life.seconds
        let life = seconds > Self.margin * 2 ? seconds - Self.margin : seconds
        note("Bearer \(token.text)", until: now + .seconds(life), key)
    }

    package func note(basic field: String, for key: Key) {
        note(field, until: SystemClock().now + .seconds(86_400), key)
    }

    private func note(_ field: String, until: Instant, _ key: Key) {
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[key] = Known(field: field, until: until)
        }
    }
}
