import PawlBase
import PawlJournal
import Testing

@Suite struct JudgeTests {
    private static let total: Int64 = 1000
    private static let tag = EntityTag(opaque: "a", isWeak: false)
    private static let known = Representation(total: total, mediaType: "application/zip")
    private static let record = ValidatorRecord(
        source: "http://a.example/f", host: "http://a.example",
        validators: Validators(entityTag: tag, lastModified: UnixTime(seconds: date), date: nil))
    private static let date: Int64 = 1_700_000_000

    private static func head(_ status: Int, _ change: (inout ResponseHead) -> Void = { _ in }) -> ResponseHead {
        var head = ResponseHead(status: status)
        head.entityTag = tag
        head.lastModified = UnixTime(seconds: date)
        change(&head)
        return head
    }

    private static func part(
        _ start: Int64, _ end: Int64, total: Int64? = total, _ change: (inout ResponseHead) -> Void = { _ in }
    ) -> ResponseHead {
        head(206) { head in
            head.contentRange = .range(ByteRange(start, end), total: total)
            change(&head)
        }
    }

    /// A verdict without its evidence.
    private static func kind(_ verdict: Judge.Verdict) -> String {
        switch verdict {
        case .usable(let body): "usable \(body.range) \(body.ranges)"
        case .wholeInstead(let body, _): "whole \(body.range)"
        case .changed: "changed"
        case .complete(let total, _): "complete \(total)"
        case .rangesBroken: "broken"
        case .openRangeRefused: "open range refused"
        case .validRangeRefused: "valid range refused"
        case .suspectPage: "suspect page"
        case .redirect(let target): "redirect \(target)"
        case .fault(.status(let status, let wait)): "status \(status) \(wait?.seconds ?? -1)"
        case .fault(.page): "page"
        case .fault(.badRedirect): "bad redirect"
        case .fault: "fault"
        }
    }

    private static func verdict(
        _ requested: RequestedRange, _ head: ResponseHead, known: Representation? = known, have: Int64? = nil,
        held: Int64 = 0, name: String? = nil
    ) -> String {
        let judge = Judge(
            requested: requested, known: known, record: known == nil ? nil : record, have: have, held: held, name: name)
        return kind(judge.verdict(on: head, wallTime: UnixTime(seconds: 0)))
    }

