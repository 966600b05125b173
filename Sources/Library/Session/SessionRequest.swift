#if Queue
import Pawl
import PawlBase

/// A request of a task, with the interface of `URLRequest`.
///
/// Downloads are GET requests without a body. A task with another method or a body fails with
/// `PawlError.Code.badOption` when it is resumed, before anything is sent.
public struct SessionRequest: Sendable, Hashable {
    /// The URL, including secrets.
    public var url: String
    /// The method; only `GET` can be downloaded.
    public var httpMethod: String? = "GET"
    /// The body; a download has none.
    public var httpBody: [UInt8]?
    /// Seconds without any data before a connection is dropped.
    ///
    /// Default `nil`: ``DownloadSessionConfiguration/timeoutIntervalForRequest``.
    public var timeoutInterval: Double?
    /// Header fields by name.
    ///
    /// `Range`, `If-Range`, `Content-Length`, `Transfer-Encoding` and fields without a value are refused as other methods
    /// are: the session sets them to resume, or cannot send them. The part of a file is `range` of
    /// ``DownloadSessionConfiguration/options``.
    public var allHTTPHeaderFields: [String: String] = [:]
    /// The body is a stream.
    package var hasBodyStream = false

    /// Creates a request for this URL.
    public init(url: String) { self.url = url }

    /// The value of a header field, case-insensitive.
    public func value(forHTTPHeaderField field: String) -> String? {
        allHTTPHeaderFields.first { $0.key.lowercased() == field.lowercased() }?.value
    }

    /// Sets a header field, or removes it with `nil`; names are case-insensitive.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        let known = allHTTPHeaderFields.keys.first { $0.lowercased() == field.lowercased() }
        allHTTPHeaderFields[known ?? field] = value
    }

    /// The reason why no download can make this request.
    func refusal(adding fields: [String: String]) -> PawlError? {
        let given = [allHTTPHeaderFields, fields].flatMap { $0 }
        let names = given.map(\.key)
        let field = names.first { ["range", "if-range"].contains($0.lowercased()) }
        let framing = names.first { ["content-length", "transfer-encoding"].contains($0.lowercased()) }
        let empty = given.first { $0.value.allSatisfy(\.isWhitespace) }?.key
        let method = httpMethod ?? "GET"
        let why: String? =
            if method.uppercased() != "GET" {
                "the method is '\(Redaction.printable(method))', and a download is a GET request"
            } else if hasBodyStream || httpBody?.isEmpty == false {
                "it has a body, and a download is a GET request without one"
            } else if let field {
                "the session sets \(field) itself; the option for a part of a file is range"
            } else if let framing {
                "it has the field \(framing), and a download is a GET request without a body"
            } else if let empty { "its field \(Redaction.printable(empty)) has no value" } else { nil }
        return why.map { why in
            PawlError(Failure(.badOption, "cannot download", at: Redaction.address(url), because: why))
        }
    }

    /// The request to a redirect's target, with the fields that are sent there.
    func redirected(to target: String, sendingAll: Bool) -> SessionRequest {
        var request = self
        request.url = target
        let origins = [url, target].map { try? WebAddress.parse($0).address.origin }
        guard !sendingAll, origins[0] != origins[1] else { return request }
        request.allHTTPHeaderFields = allHTTPHeaderFields.filter { RequestField.mayCross($0.key.lowercased()) }
        return request
    }

    /// The fields that a delegate has added to the request that it was offered, or changed in it.
    ///
    /// A field of `offered` may be missing, as in a new request: the session sends those that the target may get.
    func fields(addedTo offered: SessionRequest) -> [DownloadResponse.Field] {
        allHTTPHeaderFields.sorted { $0.key < $1.key }.filter { offered.value(forHTTPHeaderField: $0.key) != $0.value }
            .map { DownloadResponse.Field(name: $0.key, value: $0.value) }
    }
}
#endif
