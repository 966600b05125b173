package import PawlBase

/// What the validators of a response prove about the bytes on disk.
package enum Evidence: Hashable, Sendable {
    /// Equal strong entity tags: byte for byte the same (RFC 9110 §8.8.1).
    case strong
    /// Equal Last-Modified that is strong on both sides, and no tag: the same, and compared where two lanes
    /// meet.
    case dated
    /// No contradiction; this response has to contain bytes that are on disk already, and they are compared.
    case weak
    /// The entity tag differs from the only one seen so far: one more response shows whether this server's
    /// tags are stable.
    case unclear
    /// Another version, with the old and the new value.
    case changed(LocalizableMessage)
}

/// One host's validators of the representation on disk, for one address of it.
///
/// Tags and dates of another address or another host say nothing about each other (RFC 9110 §8.8.3).
package struct ValidatorRecord: Hashable, Sendable {
    /// How often the tag was seen.
    package enum TagStability: UInt8, Hashable, Sendable {
        case seenOnce
        /// Equal in two responses: a tag that differs from now on is another version.
        case stable
        /// It differs between responses, or the host's validators were contradicted by bytes: nothing from it
        /// is proof.
        case varying
    }

    /// The given address, as in ``JournalFacts/sources``.
    @Bytewise package var source: String
    /// Scheme, host and port that sent the response, redirects followed, and which target of a redirect it was.
    package var host: String
    package private(set) var validators: Validators
    package private(set) var stability: TagStability

    package init(source: String, host: String, validators: Validators, stability: TagStability = .seenOnce) {
        self.source = source
        self.host = host
        self.validators = validators
        self.stability = stability
    }

    /// The evidence expected of the host's next response, for planning.
    package var promise: Evidence {
        if stability == .varying { return .weak }
        if let tag = validators.entityTag { return tag.isWeak ? .weak : .strong }
        return validators.dateStrength == .strong ? .dated : .weak
    }

    package func evidence(for other: Validators) -> Evidence {
        let dates = compareDates(with: other)
        if stability == .varying { return dates.changed ?? .weak }
        switch (validators.entityTag, other.entityTag) {
        case (let mine?, let theirs?):
            guard mine.opaque == theirs.opaque else {
                if stability == .stable || dates.changed != nil {
                    return .changed(.entityTagChanged(from: mine.text, to: theirs.text))
                }
                return .unclear
            }
            return mine.isWeak || theirs.isWeak ? dates.changed ?? .weak : .strong
        case (nil, nil): return dates
        case (nil, _?), (_?, nil): return dates.changed ?? .weak
        }
    }

    private func compareDates(with other: Validators) -> Evidence {
        let (mine, theirs) = (validators.dateStrength, other.dateStrength)
        guard mine != .none, theirs != .none else { return .weak }
        guard validators.lastModified == other.lastModified else {
            // Content made for each request has a new date each time, which identifies no version.
            return mine == .generated && theirs == .generated
                ? .weak : .changed(.init("last-modified-changed", "its Last-Modified has changed"))
        }
        return min(mine, theirs) == .strong ? .dated : .weak
    }

    /// Notes the validators of another accepted response of the same version.
    package mutating func note(_ other: Validators) {
        if stability == .seenOnce, let tag = validators.entityTag, tag == other.entityTag { stability = .stable }
        if validators.entityTag == nil, other.entityTag != nil {
            validators.entityTag = other.entityTag
            stability = .seenOnce
        }
    }

    /// Treats nothing from this host as proof from now on.
    package mutating func distrust() { stability = .varying }
}

extension Evidence {
    /// Itself, if it is a change.
    fileprivate var changed: Evidence? { if case .changed = self { self } else { nil } }
}

extension EntityTag {
    /// The text in a header field.
    package var text: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }
}
