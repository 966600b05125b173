package import PawlBase

/// The selected representation (RFC 9110 §8) that the bytes on disk are a part of, from one offset of it on.
///
/// A response is compared with every field of this before its first byte is used.
package struct Representation: Hashable, Sendable {
    private struct Fields: Hashable {
        var selection: RequestedRange?
        var base: Int64?
        var coding: String?
        var total: Int64?
        var mediaType: String?
        var records: [ValidatorRecord]
        var suspect: SuspectPage?
        var digests: [LearntDigest] = []
        var damage: String?
        var openJoints: [Int64] = []
    }

    private var shared: CopyOnWrite<Fields>

    private var fields: Fields {
        _read { yield shared.value }
        _modify { yield &shared.value }
    }

    /// The requested part of the resource; `nil` when it was not recorded (journals before version 3).
    package var selection: RequestedRange? {
        get { fields.selection }
        set { fields.selection = newValue }
    }
    /// The offset of the file's first byte in the resource; `nil` until a response states it (suffix ranges).
    package var base: Int64? {
        get { fields.base }
        set { fields.base = newValue }
    }
    /// Content-Encoding in lower case, `nil` for identity: coded and plain bytes are never mixed.
    package var coding: String? {
        get { fields.coding }
        set { fields.coding = newValue }
    }
    /// The resource's whole length in bytes, `nil` while unknown.
    package var total: Int64? {
        get { fields.total }
        set { fields.total = newValue }
    }
    /// `type/subtype`, to detect an error page.
    package var mediaType: String? {
        get { fields.mediaType }
        set { fields.mediaType = newValue }
    }
    /// The validators of each host that began the download or whose bytes were compared, the first one first.
    package private(set) var records: [ValidatorRecord] {
        _read { yield fields.records }
        _modify { yield &fields.records }
    }
    /// The last whole response that was not this content: possibly a new version, or an error page.
    package var suspect: SuspectPage? {
        get { fields.suspect }
        set { fields.suspect = newValue }
    }
    /// The digests that origins stated.
    package var digests: [LearntDigest] {
        _read { yield fields.digests }
        _modify { yield &fields.digests }
    }
    /// Why the bytes on disk were not accepted, once all of them were there.
    package var damage: String? {
        get { fields.damage }
        set { fields.damage = newValue }
    }
    /// Offsets in the file where bytes of two responses meet that were not compared there, though no strong tag covers
    /// both.
    package var openJoints: [Int64] {
        _read { yield fields.openJoints }
        _modify { yield &fields.openJoints }
    }

    package init(
        selection: RequestedRange? = .whole, base: Int64? = 0, coding: String? = nil, total: Int64? = nil,
        mediaType: String? = nil, records: [ValidatorRecord] = []
    ) {
        shared = CopyOnWrite(
            Fields(
                selection: selection, base: base, coding: coding, total: total, mediaType: mediaType, records: records))
    }

    /// The maximum number of hosts that are recorded; the bytes of others are compared instead.
    package static let maximumRecords = 64

    package func record(of source: String, at host: String) -> ValidatorRecord? {
        records.first { $0.source.hasSameBytes(as: source) && $0.host == host }
    }

    /// Records a joint, unless one strong tag covers all bytes.
    package mutating func noteOpenJoint(_ joint: Int64) {
        guard records.count != 1 || records[0].promise != .strong, !openJoints.contains(joint) else { return }
        openJoints.append(joint)
    }

    /// Sets the whole length, unless it is known.
    package mutating func learn(total: Int64?) { self.total = self.total ?? total }

    /// Records that the host's bytes are proven to be these.
    package mutating func prove(_ source: String, at host: String, _ validators: Validators) {
        if let index = index(source, host) {
            records[index].note(validators)
        } else if records.count < Self.maximumRecords {
            records.append(ValidatorRecord(source: source, host: host, validators: validators))
        }
    }

    /// Treats nothing from the host as proof from now on.
    package mutating func distrust(_ source: String, at host: String) {
        if let index = index(source, host) { records[index].distrust() }
    }

    /// What is stored with a finished file to recognize it: the content of `selection` as `source` sent it.
    ///
    /// `now` is this machine's time while the file is described; `nil` where it is not known.
    package func fingerprint(of source: String, selection: RequestedRange, now: UnixTime? = nil) -> ContentFingerprint?
    {
        records.first { $0.source.hasSameBytes(as: source) }.flatMap {
            ContentFingerprint(source: source, host: $0.host, selection: selection, validators: $0.validators, now: now)
        }
    }

    /// What is kept of it when its bytes are discarded: the type, and who sent validators.
    package var former: Representation {
        var former = Representation(mediaType: mediaType)
        former.records = records.filter { !$0.validators.isEmpty }
        return former
    }

    private func index(_ source: String, _ host: String) -> Int? {
        records.firstIndex { $0.source.hasSameBytes(as: source) && $0.host == host }
    }

    /// The first host's entity tag and date.
    package var validators: Validators { records.first?.validators ?? Validators() }

    /// Whether `other`, offered under another address, may be the same content: equal in all that is known,
    /// with an equal strong tag.
    ///
    /// Only a reason to try these bytes: they are compared before anything is added to them.
    package func resembles(_ other: Representation) -> Bool {
        guard let total, total == other.total, coding == other.coding, base == other.base,
            let mine = validators.entityTag, !mine.isWeak
        else { return false }
        return mine == other.validators.entityTag
    }
}

/// A full response without evidence that it is a new version; stored, so that it counts when it comes again in
/// a later run.
package struct SuspectPage: Hashable, Sendable {
    package var total: Int64?
    package var mediaType: String?

    package init(total: Int64?, mediaType: String?) {
        self.total = total
        self.mediaType = mediaType
    }
}
