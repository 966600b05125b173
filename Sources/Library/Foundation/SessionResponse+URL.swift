#if Queue
public import Foundation
public import Pawl
import PawlBase
import PawlCore
public import PawlSession

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A response whose suggested file name is the one that the file has.
final class NamedResponse: HTTPURLResponse, @unchecked Sendable {  // set before it is shared
    /// What it was made from.
    let original: SessionResponse

    init?(_ response: SessionResponse, _ url: URL) {
        original = response
        super.init(
            url: url, statusCode: response.statusCode, httpVersion: "HTTP/1.1", headerFields: response.allHeaderFields)
    }

    required init?(coder: NSCoder) { nil }

    override var suggestedFilename: String? { original.suggestedFilename ?? super.suggestedFilename }
    override var expectedContentLength: Int64 { original.expectedContentLength }
}

extension SessionResponse {
    /// The URL of the response, after redirects.
    public var url: URL? { urlText.flatMap { URL(string: $0) } }

    /// The response as Foundation's type; the status is 0 for FTP and SFTP.
    public func httpResponse(for request: URL?) -> HTTPURLResponse? {
        guard let url = url ?? request else { return nil }
        return NamedResponse(self, url)
    }
}

extension DownloadResponse {
    /// The response as Foundation's type; the status is 0 for FTP and SFTP.
    public var httpResponse: HTTPURLResponse? {
        guard let url = URL(string: url) else { return nil }
        let fields = Dictionary(fields.map { ($0.name, $0.value) }) { "\($0), \($1)" }
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    }
}

extension SessionRequest {
    /// The request as Foundation's type; `nil` if its URL is none.
    public var urlRequest: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.allHTTPHeaderFields = allHTTPHeaderFields
        request.httpMethod = httpMethod
        request.httpBody = httpBody.map { Data($0) }
        if let timeoutInterval { request.timeoutInterval = timeoutInterval }
        return request
    }
}

extension DownloadTask {
    /// The first request.
    public var originalRequest: URLRequest? { firstRequest?.urlRequest }

    /// The request with the URL that redirects led to.
    public var currentRequest: URLRequest? { presentRequest?.urlRequest }

    /// The server's response, once known, as an `HTTPURLResponse`; also that of a task which failed.
    public var response: URLResponse? { sessionResponse?.httpResponse(for: originalRequest?.url) }

    /// The error of a failed task, a `URLError`.
    public var error: (any Error)? { sessionError?.urlError }

    /// The time before which the task does not start; `nil` (default) for none.
    ///
    /// Set it before the task is resumed; a background session stores it.
    public var earliestBeginDate: Date? {
        get { beginTime.map { Date(timeIntervalSince1970: $0) } }
        set { beginTime = newValue?.timeIntervalSince1970 }
    }
}

extension DownloadTaskMetrics {
    /// From the first resume of the task in this process to its end.
    public var taskInterval: DateInterval {
        DateInterval(
            start: Date(timeIntervalSince1970: interval.lowerBound),
            end: Date(timeIntervalSince1970: interval.upperBound))
    }
}

extension DownloadTaskTransactionMetrics {
    /// The request.
    public var request: URLRequest { sessionRequest.urlRequest ?? URLRequest(url: URL(fileURLWithPath: "/")) }

    /// The response; `nil` if there was none.
    public var response: HTTPURLResponse? { sessionResponse?.httpResponse(for: request.url) }

    /// When the request was started.
    public var fetchStartDate: Date? { Self.date(metrics.fetchStart) }
    /// When the look-up of the host's name began.
    public var domainLookupStartDate: Date? { Self.date(time(\.lookupStart)) }
    /// When the look-up of the host's name ended.
    public var domainLookupEndDate: Date? { Self.date(time(\.lookupEnd)) }
    /// When the connection was begun.
    public var connectStartDate: Date? { Self.date(time(\.connectStart)) }
    /// When the TLS handshake began.
    public var secureConnectionStartDate: Date? { Self.date(time(\.secureStart)) }
    /// When the TLS handshake ended.
    public var secureConnectionEndDate: Date? { Self.date(time(\.secureEnd)) }
    /// When the connection was established, with the TLS handshake.
    public var connectEndDate: Date? { Self.date(time(\.connectEnd)) }
    /// When the request began to be sent.
    public var requestStartDate: Date? { Self.date(time(\.requestStart)) }
    /// When the request was sent.
    public var requestEndDate: Date? { Self.date(time(\.requestEnd)) }
    /// When the first byte of the response came.
    public var responseStartDate: Date? { Self.date(time(\.responseStart)) }
    /// When the last byte of the response came, or the transfer was stopped.
    public var responseEndDate: Date? { Self.date(metrics.responseEnd) }

    private static func date(_ seconds: Double?) -> Date? { seconds.map { Date(timeIntervalSince1970: $0) } }
}
#endif
