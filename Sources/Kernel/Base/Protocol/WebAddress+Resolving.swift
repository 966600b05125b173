extension WebAddress {
    /// The address that `reference` refers to in a response from this one (RFC 3986 §5.2), as in Location and
    /// Link: relative, with raw spaces, with user info (which is dropped) or a fragment (also dropped).
    ///
    /// Throws code 22, also when the reference has an unsupported scheme.
    package func resolving(_ reference: String) throws(Failure) -> WebAddress {
        do throws(AddressFlaw) { return try resolved(try Self.reference(reference)) } catch {
            throw Failure(
                .badResponse, "cannot follow the reference", at: "\(Redaction.address(reference)) from \(redacted)",
                because: error.why)
        }
    }

    private func resolved(_ reference: ArraySlice<UInt8>) throws(AddressFlaw) -> WebAddress {
        if Self.schemeEnd(reference) != nil { return try Self.read(reference).address }
        // It is one from the URL of the object, which only the transport knows.
        guard !isLocated else {
            throw AddressFlaw("address-relative-to-store", "it is relative to the URL of an object store")
        }
        if reference.starts(with: "//".utf8) {
            return try Self.read(scheme, afterSlashes: reference.dropFirst(2)).address
        }
        let (path, query) = Self.split(reference)
        var result = self
        if path.isEmpty {
            if query != nil { result.query = query }
            return result
        }
        result.query = query
        result.path = Self.withoutDotSegments(path.utf8.first == .slash ? path : folder + path)
        return result
    }

    /// The path up to its last slash.
    private var folder: String {
        let bytes = Array(path.utf8)
        let end = bytes.lastIndex(of: .slash).map { $0 + 1 } ?? 0
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// `path` without `.` and `..` (RFC 3986 §5.2.4), also where they are percent-encoded, which is
    /// equivalent (§6.2.2.2).
    ///
    /// The result always begins with a slash.
    static func withoutDotSegments(_ path: String) -> String {
        if hasPlainSegments(path) { return path }
        var segments: [Substring.UTF8View] = []
        var endsInSlash = false
        let relative = path.utf8.first == .slash ? path.dropFirst() : path[...]
        for segment in relative.utf8.split(separator: .slash, omittingEmptySubsequences: false) {
            let dots = dotCount(segment)
            endsInSlash = dots != 0
            switch dots {
            case 0: segments.append(segment)
            case 2: _ = segments.popLast()
            default: break
            }
        }
        var result: [UInt8] = []
        result.reserveCapacity(path.utf8.count + 1)
        for segment in segments {
            result.append(.slash)
            result.append(contentsOf: segment)
        }
        if endsInSlash || segments.isEmpty { result.append(.slash) }
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether the path begins with a slash and none of its segments with a dot, literal or encoded.
    private static func hasPlainSegments(_ path: String) -> Bool {
        guard path.utf8.first == .slash else { return false }
        var before = UInt8.slash
        for byte in path.utf8 {
            if before == .slash, byte == .dot || byte == .percent { return false }
            before = byte
        }
        return true
    }

    /// 1 for a segment equivalent to `.`, 2 for `..`, 0 for all others.
    private static func dotCount(_ segment: Substring.UTF8View) -> Int {
        guard 1...6 ~= segment.count else { return 0 }
        let bytes = PercentCoding.decoded(segment)
        return bytes == [.dot] ? 1 : bytes == [.dot, .dot] ? 2 : 0
    }
}
