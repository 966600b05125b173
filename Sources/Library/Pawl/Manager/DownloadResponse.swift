import PawlBase
import PawlEngine

/// The server's response for the content, or the one that ended a download that failed.
public struct DownloadResponse: Sendable, Hashable, Codable {
    /// The URL of the response, after redirects, including secrets.
    ///
    /// Empty for a stored response of an earlier version of Pawl; of one of an earlier run of the program the
    /// secrets are missing.
    public var url: String {
        get { lazyURL.text }
        set { lazyURL = .text(newValue) }
    }
    /// The status code; 0 for FTP and SFTP, which have none.
    public var status: Int
    /// Content-Type as sent.
    public var contentType: String?
    /// Content-Disposition as sent.
    public var contentDisposition: String?
    /// The entity tag, including its quotes.
    public var entityTag: String?
    /// Last-Modified in seconds since 1970.
    public var lastModified: Int64?
    /// Content-Length of this response's body.
    public var contentLength: Int64?
    /// Every header field in order of arrival; empty for FTP and SFTP.
    ///
    /// Cookies and other secrets are among them. Pawl never logs them.
    public var fields: [Field] {
        get { list.fields }
        set { list = .fields(newValue) }
    }

    private var lazyURL: LazyURL
    private var list: FieldList

    private enum CodingKeys: String, CodingKey {
        case status, contentType, contentDisposition, entityTag, lastModified, contentLength
        case lazyURL = "url"
        case list = "fields"
    }

    /// One header field.
    public struct Field: Sendable, Hashable, Codable, CustomStringConvertible {
        /// The name as sent.
        public var name: String
        /// The value, without surrounding whitespace.
        public var value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// The field line, with secrets redacted.
        public var description: String { Redaction.header("\(name): \(value)") }
    }

    /// The value of a header field, case-insensitive; `nil` if it is missing.
    ///
    /// Values of repeated fields are joined by commas (RFC 9110 §5.3).
    public func value(of name: String) -> String? {
        let name = name.lowercased()
        let values = fields.filter { $0.name.lowercased() == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Creates a response, for tests of hooks; ``contentType`` and the like are those of `fields`.
    public init(url: String, status: Int = 200, fields: [Field] = []) {
        let lines = fields.map { "\($0.name): \($0.value)\n" }.joined()
        let head = ResponseHead(parsing: Array("HTTP/1.1 \(status)\n\(lines)\n".utf8))
        self.init(head ?? ResponseHead(status: status))
        self.url = url
        self.fields = fields
    }

    init(_ head: ResponseHead, from address: WebAddress? = nil) {
        lazyURL = address.map { .address($0) } ?? .text("")
        status = head.status
        contentType = head.contentType
        contentDisposition = head.contentDisposition
        entityTag = head.entityTag?.text
        lastModified = head.lastModified?.seconds
        contentLength = head.contentLength
        list = .head(head)
    }
}

// Most programs read neither, and for thousands of small files, both would take a seventh of the CPU time.
extension DownloadResponse {
    /// A URL that is written out when it is needed.
    fileprivate enum LazyURL: Sendable {
        case address(WebAddress)
        case text(String)

        var text: String {
            switch self {
            case .address(let address): address.text
            case .text(let text): text
            }
        }
    }

    /// Header fields that are parsed when they are needed.
    fileprivate enum FieldList: Sendable {
        case head(ResponseHead)
        case fields([Field])

        var fields: [Field] {
            switch self {
            case .head(let head): head.fields.map { Field(name: $0.name, value: $0.value) }
            case .fields(let fields): fields
            }
        }
    }
}

extension DownloadResponse.LazyURL: Hashable, Codable {
    static func == (left: Self, right: Self) -> Bool { left.text == right.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }
    init(from decoder: any Decoder) throws { self = .text(try String(from: decoder)) }
    func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

extension DownloadResponse.FieldList: Hashable, Codable {
    static func == (left: Self, right: Self) -> Bool { left.fields == right.fields }
    func hash(into hasher: inout Hasher) { hasher.combine(fields) }
    init(from decoder: any Decoder) throws { self = .fields(try [DownloadResponse.Field](from: decoder)) }
    func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}

extension DownloadResponse {
    /// Lines for the queue's record, without fields that may contain a secret.
    var kept: [String] {
        guard status > 0 else { return [] }
        let shown = fields.filter { !Redaction.isSecret(name: $0.name.lowercased()) }
        return ["HTTP/1.1 \(status)"] + shown.map { "\($0.name): \($0.value)" }
    }

    init?(kept lines: [String], url: String?) {
        let bytes = Array(lines.joined(separator: "\n").utf8)
        guard var head = ResponseHead(parsing: bytes) else { return nil }
        head.lines = bytes
        self.init(head)
        self.url = url ?? ""
    }
}

extension EngineEvent {
    /// The response of a start, a failure, or the finished content.
    var response: DownloadResponse? { head.map { DownloadResponse($0, from: address) } }

    /// The error of a failed download, with its response.
    func error(_ failure: Failure) -> PawlError {
        var error = PawlError(failure)
        error.response = response
        error.responseBody = page
        return error
    }
}

extension EntityTag {
    /// The header field's format.
    var text: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }
}
