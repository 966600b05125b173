package import PawlBase

/// A digest that an origin stated of the content on disk; the journal keeps it.
package struct LearntDigest: Hashable, Sendable {
    /// The redacted address that stated it.
    package var address: String
    /// The field with its key.
    package var field: String
    package var checksum: Checksum

    package init(address: String, field: String, checksum: Checksum) {
        self.address = address
        self.field = field
        self.checksum = checksum
    }

    /// The most digests that are remembered; further ones are not.
    package static let most = 64

    package var expected: ExpectedDigest { ExpectedDigest(checksum, level: .origin, source: "\(field) of \(address)") }
}

extension Representation {
    /// What the same address stated in another field, if these bytes cannot have both digests.
    package func digest(contradicting other: LearntDigest) -> LearntDigest? {
        guard coding == nil else { return nil }
        return digests.first {
            $0.address == other.address && $0.checksum.algorithm == other.checksum.algorithm
                && $0.checksum != other.checksum
        }
    }
}

extension LocalizableMessage {
    package static func digestChanged(_ before: LearntDigest, to now: LearntDigest) -> Self {
        let (old, new) = (Hexadecimal.text(before.checksum.digest), Hexadecimal.text(now.checksum.digest))
        guard before.field == now.field else {
            return .init("digest-differs", "its \(before.field) was \(old), and its \(now.field) is \(new) now")
        }
        return .init("digest-changed", "its \(now.field) was \(old) and is \(new) now")
    }

    package static func digestsContradict(_ first: ExpectedDigest, _ second: ExpectedDigest) -> Self {
        .init("digests-contradict", "\(first) and \(second) contradict each other")
    }
}