    @Test func `a part of a page with the tag of other content is compared`() {
        func evidence(_ type: String?) -> Evidence? {
            let judge = Judge(
                requested: .from(400), known: Self.known, record: Self.record, have: nil, held: 400, name: "f.zip")
            let head = Self.part(400, 1000) { $0.contentType = type }
            guard case .usable(let response) = judge.verdict(on: head, wallTime: UnixTime(seconds: 0)) else {
                return nil
            }
            return response.evidence
        }
        #expect(evidence("application/zip") == .strong && evidence(nil) == .strong)
        #expect(evidence("application/octet-stream") == .strong, "a program may name the same content otherwise")
        for page in ["text/html; charset=utf-8", "application/json", "text/plain"] { #expect(evidence(page) == .weak) }
    }

    @Test func `G1 a correct part is usable where it was requested`() {
        #expect(Self.verdict(.from(400), Self.part(400, 1000)) == "usable [400, 1000) shown")
        #expect(Self.verdict(.from(400), Self.part(400, 700)) == "usable [400, 700) shown")
        #expect(Self.verdict(.from(400), Self.part(400, 700, total: nil)) == "usable [400, 700) shown")
        #expect(Self.verdict(.closed(ByteRange(400, 500)), Self.part(400, 500)) == "usable [400, 500) shown")
        #expect(Self.verdict(.suffix(100), Self.part(900, 1000)) == "usable [900, 1000) shown")
        #expect(Self.verdict(.suffix(5000), Self.part(0, 1000)) == "usable [0, 1000) shown")
        #expect(Self.verdict(.whole, Self.part(0, 1000)) == "usable [0, 1000) shown")
        let fitting = Self.part(400, 1000) { $0.contentLength = 600 }
        #expect(Self.verdict(.from(400), fitting) == "usable [400, 1000) shown")
    }

    @Test(arguments: [
        part(399, 1000), part(401, 1000), part(0, 1000), head(206),
        head(206) { $0.contentRange = .malformed("bytes 9-1/2") },
        head(206) { $0.contentRange = .unsatisfied(total: 1000) },
        part(400, 1000) { $0.contentType = "multipart/byteranges; boundary=x" },
        part(400, 1000) { $0.contentEncoding = "gzip" }, part(400, 1000) { $0.contentLength = 601 },
        part(400, 1000) { $0.contentLength = 0 },
    ]) func `G1 a part other than the requested one is refused`(head: ResponseHead) {
        #expect(Self.verdict(.from(400), head) == "broken")
    }

    @Test func `G1 more than requested, or a part of the full range, is refused`() {
        #expect(Self.verdict(.closed(ByteRange(400, 500)), Self.part(400, 501)) == "broken")
        #expect(Self.verdict(.whole, Self.part(0, 999)) == "broken")
        #expect(Self.verdict(.whole, Self.part(0, 1000, total: nil)) == "broken")
        #expect(Self.verdict(.suffix(100), Self.part(800, 1000)) == "broken")
        #expect(Self.verdict(.suffix(100), Self.part(900, 950)) == "broken")
    }

    @Test func `E7 a part of changed content is detected before its position`() {
        let other = Self.part(400, 1000) { $0.entityTag = EntityTag(opaque: "b", isWeak: false) }
        #expect(Self.verdict(.from(400), other) == "usable [400, 1000) shown")
        let later = Self.part(0, 1000) { head in
            head.entityTag = EntityTag(opaque: "b", isWeak: false)
            head.lastModified = UnixTime(seconds: Self.date + 1)
        }
        #expect(Self.verdict(.from(400), later) == "changed")
        #expect(Self.verdict(.from(400), Self.part(400, 1001, total: 1001)) == "changed")
    }

    @Test(arguments: [nil, "application/octet-stream", "application/zip"])
    func `C6 a full response of another size without a validator must come twice`(type: String?) {
        func bare(_ length: Int64?) -> ResponseHead {
            var head = ResponseHead(status: 200)
            head.contentLength = length
            head.contentType = type
            return head
        }
        for length: Int64? in [19, 999, 5000, nil] { #expect(Self.verdict(.from(400), bare(length)) == "suspect page") }
        for length: Int64? in [19, 399, nil] {
            #expect(Self.verdict(.from(400), bare(length), held: 400) == "fault", "shorter than on disk")
        }
        #expect(Self.verdict(.from(400), bare(400), held: 400) == "suspect page")
        let tagged = Self.head(200) { head in
            head.contentLength = 19
            head.contentType = "application/zip"
        }
        #expect(Self.verdict(.from(400), tagged) == "whole [0, 19)")
    }

    @Test func `C6 fewer bytes than on disk without a validator must come twice, whatever was known`() {
        let bare = Representation(total: Self.total)
        func verdict(_ length: Int64) -> String {
            var head = ResponseHead(status: 200)
            head.contentLength = length
            let judge = Judge(requested: .from(400), known: bare, record: nil, have: nil, held: 400, name: "f.mkv")
            return Self.kind(judge.verdict(on: head, wallTime: UnixTime(seconds: 0)))
        }
        #expect([0, 19, 399].map(verdict) == Array(repeating: "suspect page", count: 3))
        #expect(verdict(5000) == "whole [0, 5000)")
    }

    @Test func `a 200 that says it is a part is no whole response`() {
        func said(_ range: ByteRange, _ total: Int64?, _ length: Int64) -> ResponseHead {
            Self.head(200) { head in
                head.contentRange = .range(range, total: total)
                head.contentLength = length
            }
        }
        for requested in [RequestedRange.whole, .from(400), .closed(ByteRange(400, 1000))] {
            #expect(Self.verdict(requested, said(ByteRange(400, 1000), 1000, 600)) == "broken")
            #expect(Self.verdict(requested, said(ByteRange(0, 600), 1000, 600)) == "broken")
            #expect(Self.verdict(requested, said(ByteRange(400, 1000), nil, 600)) == "broken")
        }
        #expect(Self.verdict(.whole, said(ByteRange(0, 1000), 1000, 1000)) == "usable [0, 1000) unstated")
        #expect(Self.verdict(.from(400), said(ByteRange(0, 1000), nil, 1000)) == "whole [0, 1000)")
    }

    @Test func `another length under the same strong tag replaces bytes only when it comes twice`() {
        let tail = Self.head(200) { $0.contentLength = 600 }
        #expect(Self.verdict(.from(400), tail, held: 400) == "suspect page")
        #expect(Self.verdict(.from(400), tail) == "whole [0, 600)")
    }

    @Test func `E2 a full response is usable at 0 only`() {
        let whole = Self.head(200) { $0.contentLength = Self.total }
        #expect(Self.verdict(.whole, whole) == "usable [0, 1000) unstated")
        #expect(Self.verdict(.from(0), whole) == "usable [0, 1000) unstated")
        #expect(Self.verdict(.from(1), whole) == "whole [0, 1000)")
        #expect(Self.verdict(.suffix(1), whole) == "whole [0, 1000)")
        let open = Self.head(200) { $0.acceptRanges = .bytes }
        #expect(Self.verdict(.whole, open, known: nil) == "usable [0, \(Int64.max)) shown")
        let none = Self.head(200) { $0.acceptRanges = .none }
        #expect(Self.verdict(.whole, none, known: nil) == "usable [0, \(Int64.max)) denied")
        let coded = Self.head(200) { $0.contentEncoding = "gzip" }
        #expect(Self.verdict(.whole, coded, known: nil) == "usable [0, \(Int64.max)) denied")
        let other = Self.head(200) { $0.contentLength = 7 }
        #expect(Self.verdict(.whole, other) == "whole [0, 7)")
    }

    @Test(
        arguments: [
            ("file.zip", "page"), ("page.html", "suspect page"), ("page.HTM", "suspect page"),
            ("README", "suspect page"), (nil, "page"),
        ] as [(String?, String)]) func `an HTML page in place of known content is not content`(
            name: String?, verdict: String
        )
    {
        let page = Self.head(200) { head in
            head.contentType = "Text/HTML; charset=utf-8"
            head.contentLength = 7
            head.entityTag = nil
        }
        let untyped = Representation(total: Self.total)
        #expect(Self.verdict(.whole, page, known: untyped, name: name) == verdict)
        #expect(Self.verdict(.whole, page, name: name) == "page", "a zip archive was there")
        #expect(Self.verdict(.whole, page, known: nil, name: name) == "usable [0, 7) unstated")
    }

    @Test func `C3 416 is success, change or rejection`() {
        func refused(_ total: Int64?) -> ResponseHead {
            Self.head(416) { head in if let total { head.contentRange = .unsatisfied(total: total) } }
        }
        #expect(Self.verdict(.from(1000), refused(1000), have: 1000) == "complete 1000")
        #expect(Self.verdict(.from(700), refused(700), known: nil, have: 700) == "complete 700")
        #expect(Self.verdict(.from(700), refused(700), have: 700) == "changed")
        #expect(Self.verdict(.from(700), refused(600), known: nil, have: 700) == "changed")
        #expect(Self.verdict(.from(700), refused(900), known: nil, have: 700) == "broken")
        #expect(Self.verdict(.suffix(7), refused(1000), have: 700) == "valid range refused")
        #expect(Self.verdict(.closed(ByteRange(700, 900)), refused(1000), have: 700) == "valid range refused")
        #expect(Self.verdict(.from(700), refused(nil), have: 700) == "open range refused")
        #expect(Self.verdict(.closed(ByteRange(700, 900)), refused(nil), have: 700) == "broken")
        let other = refused(1000)
        #expect(Self.verdict(.from(1000), other, have: 1000) == "complete 1000")
        #expect(Self.verdict(.from(700), refused(nil), known: nil) == "open range refused")
        #expect(Self.verdict(.from(700), refused(1000), known: nil) == "open range refused")
        #expect(Self.verdict(.from(700), refused(700), known: nil) == "status 416 -1.0")
        #expect(Self.verdict(.closed(ByteRange(7, 9)), refused(nil), known: nil) == "status 416 -1.0")
        #expect(Self.verdict(.closed(ByteRange(7, 9)), refused(1000), known: nil) == "fault")
        #expect(Self.verdict(.whole, refused(1000), have: 1000) == "status 416 -1.0")
    }

    @Test(arguments: [200, 206]) func `contradicting lengths prove nothing`(status: Int) {
        var head = status == 200 ? Self.head(200) : Self.part(0, 1000)
        head.hasContradictoryLength = true
        #expect(Self.verdict(.whole, head) == "fault")
        head.status = 503
        #expect(Self.verdict(.whole, head) == "status 503 -1.0")
    }

    @Test func `an impossible length is refused before it is used in a calculation`() {
        let longest: Int64 = 1 << 48 - 1
        for length in [longest, longest + 1, .max] {
            let heads = [
                Self.head(200) { $0.contentLength = length }, Self.part(0, 500, total: length),
                ResponseHead(fileLength: length, modified: nil),
            ]
            for head in heads {
                let judge = Judge(requested: .from(0), known: nil)
                #expect(
                    (Self.kind(judge.verdict(on: head, wallTime: .init(seconds: 0))) == "fault") == (length > longest))
            }
        }
    }

    @Test func `other statuses are failures, redirects are followed`() {
        for status in [301, 302, 303, 307, 308] {
            var head = Self.head(status) { $0.location = "/x" }
            #expect(Self.verdict(.whole, head) == "redirect /x")
            #expect(Self.verdict(.whole, Self.head(status)) == "bad redirect")
            head.hasContradictoryLocation = true
            #expect(Self.verdict(.whole, head) == "bad redirect")
        }
        #expect(Self.verdict(.whole, Self.head(503) { $0.retryAfter = "17" }) == "status 503 17.0")
        for status in [204, 300, 304, 401, 404, 500] {
            #expect(Self.verdict(.whole, Self.head(status)) == "status \(status) -1.0")
        }
    }

    @Test func `a file server's response is accepted at the requested offset and never as proof`() {
        let head = ResponseHead(fileLength: 1000, modified: UnixTime(seconds: Self.date))
        #expect(Self.verdict(.whole, head, known: nil) == "usable [0, 1000) shown")
        #expect(Self.verdict(.from(400), head) == "usable [400, 1000) shown")
        #expect(Self.verdict(.suffix(10), head, known: nil) == "usable [990, 1000) shown")
        #expect(Self.verdict(.closed(ByteRange(10, 20)), head, known: nil) == "usable [10, 20) shown")
        #expect(Self.verdict(.from(1000), head, have: 1000) == "complete 1000")
        #expect(Self.verdict(.from(1001), head, known: nil, have: 1001) == "changed")
        for start: Int64 in [1000, 1001] {
            #expect(Self.verdict(.from(start), head, known: nil) == "fault", "there is no such part")
        }
        #expect(Self.verdict(.from(400), ResponseHead(fileLength: 999, modified: nil)) == "changed")
        let open = ResponseHead(fileLength: nil, modified: nil)
        #expect(Self.verdict(.from(400), open, known: nil) == "usable [400, \(Int64.max)) shown")
        let judge = Judge(requested: .from(400), known: Self.known, record: Self.record)
        guard case .usable(let body) = judge.verdict(on: head, wallTime: UnixTime(seconds: 0)) else {
            Issue.record("not usable")
            return
        }
        #expect(body.evidence == .weak)
    }
}
