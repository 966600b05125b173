package import PawlBase

/// The content under one path of a simulated server, and how it is served.
package struct SimulatedFile: Sendable, Hashable {
    /// The handling of a request with Range.
    package enum Ranges: Sendable, Hashable {
        case honoured
        /// At most this many bytes of the requested range.
        case capped(Int64)
        /// The whole file instead.
        case ignored
        /// 416 without a length.
        case refused
        /// No response at all.
        case silent
        /// Another range than the requested one, declared honestly.
        case shifted(Int64)
        /// At most this many bytes, with an unknown total.
        case cappedUntold(Int64)
        case untoldTotal
        case multipart
        /// 206 without Content-Range.
        case unlabelled
        /// A malformed Content-Range.
        case malformed
        /// Content-Range and body exceed the requested range.
        case overlong(Int64)
        /// With a Content-Encoding.
        case coded
        /// Content-Length differs from Content-Range.
        case falseLength
        /// Content-Range has another total in each response.
        case otherTotal
    }

    /// Last-Modified and Date of a response.
    package enum Dates: Sendable, Hashable {
        /// An old Last-Modified, and the time of the response as Date.
        case old
        /// Last-Modified is the time of the response: the content was generated for it.
        case generated
        /// No Date.
        case undated
    }

    /// A backend behind the same URL that has other content of the same length and tag.
    package struct BadNode: Sendable, Hashable {
        package var payload: Payload
        /// The probability that it serves a response.
        package var odds: Double

        package init(payload: Payload, odds: Double) {
            self.payload = payload
            self.odds = odds
        }
    }

    /// How an FTP server serves it.
    package struct FileServer: Sendable, Hashable {
        /// No REST.
        package var refusesOffsets: Bool
    }

    package var payload: Payload
    package var fileServer: FileServer?
    package var dates = Dates.old
    /// Whether each response has its own content, of the same length.
    package var isRemade = false
    /// The coded response, without a length, to a request without Range; ranges are served uncoded, under the same tag.
    package var coded: Payload?
    /// Whether a request with Range gets the coded response, too.
    package var codesRanges = false
    /// Whether a range request may get an HTML page instead.
    package var mayBeAPage = false
    /// Whether it may be one with the tag of the content: no digest of a piece would tell of it later.
    package var mayBeATaggedPage = false
    /// The next requests that get an error page with status 200, whatever they request.
    package var pagesLeft = 0
    /// Requests are redirected to one of these hosts, each to the next.
    package var hops: [String] = []
    package var badNode: BadNode?
    /// Every response breaks after this many bytes of its body.
    package var breaksAfter: Int64?
    package var entityTag: EntityTag?
    package var lastModified: UnixTime?
    package var ranges = Ranges.honoured
    package var statesLength = true
    /// Whether each response has a new tag, as with signed URLs of some stores.
    package var renewsTag = false
    package var contentType = "application/octet-stream"
    package var contentDisposition: String?
    /// The target of a redirect.
    package var location: String?
    /// Redirects to a URL with a token that works this many times.
    package var tokenLife: Int?
    /// The status of an error response instead of the file.
    package var status: Int?

    package init(_ payload: Payload) {
        self.payload = payload
        entityTag = EntityTag(opaque: "v1-\(payload.length)", isWeak: false)
        lastModified = UnixTime(seconds: 1_700_000_000)
    }

    package init(redirectTo location: String) {
        self.init(Payload([]))
        self.location = location
    }
}

/// A host of a simulated network.
package struct SimulatedServer: Sendable {
    /// A fault of one request, besides those of its file; byte counts are those of its own body.
    package enum Fault: Sendable, Hashable {
        case refused
        /// The connection breaks before any response.
        case dropped
        case reset(after: Int64)
        case truncated(after: Int64)
        case stalled(after: Int64)
        /// No response at all.
        case silent
        case status(Int, retryAfter: String? = nil)
        /// A range request gets an HTML page with status 200 that reports an error.
        case page
        /// A range request gets a 416 with the right length.
        case refusesRange
        /// Bytes per second.
        case crawls(Int64)
    }

    /// The handling of requests beyond `connections`.
    package enum Overflow: Sendable, Hashable {
        case refuse
        case busy(retryAfter: String?)
        /// 403, as if access were denied.
        case deny
        /// The connection breaks without a response.
        case drop
    }

    package struct Chance: Sendable, Hashable {
        package var fault: Fault
        package var odds: Double

        package init(_ fault: Fault, _ odds: Double) {
            self.fault = fault
            self.odds = odds
        }
    }

    package var files: [String: SimulatedFile] = [:]
    /// The time from the request to the header section of its response.
    package var latency = Interval.milliseconds(20)
    /// Bytes per second of one connection.
    package var rate: Int64 = 4 << 20
    /// Bytes per second of all connections together.
    package var totalRate: Int64?
    /// The connection limit; `nil` for none.
    package var connections: Int?
    package var overflow = Overflow.refuse
    /// The bytes that arrive at a time.
    package var chunk = 64 * 1024
    /// Whether latencies and chunk sizes vary by the seed.
    package var isUneven = false
    /// The faults of certain requests, counted from 0 over this host.
    package var faults: [Int: Fault] = [:]
    /// Faults that any request may have, drawn from the seed; the first that comes up is used.
    package var chances: [Chance] = []
    /// The remaining number of these.
    package var luck = Int.max
    /// The fault of every request from now on.
    package var always: Fault?
    /// Every so many responses state that the quota is used up for a second.
    package var quota: Int?

    /// How it uses HTTP/1.1: not a fault, since a client copes with all of it.
    package var http = SimulatedHTTP()
    /// The same of HTTP/2, where it has that over TLS.
    package var http2: SimulatedHTTP2?

    package init() {}

    /// Removes all faults except the traits of its files.
    package mutating func calmDown() {
        faults = [:]
        chances = []
        always = nil
        connections = nil
        quota = nil
        totalRate = nil
        rate = max(rate, 1 << 20)
        http2?.calmDown()
    }
}

/// The record of one request.
package struct SimulatedRequest: Sendable, Hashable {
    package var at: Instant
    package var address: WebAddress
    package var range: RequestedRange
    package var connection: ConnectionUse
    package var carriesSecrets: Bool
    package var bypassesCaches: Bool
    package var bufferSize: Int
    /// 0 until there is a response.
    package var status = 0
    /// The bytes that the receiver took, in the resource's offsets.
    package var taken = ByteRange(0, 0)
    /// Bytes that the server had sent and that were not read before the end.
    package var unread: Int64 = 0
    /// `nil` while it is in progress.
    package var end: Ending?

    package enum Ending: Sendable, Hashable {
        case reported(TransferEnd)
        case cancelled
    }
}
