import Pawl

/// What the server said with the content, in the shape of `HTTPURLResponse`.
public struct SessionResponse: Sendable, Hashable {
    /// The status code; 0 for FTP and SFTP, and while nothing is known of an answer.
    public let statusCode: Int
    /// Every header field, as `HTTPURLResponse` has them: the values of one that came several times joined by commas.
    ///
    /// Names keep the letter case of the server; those of HTTP/2 and later, which have none, begin each word with a
    /// capital. For a task of an earlier run of the program, the fields that may tell a secret are missing.
    public let allHeaderFields: [String: String]
    /// The media type without parameters.
    public var mimeType: String? {
        value(forHTTPHeaderField: "Content-Type").map { String($0.prefix { $0 != ";" && $0 != " " }) }
    }
    /// Bytes of the whole content; −1 while unknown.
    public internal(set) var expectedContentLength = DownloadTask.unknownSize
    /// A safe file name, the server's or the address's.
    public internal(set) var suggestedFilename: String?

    init(statusCode: Int = 0, fields: [(name: String, value: String)] = []) {
        self.statusCode = statusCode
        var names: [String: String] = [:]
        var all: [String: String] = [:]
        for (name, value) in fields {
            let lower = name.lowercased()
            let shown = names[lower] ?? (name == lower ? Self.capitalised(name) : name)
            names[lower] = shown
            all[shown] = all[shown].map { "\($0), \(value)" } ?? value
        }
        allHeaderFields = all
    }

    init(_ response: DownloadResponse) {
        self.init(statusCode: response.status, fields: response.fields.map { ($0.name, $0.value) })
    }

    private static func capitalised(_ name: String) -> String {
        if name == "etag" { return "ETag" }
        let words = name.split(separator: "-", omittingEmptySubsequences: false)
        return words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "-")
    }

    /// A header field's value, letter case ignored.
    public func value(forHTTPHeaderField field: String) -> String? {
        let field = field.lowercased()
        return allHeaderFields.first { $0.key.lowercased() == field }?.value
    }
}
