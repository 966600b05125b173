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

    package var expected: ExpectedDigest {
        ExpectedDigest(checksum, level: .origin, source: "\(field) of \(address)")
    }
}

extension LocalizableMessage {
    static func digestChanged(_ before: LearntDigest, to now: LearntDigest) -> Self {
        .init(
            "digest-changed",
            "its \(now.field) was \(Hexadecimal.text(before.checksum.digest)) and is \(Hexadecimal.text(now.checksum.digest)) now"
        )
    }

    package static func digestsContradict(_ first: ExpectedDigest, _ second: ExpectedDigest) -> Self {
        .init("digests-contradict", "\(first) and \(second) contradict each other")
    }
}
