package import PawlBase
package import PawlJournal

/// What a finished file was verified with.
///
/// `Documentation/Integrity.md` says what each level proves.
public struct FileVerification: Sendable, Hashable, Codable {
    /// How much the digest proves, by where it is from.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive(warn)
    #endif
    public enum Level: String, Sendable, Hashable, Codable, CaseIterable {
        /// A sums file beside the content, on the same host.
        case sidecar
        /// A field of the response.
        case origin
        /// A sums file with a good signature by a given key.
        case signed
        /// Given by the caller.
        case given
    }

    /// Where the digest is from.
    public var level: Level
    /// `sha-256`, `sha-512`, `sha-384`, `sha-224`, `blake2b`, `sha3-256`, `sha3-512`,
    /// `sha3-384`, `sha3-224`, `sha-512-256`, `blake2s`, `sm3`, `sha-1`, `git-blob`, `md5`, `crc64nvme`,
    /// `crc32c`, `crc32` or `adler32`.
    public var algorithm: String
    /// The digest of the whole file in hexadecimal digits; empty where its pieces were compared instead.
    public var digest: String
    /// What stated it: a field, a redacted URL; empty for a given one.
    public var source: String
    /// How many pieces were compared with digests of their own, where there was none of the whole; else `nil`.
    public var pieces: Int?

    /// Whether the algorithm shows damage, but no forgery: other content of the same digest can be made on purpose.
    public var isWeak: Bool { HashAlgorithm(rawValue: algorithm)?.isWeak ?? true }

    /// Creates a verification, for tests and previews.
    public init(level: Level, algorithm: String, digest: String, source: String = "", pieces: Int? = nil) {
        self.level = level
        self.algorithm = algorithm
        self.digest = digest
        self.source = source
        self.pieces = pieces
    }

    /// All pieces were compared with the given digests.
    init(pieces hashes: PieceHashes) {
        let algorithm = hashes.algorithm.rawValue
        self.init(level: .given, algorithm: algorithm, digest: "", source: "", pieces: hashes.count)
    }

    /// `nil` where nothing was compared.
    package init?(_ result: VerificationResult?) {
        guard let result, let level = Level(rawValue: result.level.name) else { return nil }
        self.init(
            level: level, algorithm: result.algorithm.rawValue, digest: Hexadecimal.text(result.digest),
            source: result.source, pieces: result.pieces)
    }

    /// The form in which the queue stores it: the parts, separated by blanks; `pieces=N` in place of the digest.
    var stored: String { "\(level.rawValue) \(algorithm) \(pieces.map { "pieces=\($0)" } ?? digest) \(source)" }

    init?(stored: String) {
        let parts = stored.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 4, let level = Level(rawValue: parts[0]) else { return nil }
        let pieces = parts[2].hasPrefix("pieces=") ? Int(parts[2].dropFirst(7)) : nil
        let digest = pieces == nil ? parts[2] : ""
        self.init(level: level, algorithm: parts[1], digest: digest, source: parts[3], pieces: pieces)
    }

    /// As an object of JSON.
    package var json: JSON {
        var members = [
            JSON.Member("level", .string(level.rawValue)), JSON.Member("algorithm", .string(algorithm)),
            JSON.Member("digest", .string(digest)), JSON.Member("source", .string(source)),
            JSON.Member("weak", .bool(isWeak)),
        ]
        if let pieces { members.append(JSON.Member("pieces", .number(pieces))) }
        return .object(members)
    }

    /// Reads ``json``.
    package init?(json: JSON?) {
        guard let json, let level = json["level"]?.string.flatMap(Level.init(rawValue:)),
            let algorithm = json["algorithm"]?.string, let digest = json["digest"]?.string
        else { return nil }
        self.init(
            level: level, algorithm: algorithm, digest: digest, source: json["source"]?.string ?? "",
            pieces: json["pieces"]?.integer.map { Int($0) })
    }
}
