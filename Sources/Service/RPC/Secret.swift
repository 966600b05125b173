import Synchronization

/// The RPC secret.
package final class Secret: Sendable {
    private let bytes: [UInt8]
    private let guesses = Mutex(AuthRateLimit(now: .now))

    /// `nil` for an empty text, which would admit everyone.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        bytes = Array(text.utf8)
    }

    /// A secret of this length cannot be guessed: the generated one has 128 bits.
    private static let unguessable = 32

    /// Whether an unauthenticated client has presented it.
    ///
    /// Attempts are rate-limited over all clients: above the limit even the correct secret is refused. A long
    /// secret needs no such protection, so guessing cannot lock others out.
    package func admits(_ other: String) -> Bool {
        guard bytes.count < Secret.unguessable else { return equals(other) }
        guard guesses.withLock({ $0.take(now: .now) }) else { return false }
        guard equals(other) else { return false }
        guesses.withLock { $0.refund() }
        return true
    }

    /// The same without consuming an attempt: a wrong secret is checked again by ``admits(_:)`` and counted there.
    package func recognizes(_ other: String) -> Bool {
        guard bytes.count < Secret.unguessable || guesses.withLock({ $0.canTake(now: .now) }) else { return false }
        return equals(other)
    }

    /// Compares in constant time, so that the secret cannot be guessed character by character.
    package func equals(_ other: String) -> Bool {
        let other = Array(other.utf8)
        guard other.count == bytes.count else { return false }
        var difference: UInt8 = 0
        for index in bytes.indices { difference |= bytes[index] ^ other[index] }
        return difference == 0
    }
}

extension Secret: CustomStringConvertible {
    /// Never the secret itself.
    package var description: String { "secret" }
}
