/// What the bytes on disk are a part of: one selected representation (RFC 9110 §8), from one offset of it on.
///
/// A response is held against every part of this before its first byte counts.
package struct Representation: Hashable, Sendable {
    /// The part of the resource that was wanted; `nil` when nobody noted it (journals before version 3).
    package var wish: RequestedRange?
    /// Where the file begins in the resource; `nil` while only a response can tell.
    package var base: Int64?
    /// Content-Encoding in lower case, `nil` for the bytes as they are: coded and plain bytes never mix.
    package var coding: String?
    /// The resource's whole length in bytes, `nil` while unknown.
    package var total: Int64?
    /// `type/subtype`, to know an error page by.
    package var mediaType: String?
    /// What each host said of it that began the download or whose bytes were compared, the first one first.
    package private(set) var records: [ValidatorRecord]

    package init(
        wish: RequestedRange? = .whole,
        base: Int64? = 0,
        coding: String? = nil,
        total: Int64? = nil,
        mediaType: String? = nil,
        records: [ValidatorRecord] = []
    ) {
        self.wish = wish
        self.base = base
        self.coding = coding
        self.total = total
        self.mediaType = mediaType
        self.records = records
    }

    /// More hosts than these are not remembered; their bytes are compared instead.
    package static let mostRecords = 64

    package func record(of source: String, at host: String) -> ValidatorRecord? {
        records.first { $0.source == source && $0.host == host }
    }

    /// The host's bytes are shown to be these.
    package mutating func prove(_ source: String, at host: String, _ validators: Validators) {
        if let index = index(source, host) {
            records[index].note(validators)
        } else if records.count < Self.mostRecords {
            records.append(ValidatorRecord(source: source, host: host, validators: validators))
        }
    }

    /// Nothing that the host says is proof from now on.
    package mutating func distrust(_ source: String, at host: String) {
        if let index = index(source, host) { records[index].distrust() }
    }

    /// What a finished file of the part `wish` remembers of `source`, see ``ContentFingerprint``.
    package func fingerprint(of source: String, wish: RequestedRange) -> ContentFingerprint? {
        records.first { $0.source == source }.flatMap {
            ContentFingerprint(source: source, host: $0.host, wish: wish, validators: $0.validators)
        }
    }

    private func index(_ source: String, _ host: String) -> Int? {
        records.firstIndex { $0.source == source && $0.host == host }
    }

    /// The tag and date that the first host gave, for those who hand them on.
    package var validators: Validators { records.first?.validators ?? Validators() }

    /// Whether `other`, offered under another address, may be the same content: equal in all that is known, with an equal
    /// strong tag.
    ///
    /// Only a reason to look at these bytes: they are compared before anything is added to them.
    package func resembles(_ other: Representation) -> Bool {
        guard let total, total == other.total, coding == other.coding, base == other.base,
            let mine = validators.entityTag, !mine.isWeak
        else { return false }
        return mine == other.validators.entityTag
    }
}

/// Where bytes on disk are looked at when no header speaks for them.
package enum Sample {
    /// Bytes compared at one place.
    package static let length: Int64 = 64 * 1024

    /// Both ends and the middle of a run, or all of a short one.
    package static func places(of run: ByteRange) -> [ByteRange] {
        guard run.count > 3 * length else { return run.isEmpty ? [] : [run] }
        let middle = run.start + run.count / 2
        return [
            ByteRange(run.start, run.start + length), ByteRange(middle, middle + length),
            ByteRange(run.end - length, run.end),
        ]
    }
}
