package import PawlCore

/// Content under one path of a simulated server, and how it is served.
package struct SimulatedFile: Sendable, Hashable {
    /// What becomes of a request with Range.
    package enum Ranges: Sendable, Hashable {
        case honoured
        /// At most so many bytes of what was asked for.
        case capped(Int64)
        /// The whole file comes instead.
        case ignored
        /// 416 without a length.
        case refused
        /// Never any answer.
        case silent
        /// Another place than asked for, said honestly.
        case shifted(Int64)
        /// At most so many bytes, and nothing is said of the total.
        case cappedUntold(Int64)
        case untoldTotal
        case multipart
        /// 206 without Content-Range.
        case unlabelled
        /// A Content-Range that is none.
        case malformed
        /// Content-Range and body go on beyond what was asked for.
        case overlong(Int64)
        /// With a Content-Encoding.
        case coded
        /// Content-Length says other than Content-Range.
        case falseLength
        /// Content-Range says another total, with each answer.
        case otherTotal
    }

    /// What Last-Modified and Date of a response are.
    package enum Dates: Sendable, Hashable {
        /// An old Last-Modified beside the time of the response.
        case old
        /// Last-Modified is the time of the response: the content was made for it.
        case generated
        /// No Date.
        case undated
    }

    /// One of the machines behind an address that has other content of the same length and tag.
    package struct BadNode: Sendable, Hashable {
        package var payload: Payload
        /// How often a response is this one's.
        package var odds: Double

        package init(payload: Payload, odds: Double) {
            self.payload = payload
            self.odds = odds
        }
    }

    package var payload: Payload
    package var dates = Dates.old
    /// Each response has content of its own, of the same length.
    package var isRemade = false
    /// What a request without Range gets instead, coded and without a length; parts come as they are, under the same tag.
    package var coded: Payload?
    /// Whether a request for a part may get a page instead.
    package var mayBeAPage = false
    /// Requests are led to one of these hosts, each to the next.
    package var hops: [String] = []
    package var badNode: BadNode?
    package var entityTag: EntityTag?
    package var lastModified: UnixTime?
    package var ranges = Ranges.honoured
    package var statesLength = true
    /// A tag for each answer, as signed addresses of some stores have it.
    package var renewsTag = false
    package var contentType = "application/octet-stream"
    package var contentDisposition: String?
    /// Where the file is instead.
    package var location: String?
    /// The address leads to another one with a token that works so many times.
    package var tokenLife: Int?
    /// A status that takes the file's place.
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
    /// What happens to one request beside what its file says; byte counts are those of its own body.
    package enum Fault: Sendable, Hashable {
        case refused
        /// The connection breaks before any answer.
        case dropped
        case reset(after: Int64)
        case truncated(after: Int64)
        case stalled(after: Int64)
        /// Never any answer.
        case silent
        case status(Int, retryAfter: String? = nil)
        /// A request for a part gets a page with status 200 that says what is wrong.
        case page
        /// Bytes per second.
        case crawls(Int64)
    }

    /// What happens to requests beyond `connections`.
    package enum Overflow: Sendable, Hashable {
        case refuse
        case busy(retryAfter: String?)
        /// 403, as if the file were not for us.
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
    /// From the request to the head of its answer.
    package var latency = Interval.milliseconds(20)
    /// Bytes per second of one connection.
    package var rate: Int64 = 4 << 20
    /// Bytes per second of all connections together.
    package var totalRate: Int64?
    /// Connections at once; `nil` for any number.
    package var connections: Int?
    package var overflow = Overflow.refuse
    /// Bytes that arrive at a time.
    package var chunk = 64 * 1024
    /// Whether latencies and chunk sizes vary by the seed.
    package var isUneven = false
    /// Faults of certain requests, counted from 0 over this host.
    package var faults: [Int: Fault] = [:]
    /// Faults that may meet any request, drawn from the seed; the first that comes up is taken.
    package var chances: [Chance] = []
    /// How many of these are left.
    package var luck = Int.max
    /// Every request from now on gets this one.
    package var always: Fault?

    package init() {}

    /// Nothing happens any more but what its files are like.
    package mutating func calmDown() {
        faults = [:]
        chances = []
        always = nil
        connections = nil
        totalRate = nil
        rate = max(rate, 1 << 20)
    }
}

/// What became of one request.
package struct SimulatedRequest: Sendable, Hashable {
    package var at: Instant
    package var address: WebAddress
    package var range: RequestedRange
    package var connection: ConnectionUse
    package var carriesSecrets: Bool
    package var bypassesCaches: Bool
    package var bufferSize: Int
    /// 0 until there is an answer.
    package var status = 0
    /// What its receiver took, in the resource's offsets.
    package var taken = ByteRange(0, 0)
    /// Bytes that its server had sent and nobody read before it ended.
    package var unread: Int64 = 0
    /// `nil` while it goes on.
    package var end: Ending?

    package enum Ending: Sendable, Hashable {
        case told(TransferEnd)
        case cancelled
    }
}
