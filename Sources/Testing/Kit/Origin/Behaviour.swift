import PawlJournal

/// An origin's responses to requests for one path.
///
/// The default is an honest server; every property adds one fault or trait.
package struct Behaviour: Sendable {
    package var ranges = Ranges.honoured
    package var validators = Validators.strong
    package var framing = Framing.length
    package var coding = Coding.identity
    package var cut: Cut?
    /// Bytes per second of each response; `nil` is unlimited.
    package var pace: Int64?
    package var delay = Delay.none
    /// Sent instead of the content: errors, redirects, pages.
    package var instead: SubstituteResponse?
    package var login: Login?
    package var kept = Kept.open
    package var crowd: Crowd?
    /// Sent instead of HTTP, then the connection is closed; empty means that it closes without a response.
    package var garbage: [UInt8]?

    package var acceptRanges: String? = "bytes"
    package var contentType: String? = "application/octet-stream"
    /// The value of Content-Disposition, any bytes.
    package var disposition: [UInt8]?
    /// Further header lines as they are, without line end.
    package var lines: [[UInt8]] = []
    /// A second Content-Length field of this value.
    package var secondLength: Int64?
    /// Statuses of interim responses before the final one.
    package var interim: [Int] = []
    package var hasDate = true
    package var endsLinesWithBareLF = false

    package init() {}

    /// Adds a header line of text.
    package mutating func add(header line: String) { lines.append(Array(line.utf8)) }
}

extension Behaviour {
    /// The handling of requests with Range.
    package enum Ranges: Hashable, Sendable {
        case honoured
        /// 200 with everything.
        case ignored
        /// Held until released or closed.
        case unresponsive
        /// Always 416, with `bytes */total` when a total is given.
        case refused(total: Int64?)
        /// 206 with at most that many bytes.
        case capped(Int64)
        /// 206 as multipart/byteranges with one part.
        case multipart
        /// The range of the response starts that many bytes off, in Content-Range and body alike.
        case shifted(by: Int64)
        /// The right bytes under another Content-Range, or under none.
        case labelled(String?)
        /// Content-Range and body exceed the requested range by that many bytes.
        case overlong(by: Int64)
        /// Content-Range has another total.
        case otherTotal(Int64)
    }

    /// The validators of the content (RFC 9110 §8.8).
    package enum Validators: Hashable, Sendable {
        /// A strong ETag and Last-Modified.
        case strong
        case strongTagOnly
        case weakTagOnly
        case lastModifiedOnly
        /// Nothing but the length.
        case none
        /// Last-Modified, and a strong ETag that differs in every response for the same content.
        case freshTagEachTime
    }

    /// The framing of the body.
    package enum Framing: Hashable, Sendable {
        case length
        /// Content-Length is that much greater than the bytes sent (less than them when negative).
        case falseLength(by: Int64)
        case chunked
        /// Only the end of the connection ends it.
        case untilClose
        /// The same, as HTTP/1.0 without ranges.
        case http10
    }

    /// Content-Encoding of the responses.
    package enum Coding: Hashable, Sendable {
        case identity
        /// gzip for requests with Range.
        case gzipRanged
        /// gzip in every response.
        case gzip
    }

    /// The place where a response breaks.
    package struct Cut: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// RST.
            case reset
            /// FIN before the end that the framing promised.
            case close
            /// Silence until released, stopped, or closed by the client; then the response continues.
            case stall
            /// A chunk size that is no number, then FIN; for chunked responses.
            case badChunk
        }

        /// The position of the cut.
        package enum Position: Hashable, Sendable {
            /// After that many bytes of this response's body.
            case sent(Int64)
            /// At that offset of the content, for responses that reach it.
            case offset(Int64)
            /// At that offset and everywhere after it: a response that begins there sends no byte.
            case from(Int64)
        }

        package var kind: Kind
        package var place: Position

        package static func reset(after count: Int64) -> Cut { Cut(kind: .reset, place: .sent(count)) }
        package static func close(after count: Int64) -> Cut { Cut(kind: .close, place: .sent(count)) }
        package static func stall(after count: Int64) -> Cut { Cut(kind: .stall, place: .sent(count)) }
        package static func badChunk(after count: Int64) -> Cut { Cut(kind: .badChunk, place: .sent(count)) }
        package static func reset(at offset: Int64) -> Cut { Cut(kind: .reset, place: .offset(offset)) }
        package static func close(at offset: Int64) -> Cut { Cut(kind: .close, place: .offset(offset)) }
        package static func stall(at offset: Int64) -> Cut { Cut(kind: .stall, place: .offset(offset)) }
        package static func reset(from offset: Int64) -> Cut { Cut(kind: .reset, place: .from(offset)) }
        package static func close(from offset: Int64) -> Cut { Cut(kind: .close, place: .from(offset)) }
        package static func stall(from offset: Int64) -> Cut { Cut(kind: .stall, place: .from(offset)) }
    }

    /// Silence before the header section of the response.
    package enum Delay: Hashable, Sendable {
        case none
        case untilReleased
        case span(Duration)
    }

    /// The handling of the connection after a response.
    package enum Kept: Hashable, Sendable {
        case open
        /// Closed, as `Connection: close` announced.
        case closes
        /// Closed after the response without an announcement.
        case closesSilently
        /// Closed without a response when the next request arrives.
        case diesOnReuse
    }

    /// A limit of concurrent responses for one path.
    package struct Crowd: Sendable {
        package var limit: Int
        /// Sent to requests beyond the limit; `nil` closes their connection without a response.
        package var refusal: SubstituteResponse?

        package init(limit: Int, refusal: SubstituteResponse? = nil) {
            self.limit = limit
            self.refusal = refusal
        }
    }

    /// Credentials that a path requires.
    package enum Login: Hashable, Sendable {
        case basic(user: String, password: String)
        case digest(user: String, password: String)
    }
}
