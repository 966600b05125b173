extension ContentRangeField {
    /// Parses `bytes 0-99/1234`, `bytes 0-99/*` and `bytes */1234`.
    ///
    /// Additional or different white space is accepted; every other departure from the norm is malformed: the
    /// judge relies on it.
    package init(parsing value: some Collection<UInt8>) {
        self = Self.parse(Array(value)[...].trimmed(\.isWhiteSpace)) ?? .malformed(String(field: value))
    }

    private static func parse(_ value: ArraySlice<UInt8>) -> ContentRangeField? {
        let unit = value.prefix { $0.isTokenCharacter }
        guard unit.isCaseInsensitively("bytes") else { return nil }
        let rest = value[unit.endIndex...]
        guard rest.first?.isBlank == true else { return nil }
        let halves = rest.pieces(between: .slash).map { $0.trimmed(\.isBlank) }
        guard halves.count == 2 else { return nil }
        let isTotalUnknown = halves[1].elementsEqual([.asterisk])
        let total = halves[1].decimalNumber
        guard isTotalUnknown || total != nil else { return nil }
        if halves[0].elementsEqual([.asterisk]) { return total.map { .unsatisfied(total: $0) } }
        let ends = halves[0].pieces(between: .dash).map { $0.trimmed(\.isBlank).decimalNumber }
        guard ends.count == 2, let first = ends[0], let last = ends[1] else { return nil }
        guard first <= last, last < total ?? Int64.max else { return nil }
        return .range(ByteRange(first, last + 1), total: total)
    }
}

extension EntityTag {
    /// Parses `"opaque"` and `W/"opaque"`.
    ///
    /// A tag without proper quotes is weak, since a server that cannot format a tag does not guarantee bytes
    /// by it. An empty tag has no meaning and is `nil`.
    ///
    /// The bytes are read as ISO-8859-1, so that tags are equal only when their bytes are.
    package init?(parsing value: some Collection<UInt8>) { self.init(parsing: Array(value)[...]) }

    init?(parsing value: ArraySlice<UInt8>) {
        var tag = value.trimmed(\.isWhiteSpace)
        let prefix = tag.prefix(2)
        let isMarkedWeak = prefix.isCaseInsensitively("w/")
        if isMarkedWeak { tag = tag.dropFirst(2).drop(while: \.isBlank) }
        let isQuoted = tag.count >= 2 && tag.first == .quote && tag.last == .quote
        var opaque = tag
        if opaque.first == .quote { opaque = opaque.dropFirst() }
        if opaque.last == .quote { opaque = opaque.dropLast() }
        guard !opaque.isEmpty else { return nil }
        let isProper = isQuoted && !opaque.contains { $0 == .quote || $0.isControl || $0 == .space }
        self.init(opaque: String(latin1: opaque), isWeak: isMarkedWeak || !isProper)
    }
}
