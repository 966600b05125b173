// `s3://BUCKET/KEY`: keys are literal, so `?`, `#`, `%` and spaces are characters of the key like any other.
extension WebAddress {
    /// The address of an object, of a prefix, or of a bucket (an empty key).
    ///
    /// Throws code 28.
    package static func s3(bucket: String, key: String) throws(Failure) -> WebAddress {
        let text = "s3://\(bucket)/\(key)"
        do throws(AddressFlaw) {
            return try readS3(allowed(Array(text.utf8)[...], inKey: true).dropFirst("s3://".utf8.count))
        } catch { throw failure(error, text) }
    }

    /// Parses the text after `s3://`.
    static func readS3(_ rest: ArraySlice<UInt8>) throws(AddressFlaw) -> WebAddress {
        let bucket = rest.prefix { $0 != .slash }
        let key = rest[bucket.endIndex...].dropFirst()
        guard !bucket.isEmpty else {
            throw AddressFlaw("address-without-bucket", "it names no bucket", remedy: "write s3://BUCKET/KEY")
        }
        guard !bucket.contains(.at) else {
            throw AddressFlaw(
                "address-login-before-bucket", "it has a login before its bucket",
                remedy: "put the access key into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or into a profile")
        }
        let isName = bucket.allSatisfy { $0.isLetter || $0.isDigit || $0 == .dash || $0 == .dot || $0 == .underscore }
        guard isName, bucket.first != .dot, bucket.last != .dot, bucket.count <= 255 else {
            throw AddressFlaw(
                "address-bucket",
                "\(Redaction.clipped(Redaction.printable(text(bucket)), to: 64)) is not a valid bucket name")
        }
        guard String(validating: key, as: UTF8.self) != nil else {
            throw AddressFlaw("address-key-not-text", "its key is not UTF-8")
        }
        // Clients and proxies resolve them, so that another object would be requested than the one that was named.
        guard
            !key.pieces(between: .slash).contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
        else { throw AddressFlaw("address-key-part", "its key has a part . or ..") }
        return WebAddress(
            scheme: .s3, host: text(bucket), port: Scheme.s3.defaultPort,
            path: "/" + S3Text.encoded(key, keepingSlash: true), query: nil)
    }

    /// The bucket of an `s3:` address.
    package var bucket: String { host }

    /// The key of an `s3:` address, as its owner wrote it.
    package var objectKey: String { Self.objectKey(path) }

    /// Whether it names a bucket or the beginning of keys rather than an object.
    package var isS3Prefix: Bool { scheme == .s3 && path.utf8.last == .slash }

    private static func objectKey(_ path: String) -> String { text(PercentCoding.decoded(path.utf8.dropFirst())) }

    static func s3Text(bucket: String, path: String) -> String { "s3://\(bucket)/\(objectKey(path))" }

    private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// Texts of S3 requests.
package enum S3Text {
    /// All but unreserved characters percent-encoded, as the signature requires.
    package static func encoded(_ bytes: some Sequence<UInt8>, keepingSlash: Bool = false) -> String {
        PercentCoding.reversible(bytes, keepingSlash: keepingSlash)
    }

    /// Parameters as the query of a URL, sorted as the signature requires.
    package static func query(_ parameters: [(name: String, value: String)]) -> String? {
        guard !parameters.isEmpty else { return nil }
        var pairs: [(name: String, value: String)] = []
        for (name, value) in parameters { pairs.append((encoded(name.utf8), encoded(value.utf8))) }
        pairs.sort { first, second in
            first.name == second.name
                ? first.value < second.value : first.name.utf8.lexicographicallyPrecedes(second.name.utf8)
        }
        return pairs.map { $0.name + "=" + $0.value }.joined(separator: "&")
    }

    /// `20130524T000000Z`.
    static func timestamp(_ time: UnixTime) -> String {
        let days = time.seconds >= 0 ? time.seconds / 86_400 : (time.seconds - 86_399) / 86_400
        let second = time.seconds - days * 86_400
        let (year, month, day) = UnixTime.civil(days)
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
        return "\(year)\(two(month))\(two(day))T\(two(second / 3600))\(two(second / 60 % 60))\(two(second % 60))Z"
    }
}
