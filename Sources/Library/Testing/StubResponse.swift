import PawlBase
import PawlDisk
import PawlJournal

/// A response of a ``StubOrigin``, and what goes wrong with it.
///
/// ```swift
/// .ok(bytes)                                  // with an entity tag, in ranges as they are requested
/// .ok(bytes).cut(after: 1_000)                // the connection is lost
/// .ok(bytes).slow(bytesPerSecond: 10_000)
/// .ok(bytes).withoutRanges().withoutLength()
/// .status(429, headers: ["Retry-After": "5"])
/// .failure(.connectionRefused)
/// ```
public struct StubResponse: Sendable {
    /// A failure instead of a response.
    public enum Failure: Sendable, Hashable, CaseIterable {
        /// The host's name is unknown.
        case unknownHost
        /// Nothing listens at the port.
        case connectionRefused
        /// The host does not answer the attempt to connect.
        case connectTimeout
        /// The connection is lost before a response.
        case connectionLost
        /// The server's certificate is rejected.
        case certificateRejected
    }

    /// Where a response goes on only when something happens.
    struct Hold: Sendable {
        var offset: Int
        /// `nil` holds for good.
        var gate: StubGate?
    }

    /// The status code; of ``ok(_:headers:)`` 200, and 206 or 416 where a range is requested.
    public var status: Int
    /// Its header fields; `Content-Length` and, for ranges, `Content-Range` are added.
    public var headers: [String: String]
    /// The body, of ``ok(_:headers:)`` that of the whole.
    public var body: [UInt8]

    var failure: Failure?
    var sendsRanges = false
    var sendsLength = true
    var cut: Int?
    var rate: Int?
    var holds: [Hold] = []

    /// The content at a URL, in ranges as they are requested.
    ///
    /// It has a strong entity tag that stands for its bytes, unless `headers` have `ETag`: other bytes have another one, in other
    /// processes too. An empty value leaves a field out.
    public static func ok(_ body: [UInt8], headers: [String: String] = [:]) -> StubResponse {
        var response = StubResponse(status: 200, headers: headers, body: body)
        response.sendsRanges = true
        if headers["ETag"] == nil {
            let digest = ContentDigest.digest(.sha256, of: body)
            response.headers["ETag"] = "\"\(Hexadecimal.text(Array(digest.prefix(16))))\""
        }
        return response
    }

    /// A response with this status code, such as 404, 429 with `Retry-After`, or 200 without an entity tag and ranges.
    public static func status(_ code: Int, headers: [String: String] = [:], body: [UInt8] = []) -> StubResponse {
        StubResponse(status: code, headers: headers, body: body)
    }

    /// A redirect to another URL, absolute or relative.
    public static func redirect(to url: String, status: Int = 302) -> StubResponse {
        StubResponse(status: status, headers: ["Location": url], body: [])
    }

    /// No response.
    public static func failure(_ failure: Failure) -> StubResponse {
        var response = StubResponse(status: 0, headers: [:], body: [])
        response.failure = failure
        return response
    }

    /// The connection is lost after so many bytes of this response's body.
    public func cut(after count: Int) -> StubResponse { with { $0.cut = max(0, count) } }

    /// After so many bytes of this response's body nothing follows, and the connection stays open.
    ///
    /// With a ``ManualClock``, hold it with a gate that is never opened instead: ``StubGate/reached()`` tells when the clock may move.
    public func stalled(after count: Int) -> StubResponse { held(after: count, until: nil) }

    /// After so many bytes of this response's body the rest follows when the test opens `gate`.
    public func held(after count: Int, until gate: StubGate) -> StubResponse {
        held(after: count, until: gate as StubGate?)
    }

    private func held(after count: Int, until gate: StubGate?) -> StubResponse {
        with { $0.holds = ($0.holds + [Hold(offset: max(0, count), gate: gate)]).sorted { $0.offset < $1.offset } }
    }

    /// The body comes at this speed, at least a byte a second.
    public func slow(bytesPerSecond rate: Int) -> StubResponse { with { $0.rate = max(1, rate) } }

    /// Requests for a range get the whole content.
    public func withoutRanges() -> StubResponse {
        with {
            $0.sendsRanges = false
            $0.headers["Accept-Ranges"] = "none"
        }
    }

    /// The response does not state its length: where its body ends, it is complete.
    public func withoutLength() -> StubResponse { with { $0.sendsLength = false } }

    /// There is no entity tag: nothing in a response proves which version it is of.
    public func withoutEntityTag() -> StubResponse { with { $0.headers["ETag"] = "" } }

    private func with(_ change: (inout StubResponse) -> Void) -> StubResponse {
        var response = self
        change(&response)
        return response
    }
}

extension StubResponse {
    /// What is sent for a request with this value of Range.
    func reply(toRange range: String?) -> (status: Int, headers: [String: String], body: ArraySlice<UInt8>) {
        var (code, fields, sent) = (status, headers, body[...])
        if sendsRanges {
            fields["Accept-Ranges"] = "bytes"
            if let range, let wanted = Self.range(range, of: body.count) {
                code = wanted.isEmpty ? 416 : 206
                sent = body[wanted]
                fields["Content-Range"] =
                    wanted.isEmpty
                    ? "bytes */\(body.count)" : "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(body.count)"
            }
        }
        if sendsLength { fields["Content-Length"] = "\(sent.count)" } else { fields["Content-Length"] = "" }
        return (code, fields.filter { !$0.value.isEmpty }, sent)
    }

    /// One range of bytes (RFC 9110 §14.1.2), empty where there is none of them; `nil` for anything else.
    static func range(_ text: String, of count: Int) -> Range<Int>? {
        guard text.hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?): return first <= last && first < count ? first..<min(last, count - 1) + 1 : 0..<0
        case (let first?, nil) where ends[1].isEmpty: return first < count ? first..<count : 0..<0
        case (nil, let length?) where ends[0].isEmpty: return length > 0 ? max(0, count - length)..<count : 0..<0
        case (_, _): return nil
        }
    }
}

extension StubResponse.Failure {
    var fault: TransferFault {
        switch self {
        case .unknownHost: TransferFault(.nameMissing, foreign: "there is no such host")
        case .connectionRefused: TransferFault(.connectionRefused, foreign: "the connection was refused")
        case .connectTimeout: TransferFault(.connectTimeout, foreign: "the host did not answer")
        case .connectionLost: TransferFault(.connectionLost, foreign: "the connection was lost")
        case .certificateRejected: TransferFault(.tls, foreign: "the certificate is not trusted")
        }
    }
}
