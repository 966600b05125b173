package import PawlBase

extension WebAddress {
    /// The address of an object, of a prefix, or of a bucket (an empty key).
    ///
    /// Throws code 28.
    package static func s3(bucket: String, key: String) throws(Failure) -> WebAddress {
        try located(.s3, root: bucket, key: key)
    }

    /// The bucket of an `s3:` address.
    package var bucket: String { host }
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
