@testable import PawlBase
@testable import PawlJournal

/// The head of a response, as the judge reads it and as Pawl's HTTP client frames it.
enum HeadLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest() + Array("\r\n\r\n".utf8)
        try checkReplies(bytes)
        let head = ResponseHead(parsing: bytes)
        if let head { try check(head) }
        guard let (framing, content) = try? ResponseFraming.read(bytes) else { return }
        guard let head else { throw BrokenLaw(description: "framed, and no head") }
        try checkEnd(of: bytes)
        try hold(content == head, "two contents of one head")
        try hold(framing.status == head.status, "two statuses: \(framing.status), \(head.status)")
        switch framing.body {
        case .length(let length):
            try hold(head.contentLength == length, "two lengths: \(length), \(head.contentLength ?? -1)")
        case .chunked: try hold(head.contentLength == nil, "chunked and of length \(head.contentLength ?? -1)")
        case .untilClose, .none: break
        }
    }

    /// Where the connection sees the end of the section, its fields end too: no field is hidden behind that.
    private static func checkEnd(of bytes: [UInt8]) throws(BrokenLaw) {
        var reader = ResponseReader()
        reader.begin()
        let (used, step) = unsafe bytes.withUnsafeBytes { unsafe reader.scan($0) }
        guard case .head(let found) = step, found.status >= 200 else { return }
        // Interim sections come before it.
        let length = found.lines.count
        try hold(Array(bytes[(used - length)..<used]) == found.lines, "other bytes than those of the section")
        let end = ResponseHead.length(of: found.lines)
        try hold(end == length, "the fields end at \(end), the section at \(length)")
    }

    /// The same bytes as lines of an FTP server: what it says of the file stays as it was said first.
    private static func checkReplies(_ bytes: [UInt8]) throws(BrokenLaw) {
        var replies = FileReplies(start: Int64(bytes.count % 3))
        var length: Int64?
        for line in bytes.split(separator: 0x0A) {
            replies.note(line)
            try hold(replies.length ?? 0 >= 0, "a length below zero")
            try hold(length == nil || replies.length == length, "two lengths")
            length = replies.length
        }
        if let length, replies.contradiction == nil {
            let exceeds = !replies.fits(Int(length) + 1)
            try hold(exceeds, "more bytes than the length")
        }
    }

    private static func check(_ head: ResponseHead) throws(BrokenLaw) {
        try hold(100...999 ~= head.status, "status \(head.status)")
        try hold(head.contentLength ?? 0 >= 0, "a length below zero")
        try hold(!(head.hasContradictoryLength && head.contentLength != nil), "contradictory, and a length")
        try ContentRangeLaws.check(head.contentRange)
        if let tag = head.entityTag { try hold(!tag.opaque.isEmpty, "an empty tag") }
        if let field = head.retryAfter { try RetryAfterLaws.check(field, now: head.date?.seconds ?? 0) }
        if let field = head.link, let address = try? WebAddress.parse("https://h.example/d/f").address {
            let found = DescribedSources(field, of: address, allowsDowngrade: false)
            try hold(found.duplicates.count <= DescribedSources.most, "too many duplicates")
            try hold(found.duplicates.allSatisfy { $0.scheme.isSecure }, "a less secure duplicate")
            try hold(
                found.description.map { $0.host == address.host && $0.scheme.isSecure } ?? true,
                "a description on another host")
        }
        if let address = try? WebAddress.parse("https://example.org/a").address {
            if let location = head.location { _ = try? address.resolving(location) }
            for policy in NamingPolicy.allCases {
                try NamingLaws.checkSafe(NamingPolicy.choose(policy, address: address, head: head))
            }
        }
        _ = head.isMultipart
    }
}

/// Content-Range: a parsed range is valid, and a valid range is parsed.
enum ContentRangeLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        if input.flag() {
            let (start, count) = (input.number() / 4, input.number() / 4 + 1)
            let range = ByteRange(start, start + count)
            let total = input.flag() ? range.end + input.number() / 4 : nil
            let text = "bytes \(range.start)-\(range.end - 1)/\(total.map(String.init) ?? "*")"
            try hold(ContentRangeField(parsing: text.utf8) == .range(range, total: total), text)
        } else {
            try check(ContentRangeField(parsing: input.rest()))
        }
    }

    static func check(_ field: ContentRangeField) throws(BrokenLaw) {
        switch field {
        case .range(let range, let total):
            try hold(range.count > 0, "an empty range")
            try hold(range.end <= total ?? .max, "\(range) is beyond \(total ?? -1)")
        case .unsatisfied(let total): try hold(total >= 0, "a total below zero")
        case .absent, .malformed: break
        }
    }
}

/// Retry-After: whatever a server sends, the wait is between zero and a day.
enum RetryAfterLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        if input.flag() {
            let seconds = input.number()
            let wait = RetryAfter.parse("\(seconds)", now: UnixTime(seconds: 0))
            let whole = min(seconds, RetryAfter.longest.nanoseconds / 1_000_000_000)
            try hold(wait?.nanoseconds == whole * 1_000_000_000, "\(seconds) became \(wait?.seconds ?? -1)")
        } else {
            let now = input.number()
            try check(input.text(), now: now)
        }
    }

    static func check(_ field: String, now: Int64) throws(BrokenLaw) {
        guard let wait = RetryAfter.parse(field, now: UnixTime(seconds: now)) else { return }
        try hold(Interval.zero <= wait && wait <= RetryAfter.longest, "a wait of \(wait.seconds) s")
    }
}

/// HTTP dates: a parsed date is written as the same date.
enum DateLaws {
    /// The end of the year 9999: the format has four digits only.
    private static let last: Int64 = 253_402_300_799
    private static let first: Int64 = -62_167_219_200

    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let now = UnixTime(seconds: input.number() % last)
        if input.flag() {
            let seconds = input.number()
            let time = UnixTime(seconds: input.flag() ? -seconds : seconds)
            _ = time.httpDate
            try checkRoundTrip(UnixTime(seconds: time.seconds % last), now)
        } else if let time = UnixTime(httpDate: input.rest()[...], now: now) {
            try checkRoundTrip(time, now)
        }
    }

    private static func checkRoundTrip(_ time: UnixTime, _ now: UnixTime) throws(BrokenLaw) {
        guard first...last ~= time.seconds else { return }
        let again = UnixTime(httpDate: time.httpDate, now: now)
        try hold(again == time, "\(time.seconds), written \(time.httpDate), read \(again?.seconds ?? 0)")
    }
}
