package import PawlBase

/// How much a digest proves, by where it is from; a greater level proves more.
package enum VerificationLevel: UInt8, Hashable, Sendable, Comparable, CaseIterable {
    /// Nothing was compared.
    case none
    /// A sums file beside the content, on the same host.
    case sidecar
    /// Fields of the response, or a description that the response names.
    case origin
    /// A sums file with a good signature by a key that the caller named.
    case signed
    /// The caller stated the digest.
    case given

    package static func < (left: VerificationLevel, right: VerificationLevel) -> Bool { left.rawValue < right.rawValue }

    package var name: String {
        switch self {
        case .none: "none"
        case .sidecar: "sidecar"
        case .origin: "origin"
        case .signed: "signed"
        case .given: "given"
        }
    }

    package var message: LocalizableMessage {
        switch self {
        case .none: LocalizableMessage("level-none", "none")
        case .sidecar: LocalizableMessage("level-sidecar", "sidecar")
        case .origin: LocalizableMessage("level-origin", "origin")
        case .signed: LocalizableMessage("level-signed", "signed")
        case .given: LocalizableMessage("level-given", "given")
        }
    }

    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }
}

/// Which digests are looked for, and what a download must reach.
package enum VerificationPolicy: String, Hashable, Sendable, CaseIterable {
    /// Fields of responses, and what the caller stated; nothing further is requested.
    case auto
    /// As `auto`, and sums files beside the content are requested.
    case sidecar
    /// As `sidecar`; fails unless the level is `signed` or `given`.
    case signed
    /// As `sidecar`; fails if nothing verifies the content.
    case required
    /// Only what the caller stated.
    case off

    /// Whether fields of responses count.
    package var usesFields: Bool { self != .off }

    package var asksForSidecars: Bool {
        switch self {
        case .sidecar, .signed, .required: true
        case .auto, .off: false
        }
    }

    /// The least level that a download must reach.
    package var least: VerificationLevel {
        switch self {
        case .auto, .sidecar, .off: .none
        case .required: .sidecar
        case .signed: .signed
        }
    }
}

/// A digest that the content is said to have.
package struct ExpectedDigest: Hashable, Sendable {
    package var checksum: Checksum
    package var level: VerificationLevel
    /// What states it, for users: a field's name, or a redacted address.
    package var source: String
    /// The digests that suffice as well, where it is not stated which algorithm's it is.
    package var alternatives: [Checksum]

    package init(_ checksum: Checksum, or alternatives: [Checksum] = [], level: VerificationLevel, source: String) {
        self.checksum = checksum
        self.alternatives = alternatives
        self.level = level
        self.source = source
    }
}

/// What the content was verified with: the digest that proves most of those that agreed, or those of its pieces.
package struct VerificationResult: Hashable, Sendable {
    package var level: VerificationLevel
    package var algorithm: HashAlgorithm
    /// Of the whole content; empty where its pieces were compared.
    package var digest: [UInt8]
    /// What stated it, for users: a field's name, or a redacted address; empty for what the caller gave.
    package var source: String
    /// How many pieces were compared, where there was no digest of the whole.
    package var pieces: Int?

    package init(level: VerificationLevel, checksum: Checksum, source: String) {
        self.level = level
        algorithm = checksum.algorithm
        digest = checksum.digest
        self.source = source
    }

    /// All pieces were compared with the digests that the caller gave.
    package init(pieces hashes: PieceHashes) {
        level = .given
        algorithm = hashes.algorithm
        digest = []
        source = ""
        pieces = hashes.count
    }
}
