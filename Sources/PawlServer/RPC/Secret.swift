import Synchronization

/// What a client has to know.
package final class Secret: Sendable {
    private let bytes: [UInt8]
    private let guesses = Mutex(AuthRateLimit(now: .now))

    /// `nil` for an empty text, which would let everybody in.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        bytes = Array(text.utf8)
    }

    /// Nobody finds so long a one by guessing: the one that is made for the user has 128 bits.
    private static let unguessable = 32

    /// Whether somebody of whom nothing is known has shown it.
    ///
    /// Wrong ones are looked at a few times a second only, of all callers together: until then the right one is refused
    /// too. A long one needs no such protection, so that nobody keeps others out by guessing.
    package func admits(_ other: String) -> Bool {
        guard bytes.count < Secret.unguessable else { return equals(other) }
        guard guesses.withLock({ $0.take(now: .now) }) else { return false }
        guard equals(other) else { return false }
        guesses.withLock { $0.restoreOriginal() }
        return true
    }

    /// The same, where a wrong one is looked at again by ``admits(_:)`` and counts there.
    package func recognizes(_ other: String) -> Bool {
        guard bytes.count < Secret.unguessable || guesses.withLock({ $0.canTake(now: .now) }) else {
            return false
        }
        return equals(other)
    }

    /// Takes the same time wherever the difference is, so that it cannot be guessed a character at a time.
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
