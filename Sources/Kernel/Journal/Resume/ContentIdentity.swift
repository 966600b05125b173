package import PawlBase

/// What one response's head says of the selected representation (RFC 9110 §8): length, coding, type,
/// validators.
package struct ContentIdentity: Hashable, Sendable {
    private struct Fields: Hashable {
        var total: Int64?
        var coding: String?
        var mediaType: String?
        var validators: Validators
    }

    private var fields: CopyOnWrite<Fields>

    /// The whole length in bytes, `nil` while unknown.
    package var total: Int64? {
        get { fields.value.total }
        set { fields.value.total = newValue }
    }
    /// Content-Encoding in lower case, `nil` for identity.
    package var coding: String? { fields.value.coding }
    /// `type/subtype` in lower case, without parameters.
    package var mediaType: String? { fields.value.mediaType }
    package var validators: Validators {
        get { fields.value.validators }
        set { fields.value.validators = newValue }
    }

    package init(
        total: Int64? = nil, coding: String? = nil, mediaType: String? = nil, validators: Validators = Validators()
    ) { fields = CopyOnWrite(Fields(total: total, coding: coding, mediaType: mediaType, validators: validators)) }

    package init(_ head: ResponseHead, total: Int64?) {
        self.init(
            total: total, coding: head.contentEncoding?.lowercased(),
            mediaType: head.contentType.flatMap { MediaType.name(in: $0) }, validators: Validators(head))
    }
}

/// The validators of one response (RFC 9110 §8.8).
package struct Validators: Hashable, Sendable {
    /// The strength of a Last-Modified.
    package enum DateStrength: UInt8, Hashable, Sendable, Comparable {
        /// Absent, or a date of 1970, which no server means.
        case none
        /// Not before the Date of its own response, as for content made for each request.
        case generated
        /// Its age at the time of the response is unknown (no Date; FTP and SFTP have none).
        case plain
        /// At least a second before the Date of its own response (RFC 9110 §8.8.2.2).
        case strong

        package static func < (left: DateStrength, right: DateStrength) -> Bool { left.rawValue < right.rawValue }
    }

    package var entityTag: EntityTag?
    package private(set) var lastModified: UnixTime?
    package private(set) var dateStrength: DateStrength

    package init(entityTag: EntityTag? = nil) {
        self.entityTag = entityTag
        dateStrength = .none
    }

    package init(entityTag: EntityTag? = nil, lastModified: UnixTime?, date: UnixTime?) {
        self.entityTag = entityTag
        self.lastModified = lastModified
        dateStrength = Self.strength(of: lastModified, at: date)
    }

    /// As stored in a journal.
    package init(entityTag: EntityTag?, lastModified: UnixTime?, strength: DateStrength) {
        self.entityTag = entityTag
        self.lastModified = lastModified
        dateStrength = lastModified == nil ? .none : strength
    }

    package init(_ head: ResponseHead) {
        self.init(entityTag: head.entityTag, lastModified: head.lastModified, date: head.date)
    }

    private static func strength(of lastModified: UnixTime?, at date: UnixTime?) -> DateStrength {
        guard let lastModified, lastModified.seconds >= endOf1970 else { return .none }
        guard let date else { return .plain }
        return lastModified.seconds < date.seconds ? .strong : .generated
    }

    private static let endOf1970: Int64 = 365 * 86_400

    package var isEmpty: Bool { entityTag == nil && dateStrength == .none }
}
