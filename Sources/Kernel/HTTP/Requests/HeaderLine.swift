package import PawlBase

/// Request header lines as users give them: `Name: value`, `Name:` to leave a field out, `Name;` for one without a value.
package enum HeaderLine {
    /// The header lines of one kind of request.
    ///
    /// Throws when a line of the user could start another one.
    package static func lines(
        of values: TransferSettings.Values, carriesSecrets: Bool, bypassesCaches: Bool
    ) throws(TransferFault) -> [String] {
        var lines = ["Accept-Encoding: identity"]
        var taken: Set<String> = []
        for line in values.headers {
            guard FieldText.isSafe(line) else {
                throw TransferFault(
                    .other,
                    LocalizableMessage(
                        "fault-header-unsendable", "a request header cannot be sent: \(FieldText.message)"))
            }
            let name = name(of: line)
            // Ranges and codings are set by the transport: the response is judged against the request. No request has
            // a body: a server would take the next one for it.
            guard !Self.owned.contains(name), carriesSecrets || RequestField.mayCross(name) else { continue }
            taken.insert(name)
            lines.append(line)
        }
        if values.wantsDigest, !taken.contains("want-repr-digest") { lines.append("Want-Repr-Digest: sha-256=9") }
        if bypassesCaches {
            for (name, line) in [("cache-control", "Cache-Control: no-cache"), ("pragma", "Pragma: no-cache")]
            where !taken.contains(name) { lines.append(line) }
        }
        return lines
    }

    private static let owned: Set<String> = [
        "accept-encoding", "range", "if-range", "content-length", "transfer-encoding",
    ]

    /// The Referer field to send, if any.
    package static func referer(
        of values: TransferSettings.Values, to scheme: WebAddress.Scheme, whole: Bool
    ) -> String? {
        guard let referer = values.referer, !referer.isEmpty else { return nil }
        return whole ? referer : RequestField.referer(referer, acrossTo: scheme)
    }

    /// The field name of a line in lower case.
    package static func name(of line: String) -> String {
        let name = line.prefix { $0 != ":" && $0 != ";" }
        return String(name.filter { $0 != " " && $0 != "\t" }).lowercased()
    }

    /// With one Cookie field instead of several, where libcurl sends it: before all others.
    package static func joiningCookies(_ lines: [String]) -> [String] {
        let cookies = lines.filter(isCookie).map(value).filter { !$0.isEmpty }
        let others = lines.filter { !isCookie($0) }
        return cookies.isEmpty ? others : ["Cookie: " + cookies.joined(separator: "; ")] + others
    }

    package static func isCookie(_ line: String) -> Bool { name(of: line) == "cookie" }

    /// What follows the name.
    package static func value(of line: String) -> String {
        String(line.drop { $0 != ":" && $0 != ";" }.dropFirst().drop { $0 == " " || $0 == "\t" })
    }
}
