#if Queue
import Pawl

/// The server's response for the content, with the interface of `HTTPURLResponse`.
public struct SessionResponse: Sendable, Hashable {
    /// The URL of the response, after redirects; `nil` while no response is known.
    ///
    /// For a task of an earlier run of the program, secrets in it are missing.
    @_disfavoredOverload  // PawlFoundation has the same as a URL.
    public internal(set) var url: String?
    /// ``url`` for PawlFoundation, whose own property hides it.
    package var urlText: String? { url }
    /// The status code; 0 for FTP and SFTP, and while no response is known.
    public let statusCode: Int
    /// Every header field, as in `HTTPURLResponse`: values of repeated fields are joined by commas.
    ///
    /// Names keep the server's letter case; those of HTTP/2 and later, which are lowercase, are capitalized.
    /// For a task of an earlier run of the program, fields that may contain a secret are missing.
    public let allHeaderFields: [String: String]
    /// The media type without parameters.
    public var mimeType: String? {
        value(forHTTPHeaderField: "Content-Type").map { String($0.prefix { $0 != ";" && $0 != " " }) }
    }
    /// Bytes of the whole content; −1 while unknown.
    public internal(set) var expectedContentLength = DownloadTask.unknownSize
    /// A safe file name, from the server or the URL.
    public internal(set) var suggestedFilename: String?

    /// Used without a response.
    package init(statusCode: Int = 0, fields: [(name: String, value: String)] = []) {
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

    /// Creates a response, for tests of delegates.
    public init(url: String, statusCode: Int = 200, headerFields: [String: String] = [:]) {
        self.init(statusCode: statusCode, fields: headerFields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        self.url = url
        expectedContentLength =
            value(forHTTPHeaderField: "Content-Length").flatMap(Int64.init) ?? DownloadTask.unknownSize
    }

    init(_ response: DownloadResponse) {
        self.init(statusCode: response.status, fields: response.fields.map { ($0.name, $0.value) })
        url = response.url.isEmpty ? nil : response.url
        expectedContentLength = response.contentLength ?? DownloadTask.unknownSize
    }

    private static func capitalised(_ name: String) -> String {
        if name == "etag" { return "ETag" }
        let words = name.split(separator: "-", omittingEmptySubsequences: false)
        return words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "-")
    }

    /// The character set of Content-Type, in lower case.
    public var textEncodingName: String? {
        guard let type = value(forHTTPHeaderField: "Content-Type"),
            let mark = type.lowercased().firstRange(of: "charset=")
        else { return nil }
        let name = type.lowercased()[mark.upperBound...].prefix { $0 != ";" && $0 != " " }
        return name.isEmpty ? nil : name.filter { $0 != "\"" }
    }

    /// A header field's value, case-insensitive.
    public func value(forHTTPHeaderField field: String) -> String? {
        let field = field.lowercased()
        return allHeaderFields.first { $0.key.lowercased() == field }?.value
    }
}
#endif
