extension ResponseHead {
    /// Parses the header block of one response: status line, fields, and the empty line if present.
    ///
    /// Lines end in CRLF or in a bare LF (RFC 9112 §2.2), folded ones are joined (§5.2). `nil` without a
    /// valid status line, and with a CR that ends no line: recipients differ in where they see the section's end then.
    ///
    /// An unused field costs a comparison of its name's length and no memory. `look` is called with every
    /// field, for the transport's own use.
    package init?(
        parsing head: [UInt8], look: (_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Void = { _, _ in }
    ) {
        var lines = HeadLines(head)
        guard !Self.hasBareReturn(head), let first = lines.next(), let status = Self.status(of: first) else {
            return nil
        }
        self.init(status: status)
        var framing = Framing()
        while let (name, value) = lines.nextField() {
            take(name, value, &framing)
            look(name, value)
        }
        contentLength = framing.contentLength
        hasContradictoryLength = framing.hasContradiction
        if contentEncoding?.utf8.isCaseInsensitively("identity") == true { contentEncoding = nil }
    }

    /// The same for bytes borrowed from a C library.
    package init?(parsing head: UnsafeRawBufferPointer) { unsafe self.init(parsing: [UInt8](head)) }

    /// Every field of ``lines``, in the order received.
    package var fields: [(name: String, value: String)] {
        var lines = HeadLines(lines)
        _ = lines.next()
        var fields: [(name: String, value: String)] = []
        while let (name, value) = lines.nextField() {
            guard !name.isEmpty else { continue }
            fields.append((String(field: name), String(field: value)))
        }
        return fields
    }

    /// The length of a header section with the empty line at its end, as its fields are read.
    package static func length(of head: [UInt8]) -> Int {
        var lines = HeadLines(head)
        guard lines.next() != nil else { return lines.index }
        while lines.nextField() != nil {}
        return lines.index
    }

    private static func hasBareReturn(_ head: [UInt8]) -> Bool {
        var next = 0
        while let found = head.firstIndex(of: .carriageReturn, from: next) {
            next = found + 1
            if next == head.count || head[next] != .lineFeed { return true }
        }
        return false
    }

    /// The status of `HTTP/1.1 206 Partial Content`; HTTP/2 and later have no minor number and no reason.
    private static func status(of line: ArraySlice<UInt8>) -> Int? {
        guard line.starts(with: "HTTP/".utf8) else { return nil }
        let version = line.dropFirst(5).prefix { !$0.isBlank }
        guard let major = version.first, major.isDigit, let minor = version.last, minor.isDigit,
            version.count == 1 || version.count == 3 && version[version.startIndex + 1] == .dot
        else { return nil }
        let digits = line[version.endIndex...].drop(while: \.isBlank).prefix { !$0.isBlank }
        guard digits.count == 3, let status = digits.decimalNumber, status >= 100 else { return nil }
        return Int(status)
    }

    /// Stores the field if a decision uses it.
    ///
    /// Dispatches on the length of the name.
    private mutating func take(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, _ framing: inout Framing) {
        func isNamed(_ wanted: StaticString) -> Bool { name.isCaseInsensitively(wanted) }
        if DigestField.mayBe(name) { takeDigest(name, value) }
        switch name.count {
        case 4:
            if isNamed("date") {
                if date == nil { date = UnixTime(httpDate: value) }
            } else if isNamed("etag") {
                if entityTag == nil { entityTag = EntityTag(parsing: value) }
            } else if isNamed("link") {
                Self.join(value, to: &link)
            }
        case 8: if isNamed("location") { take(location: value) }
        case 9: if isNamed("ratelimit") { take(rateLimit: value, \.limit) }
        case 11: if isNamed("retry-after") { Self.keepFirst(value, in: &retryAfter) }
        case 12: if isNamed("content-type") { Self.keepFirst(value, in: &contentType) }
        case 13:
            if isNamed("content-range") {
                take(contentRange: value)
            } else if isNamed("accept-ranges") {
                take(acceptRanges: value)
            } else if isNamed("last-modified"), lastModified == nil {
                lastModified = UnixTime(httpDate: value)
            }
        case 14: if isNamed("content-length") { framing.take(contentLength: value) }
        case 15: if isNamed("ratelimit-reset") { take(rateLimit: value, \.reset) }
        case 16:
            if isNamed("content-encoding") {
                Self.join(value, to: &contentEncoding)
            } else if isNamed("ratelimit-policy") {
                take(rateLimit: value, \.policy)
            }
        case 17: if isNamed("transfer-encoding") { framing.take(transferEncoding: value) }
        case 19:
            if isNamed("content-disposition"), !value.isEmpty, dispositions.count < Self.mostDispositions {
                dispositions.append(Array(value))
            } else if isNamed("ratelimit-remaining") {
                take(rateLimit: value, \.remaining)
            }
        // Only the first one counts (RFC 6797 §8.1).
        case 25: if isNamed("strict-transport-security") { Self.keepFirst(value, in: &transportSecurity) }
        default: break
        }
    }

    /// The lines of one field are one list.
    private mutating func take(rateLimit value: ArraySlice<UInt8>, _ field: WritableKeyPath<RateLimitFields, String?>) {
        var fields = rateLimit ?? RateLimitFields()
        Self.join(value, to: &fields[keyPath: field])
        rateLimit = fields
    }

    /// Copies of one address are harmless; two that differ are contradictory.
    private mutating func take(location value: ArraySlice<UInt8>) {
        guard !value.isEmpty else { return }
        let reference = Self.reference(value)
        if let location, !location.utf8.elementsEqual(reference.utf8) { hasContradictoryLocation = true }
        if location == nil { location = reference }
    }

    /// Two different ranges in one head are no range.
    private mutating func take(contentRange value: ArraySlice<UInt8>) {
        let field = ContentRangeField(parsing: value)
        contentRange = contentRange == .absent || contentRange == field ? field : .malformed(String(field: value))
    }

    private mutating func take(acceptRanges value: ArraySlice<UInt8>) {
        guard !value.isCaseInsensitively("bytes") else {
            acceptRanges = .bytes
            return
        }
        for unit in value.split(separator: .comma).map({ $0.trimmed(\.isBlank) }) {
            if unit.isCaseInsensitively("bytes") {
                acceptRanges = .bytes
            } else if unit.isCaseInsensitively("none"), acceptRanges == .unstated {
                acceptRanges = .none
            }
        }
    }

    private static func keepFirst(_ value: ArraySlice<UInt8>, in field: inout String?) {
        if field == nil, !value.isEmpty { field = String(field: value) }
    }

    private static func join(_ value: ArraySlice<UInt8>, to field: inout String?) {
        guard !value.isEmpty else { return }
        field = field.map { $0 + ", " + String(field: value) } ?? String(field: value)
    }

    /// A Location's bytes: those that are not UTF-8 are percent-encoded one by one, so that the server
    /// receives what it sent.
    private static func reference(_ value: ArraySlice<UInt8>) -> String {
        if let text = String(validating: value, as: UTF8.self) { return text }
        var bytes: [UInt8] = []
        for byte in value {
            if byte.isASCII {
                bytes.append(byte)
            } else {
                bytes += [.percent, PercentCoding.hexDigit(byte >> 4), PercentCoding.hexDigit(byte & 0xF)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The length of the body (RFC 9112 §6.3).
private struct Framing {
    private var length: Int64?
    private var isContradictory = false
    private var isTransferEncoded = false

    var hasContradiction: Bool { isContradictory && !isTransferEncoded }

    /// `nil` when unknown, contradictory, or overruled.
    var contentLength: Int64? { isContradictory || isTransferEncoded ? nil : length }

    /// `5, 5` and a second field with the same number are harmless copies (RFC 9110 §8.6).
    mutating func take(contentLength value: ArraySlice<UInt8>) {
        if let number = value.decimalNumber, length == nil || length == number {
            length = number
            return
        }
        for piece in value.pieces(between: .comma) {
            let number = piece.trimmed(\.isBlank).decimalNumber
            if number == nil || length != nil && length != number { isContradictory = true }
            length = number
        }
    }

    mutating func take(transferEncoding value: ArraySlice<UInt8>) {
        // `identity` was a coding of RFC 2616 that means none.
        for piece in value.split(separator: .comma) {
            let coding = piece.trimmed(\.isBlank)
            if !coding.isEmpty, !coding.isCaseInsensitively("identity") { isTransferEncoded = true }
        }
    }
}

extension ResponseHead {
    /// The first value of a field, by its name in lower case.
    package func field(_ name: String) -> String? {
        var lines = HeadLines(self.lines)
        _ = lines.next()
        while let (found, value) = lines.nextField() {
            if found.count == name.utf8.count, found.lazy.map(\.lowercased).elementsEqual(name.utf8) {
                return String(field: value)
            }
        }
        return nil
    }
}

/// The lines of a header block, up to the empty one; folded lines are joined by one space.
private struct HeadLines {
    private let head: [UInt8]
    private(set) var index = 0

    init(_ head: [UInt8]) { self.head = head }

    mutating func next() -> ArraySlice<UInt8>? {
        let line = nextRaw()
        guard !line.isEmpty else { return nil }
        guard isFold else { return line }
        var joined = Array(line)
        while isFold {
            let more = nextRaw().trimmed(\.isBlank)
            guard !more.isEmpty else { continue }
            joined.append(.space)
            joined.append(contentsOf: more)
        }
        return joined[...]
    }

    /// The next line that is a field, without white space around its parts.
    mutating func nextField() -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        while true {
            let start = index
            let line = nextBounds()
            guard !line.isEmpty else { return nil }
            if isFold {
                index = start
                guard let folded = next() else { return nil }
                if let field = Self.field(in: folded, folded.indices) { return field }
            } else if let field = Self.field(in: head[...], line) {
                return field
            }
        }
    }

    /// By index: each slice of the head would count a reference.
    private static func field(
        in bytes: ArraySlice<UInt8>, _ line: Range<Int>
    ) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        var colon = line.lowerBound
        while colon < line.upperBound, bytes[colon] != .colon { colon += 1 }
        guard colon < line.upperBound else { return nil }
        // White space before the colon violates RFC 9112 §5.1, and some servers send it.
        var (start, end) = (line.lowerBound, colon)
        while start < end, bytes[start].isBlank { start += 1 }
        while start < end, bytes[end - 1].isBlank { end -= 1 }
        let name = start..<end
        (start, end) = (colon + 1, line.upperBound)
        while start < end, bytes[start].isWhiteSpace { start += 1 }
        while start < end, bytes[end - 1].isWhiteSpace { end -= 1 }
        return (bytes[name], bytes[start..<end])
    }

    private var isFold: Bool { index < head.count && head[index].isBlank }

    private mutating func nextRaw() -> ArraySlice<UInt8> { head[nextBounds()] }

    /// The next line without its end.
    private mutating func nextBounds() -> Range<Int> {
        let start = index
        var end = head.firstIndex(of: .lineFeed, from: start) ?? head.count
        index = min(end + 1, head.count)
        if end > start, head[end - 1] == .carriageReturn { end -= 1 }
        return start..<end
    }
}
