@testable import PawlBase

// The response heads that a walk tries.
extension WalkState {
    static func head(_ response: WalkEvent.Response, to requested: RequestedRange) -> ResponseHead {
        switch response {
        case .right: return served(requested)
        case .softPart:
            var head = served(requested)
            head.entityTag = EntityTag(opaque: "another", isWeak: false)
            return head
        case .weakPart:
            var head = served(requested)
            head.entityTag?.isWeak = true
            return head
        case .untaggedPart:
            var head = served(requested)
            head.entityTag = nil
            head.date = UnixTime(seconds: 1_800_000_000)
            return head
        case .codedWhole:
            var head = served(.whole)
            head.contentEncoding = "gzip"
            head.contentLength = nil
            return head
        case .rightOfUnknownLength:
            var head = served(requested)
            if head.status == 200 { head.contentLength = nil }
            return head
        case .capped: return served(requested) { $0.end = min($0.end, $0.start + 1 << 20) }
        case .whole: return served(.whole)
        case .changedPart: return served(requested, version: 2)
        case .changedWhole: return served(.whole, version: 2, length: length - 5)
        case .shifted: return served(requested) { $0.start = max(0, $0.start - 1000) }
        case .refusedRange: return ResponseHead(status: 416)
        case .allThere: return refused(length)
        case .page:
            var head = ResponseHead(status: 200)
            head.contentType = "text/html"
            return head
        case .elsewhere:
            var head = ResponseHead(status: 302)
            head.location = "/elsewhere"
            return head
        case .notFound: return ResponseHead(status: 404)
        case .overloaded: return ResponseHead(status: 503)
        }
    }

    private static func refused(_ total: Int64) -> ResponseHead {
        var head = ResponseHead(status: 416)
        head.contentRange = .unsatisfied(total: total)
        return head
    }

    /// The response of an honest server, except for what `bend` does to the range that it sends.
    private static func served(
        _ requested: RequestedRange, version: Int64 = 1, length: Int64 = WalkState.length,
        bend: (inout ByteRange) -> Void = { _ in }
    ) -> ResponseHead {
        var range =
            switch requested {
            case .whole: ByteRange(0, length)
            case .from(let start): ByteRange(min(start, length), length)
            case .closed(let range): ByteRange(min(range.start, length), min(range.end, length))
            case .suffix(let count): ByteRange(max(0, length - count), length)
            }
        if requested != .whole {
            if range.isEmpty { return refused(length) }
            bend(&range)
        }
        var head = ResponseHead(status: requested == .whole ? 200 : 206)
        head.entityTag = EntityTag(opaque: "v\(version)", isWeak: false)
        head.lastModified = UnixTime(seconds: 1_700_000_000 + version)
        head.acceptRanges = .bytes
        head.contentType = "application/octet-stream"
        head.contentLength = range.count
        if requested != .whole { head.contentRange = .range(range, total: length) }
        return head
    }
}
