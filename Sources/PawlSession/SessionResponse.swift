import Pawl

/// What the server said with the content, in the shape of `HTTPURLResponse`.
public struct SessionResponse: Sendable, Hashable {
    /// The status code; 0 for FTP and SFTP.
    public let statusCode: Int
    /// The header fields that tell of the content.
    public let allHeaderFields: [String: String]
    /// The media type without parameters.
    public var mimeType: String? {
        allHeaderFields["Content-Type"].map { String($0.prefix { $0 != ";" && $0 != " " }) }
    }
    /// Bytes of the whole content; −1 while unknown.
    public let expectedContentLength: Int64
    /// A safe file name, the server's or the address's.
    public let suggestedFilename: String?

    init(_ response: DownloadResponse?, total: Int64?, name: String?) {
        statusCode = response?.status ?? 0
        expectedContentLength = total ?? DownloadTask.unknownSize
        suggestedFilename = name
        var fields: [String: String] = [:]
        fields["Content-Type"] = response?.contentType
        fields["Content-Disposition"] = response?.contentDisposition
        fields["ETag"] = response?.entityTag
        fields["Content-Length"] = response?.contentLength.map { String($0) }
        allHeaderFields = fields
    }

    /// A header field's value, letter case ignored.
    public func value(forHTTPHeaderField field: String) -> String? {
        allHeaderFields.first { $0.key.lowercased() == field.lowercased() }?.value
    }
}
