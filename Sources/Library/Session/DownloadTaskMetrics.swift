#if Queue
package import Pawl
package import PawlBase

/// What was measured of a task, with the interface of `URLSessionTaskMetrics`.
///
/// Times are seconds since 1970. The library `PawlFoundation` has the same properties with `Date` and
/// `DateInterval`.
public struct DownloadTaskMetrics: Sendable, Hashable {
    /// The requests in their order, at most the first 256: redirects, retries, and the one for the content.
    ///
    /// A transfer that was suspended and continued is one request, with the bytes of all its parts.
    public let transactionMetrics: [DownloadTaskTransactionMetrics]
    /// From the first resume of the task in this process to its end.
    @_disfavoredOverload  // PawlFoundation has the same as a DateInterval.
    public let taskInterval: ClosedRange<Double>
    // For PawlFoundation, whose own properties hide these.
    package var interval: ClosedRange<Double> { taskInterval }
    /// The number of redirects that were followed.
    public let redirectCount: Int

    /// Creates metrics, for tests of delegates; ``redirectCount`` follows from the responses.
    public init(transactionMetrics: [DownloadTaskTransactionMetrics], taskInterval: ClosedRange<Double>) {
        self.transactionMetrics = transactionMetrics
        self.taskInterval = taskInterval
        redirectCount = zip(transactionMetrics, transactionMetrics.dropFirst()).count { first, next in
            first.response.map { (300..<400).contains($0.statusCode) } == true && first.url != next.url
        }
    }
}

/// ``DownloadTaskMetrics``, so that a delegate's method with a parameter of this name is called.
///
/// In a file that imports FoundationNetworking too, the compiler calls the name ambiguous: write `DownloadTaskMetrics` there. A
/// method with Foundation's type would never be called.
public typealias URLSessionTaskMetrics = DownloadTaskMetrics
/// ``DownloadTaskTransactionMetrics``, as ``URLSessionTaskMetrics``.
public typealias URLSessionTaskTransactionMetrics = DownloadTaskTransactionMetrics

/// What was measured of one request, with the interface of `URLSessionTaskTransactionMetrics`.
///
/// A time is `nil` where that part did not happen: a reused connection is not opened again.
public struct DownloadTaskTransactionMetrics: Sendable, Hashable {
    package let metrics: TransferMetrics
    private let original: SessionRequest
    /// The response; `nil` if there was none.
    @_disfavoredOverload  // PawlFoundation has Foundation's types under this and the following names.
    public let response: SessionResponse?

    init(_ metrics: TransferMetrics, of original: SessionRequest) {
        self.metrics = metrics
        self.original = original
        response = metrics.response.map { SessionResponse($0) }
    }

    /// Creates metrics of a request, for tests of delegates; times are seconds since 1970, `received` is the bytes of the
    /// response's body.
    public init(
        request: SessionRequest, response: SessionResponse? = nil, fetchStart: Double = 0, responseEnd: Double = 0,
        received: Int64 = 0, networkProtocolName: String? = "http/1.1", isReusedConnection: Bool = false,
        isProxyConnection: Bool = false
    ) {
        var timing = TransferTiming()
        timing.networkProtocol = networkProtocolName
        (timing.isReused, timing.isProxied) = (isReusedConnection, isProxyConnection)
        metrics = TransferMetrics(
            url: request.url, timing: timing, received: received, fetchStart: fetchStart, responseEnd: responseEnd)
        original = request
        self.response = response
    }

    var url: String { metrics.url }

    // For PawlFoundation, whose own properties hide these.
    package var sessionRequest: SessionRequest { request }
    package var sessionResponse: SessionResponse? { response }

    package func time(_ part: KeyPath<TransferTiming, Instant?>) -> Double? {
        metrics.time(metrics.timing[keyPath: part])
    }

    /// The request.
    @_disfavoredOverload public var request: SessionRequest {
        var request = original
        request.url = metrics.url
        return request
    }

    /// When the request was started.
    @_disfavoredOverload public var fetchStartDate: Double? { metrics.fetchStart }
    /// When the look-up of the host's name began.
    @_disfavoredOverload public var domainLookupStartDate: Double? { time(\.lookupStart) }
    /// When the look-up of the host's name ended.
    @_disfavoredOverload public var domainLookupEndDate: Double? { time(\.lookupEnd) }
    /// When the connection was begun.
    @_disfavoredOverload public var connectStartDate: Double? { time(\.connectStart) }
    /// When the TLS handshake began.
    @_disfavoredOverload public var secureConnectionStartDate: Double? { time(\.secureStart) }
    /// When the TLS handshake ended.
    @_disfavoredOverload public var secureConnectionEndDate: Double? { time(\.secureEnd) }
    /// When the connection was established, with the TLS handshake.
    @_disfavoredOverload public var connectEndDate: Double? { time(\.connectEnd) }
    /// When the request began to be sent.
    @_disfavoredOverload public var requestStartDate: Double? { time(\.requestStart) }
    /// When the request was sent.
    @_disfavoredOverload public var requestEndDate: Double? { time(\.requestEnd) }
    /// When the first byte of the response came.
    @_disfavoredOverload public var responseStartDate: Double? { time(\.responseStart) }
    /// When the last byte of the response came, or the transfer was stopped.
    @_disfavoredOverload public var responseEndDate: Double? { metrics.responseEnd }

    /// The protocol's ALPN name, such as `http/1.1` or `h2`; `nil` without a response.
    public var networkProtocolName: String? { metrics.timing.networkProtocol }
    /// Whether the connection was there already.
    public var isReusedConnection: Bool { metrics.timing.isReused }
    /// Whether a proxy was used.
    public var isProxyConnection: Bool { metrics.timing.isProxied }
    /// Bytes of the request's head.
    public var countOfRequestHeaderBytesSent: Int64 { Int64(metrics.timing.sentHead) }
    /// Downloads have no body in their requests: 0.
    public var countOfRequestBodyBytesSent: Int64 { 0 }
    /// Bytes of the response's head.
    public var countOfResponseHeaderBytesReceived: Int64 { Int64(metrics.timing.receivedHead) }
    /// Bytes of the response's body.
    public var countOfResponseBodyBytesReceived: Int64 { metrics.received }
    /// The same: content is not decoded.
    public var countOfResponseBodyBytesAfterDecoding: Int64 { metrics.received }
    /// The local IP address.
    public var localAddress: String? { metrics.timing.local?.address }
    /// The local port.
    public var localPort: Int? { metrics.timing.local?.port }
    /// The server's or proxy's IP address.
    public var remoteAddress: String? { metrics.timing.remote?.address }
    /// The server's or proxy's port.
    public var remotePort: Int? { metrics.timing.remote?.port }
    /// The TLS version, such as `TLSv1.3`; `nil` where it is not known.
    public var negotiatedTLSProtocolVersion: String? { metrics.timing.secureVersion }
    /// The cipher's name in OpenSSL; `nil` where it is not known.
    public var negotiatedTLSCipherSuite: String? { metrics.timing.cipher }
    /// Always ``ResourceFetchType-swift.enum/networkLoad``: there is no cache.
    public var resourceFetchType: ResourceFetchType { .networkLoad }

    /// Where a response came from.
    public enum ResourceFetchType: Int, Sendable, Hashable {
        /// Not known.
        case unknown
        /// The network.
        case networkLoad
        /// A server's push.
        case serverPush
        /// A cache.
        case localCache
    }
}
#endif
