package import PawlBase

/// A fingerprint that proves that two responses have the same content: their validators, the host that sent
/// them, and the requested part.
package struct ContentFingerprint: Hashable, Sendable {
    /// Of the address that was given first.
    package let source: UInt64
    package let validators: UInt64

    /// `nil` without a strong tag or date (RFC 9110 §8.8): content rewritten within a second has the same
    /// weak ones.
    ///
    /// FTP and SFTP servers, and some HTTP servers, do not say what time it is. Their clock is compared with this machine's,
    /// `now`, and may be a day off: some send local time.
    package init?(
        source: String, host: String, selection: RequestedRange, validators response: Validators, now: UnixTime? = nil
    ) {
        let hasTag = response.entityTag.map { !$0.isWeak } ?? false
        guard hasTag || response.dateStrength == .strong || Self.isOld(response, now) else { return nil }
        self.source = CRC64.value(of: source.utf8)
        var check = CRC64()
        // Validators of another host prove nothing.
        check.feed(host.utf8)
        check.feed(0 as UInt8)
        check.feed(response.entityTag.map { $0.isWeak ? 2 : 1 as UInt8 } ?? 0)
        check.feed((response.entityTag?.opaque ?? "").utf8)
        check.feed(0 as UInt8)
        // With a strong tag the date says nothing more, and may be that of each response.
        let date = hasTag ? nil : response.lastModified
        check.feed(date.map { UInt64(bitPattern: $0.seconds) } ?? .max)
        selection.feed(&check)
        validators = check.value
    }

    private static let margin: Int64 = 86_400

    /// Of content whose responses prove nothing: it equals that of no response.
    package static func unproven(source: String) -> Self { Self(source: CRC64.value(of: source.utf8), validators: 0) }

    private static func isOld(_ response: Validators, _ now: UnixTime?) -> Bool {
        guard let now, response.entityTag == nil, response.dateStrength == .plain, let modified = response.lastModified
        else { return false }
        return modified.seconds < now.seconds - margin
    }
}

extension ContentFingerprint {
    /// Stored with an object that was made from this content.
    package var bytes: [UInt8] {
        var writer = JournalWriter()
        writer.put(source)
        writer.put(validators)
        return writer.bytes
    }
}

extension RequestedRange {
    /// Identifies the part in the owner attribute; `nil` for the whole.
    package var mark: UInt64? {
        guard self != .whole else { return nil }
        var check = CRC64()
        feed(&check)
        return check.value
    }

    fileprivate func feed(_ check: inout CRC64) { for word in words { check.feed(word) } }

    private var words: [UInt64] {
        switch self {
        case .whole: [0]
        case .from(let start): [1, UInt64(bitPattern: start)]
        case .closed(let range): [2, UInt64(bitPattern: range.start), UInt64(bitPattern: range.end)]
        case .suffix(let count): [3, UInt64(bitPattern: count)]
        }
    }
}

/// The record of a finished file's origin, so that it is not fetched again.
///
/// Stored in one extended attribute. The file's length and time are stored with it: a file changed since is
/// no longer the one that was downloaded.
package struct CompletionMark: Hashable, Sendable {
    package let fingerprint: ContentFingerprint
    package let length: Int64
    /// When the content was last changed, in nanoseconds since 1970.
    package let modified: Int64
    /// Whether its completion has been reported.
    package var isTold: Bool
    /// Whether the responses that it was made from had validators that prove what content it is.
    package let isProven: Bool

    package static let size = 40
    private static let version: UInt8 = 1

    package init(_ fingerprint: ContentFingerprint, isProven: Bool = true, length: Int64, modified: Int64, isTold: Bool)
    {
        self.fingerprint = fingerprint
        self.isProven = isProven
        self.length = length
        self.modified = modified
        self.isTold = isTold
    }

    package var bytes: [UInt8] {
        var writer = JournalWriter()
        writer.bytes.reserveCapacity(Self.size)
        writer.put(Self.version)
        writer.put(isTold ? 1 : 0 as UInt8)
        writer.put(isProven ? 0 : 1 as UInt16)
        writer.put(0 as UInt32)
        writer.put(fingerprint.source)
        writer.put(fingerprint.validators)
        writer.put(length)
        writer.put(modified)
        return writer.bytes
    }

    /// `nil` for bytes that no version of Pawl has written.
    package init?(_ bytes: [UInt8]) {
        var reader = JournalReader(bytes[...])
        guard bytes.count == Self.size, reader.take(UInt8.self) == Self.version, let reported = reader.take(UInt8.self),
            reported <= 1, let unproven = reader.take(UInt16.self), unproven <= 1, reader.take(UInt32.self) == 0,
            let source = reader.take(UInt64.self), let validators = reader.take(UInt64.self),
            let length = reader.take(Int64.self), let modified = reader.take(Int64.self), length >= 0
        else { return nil }
        fingerprint = ContentFingerprint(source: source, validators: validators)
        self.length = length
        self.modified = modified
        isTold = reported == 1
        isProven = unproven == 0
    }
}

extension ContentFingerprint {
    fileprivate init(source: UInt64, validators: UInt64) {
        self.source = source
        self.validators = validators
    }
}
