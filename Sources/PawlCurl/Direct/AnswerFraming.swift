#if os(Linux)
import PawlCore

/// What the head of an answer says about the bytes after it and about its connection (RFC 9112 §6.3, §9.3).
struct AnswerFraming: Hashable {
    /// Where the body ends.
    enum Body: Hashable {
        case none
        case length(Int64)
        case chunked
        case untilClose
    }

    private(set) var status = 0
    private(set) var body = Body.untilClose
    private(set) var keepsConnection = false
    /// The values of the Set-Cookie fields.
    private(set) var cookies: [String] = []

    /// Whether another head follows for the same request.
    var isInterim: Bool { (100..<200).contains(status) && status != 101 }

    /// Reads a whole head, the empty line at its end with it, and what it says of the content too.
    static func read(_ head: [UInt8]) throws(TransferFault) -> (framing: AnswerFraming, content: ResponseHead)
    {
        var framing = AnswerFraming()
        var fields = Fields()
        let isCurrent = try framing.readStatus(head)
        guard let content = ResponseHead(parsing: head, look: { fields.take($0, $1) }) else {
            throw TransferFault(.malformed, "the head of the answer is not HTTP")
        }
        framing.cookies = fields.cookies
        try framing.decide(fields, isCurrent: isCurrent)
        return (framing, content)
    }

    private init() {}

    /// Whether bytes that began to come can become a head.
    static func canBegin(_ bytes: some Sequence<UInt8>) -> Bool {
        zip(bytes, "HTTP/1.".utf8).allSatisfy { $0 == $1 }
    }

    /// Returns whether the version is 1.1 (or a later one of the same major number).
    private mutating func readStatus(_ head: [UInt8]) throws(TransferFault) -> Bool {
        guard head.count > 12, Self.canBegin(head), (0x30...0x39).contains(head[7]) else {
            throw TransferFault(.malformed, "the head of the answer is not HTTP")
        }
        var index = 8
        while index < head.count, head[index] == 0x20 || head[index] == 0x09 { index += 1 }
        let digits = head[index...].prefix { (0x30...0x39).contains($0) }
        guard index > 8, digits.count == 3 else {
            throw TransferFault(.malformed, "the answer has no status")
        }
        status = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return head[7] > 0x30
    }

    private mutating func decide(_ fields: Fields, isCurrent: Bool) throws(TransferFault) {
        keepsConnection = isCurrent ? !fields.closes : fields.keeps && !fields.closes
        if fields.hasForeignCoding {
            throw TransferFault(.malformed, "the answer has a transfer coding that was not asked for")
        }
        switch status {
        case 100..<200, 204, 304:
            body = .none
            if status == 101 { keepsConnection = false }
        default:
            if fields.isChunked {
                body = .chunked
                // Both at once is what smugglers send; chunks of HTTP/1.0 are as odd (RFC 9112 §6.1).
                if fields.hasLength || !isCurrent { keepsConnection = false }
            } else if fields.hasBadLength {
                throw TransferFault(.malformed, "the answer has no valid Content-Length, or two that differ")
            } else if let length = fields.length {
                body = .length(length)
            } else {
                body = .untilClose
                keepsConnection = false
            }
        }
    }
}

/// The fields that framing reads.
private struct Fields {
    var length: Int64?
    var hasLength = false
    var hasBadLength = false
    var isChunked = false
    var hasForeignCoding = false
    var closes = false
    var keeps = false
    var cookies: [String] = []

    /// Both come without white space around them.
    mutating func take(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
        switch name.count {
        case 10:
            if name.isWord("connection") {
                take(connection: value)
            } else if name.isWord("set-cookie") {
                cookies.append(String(decoding: value, as: UTF8.self))
            }
        case 14: if name.isWord("content-length") { take(length: value) }
        case 17: if name.isWord("transfer-encoding") { take(coding: value) }
        default: break
        }
    }

    private mutating func take(connection value: ArraySlice<UInt8>) {
        if value.isWord("keep-alive") {
            keeps = true
            return
        }
        for option in value.split(separator: 0x2C) {
            if option.withoutBlanks.isWord("close") { closes = true }
            if option.withoutBlanks.isWord("keep-alive") { keeps = true }
        }
    }

    /// Copies of one number are harmless (RFC 9110 §8.6).
    private mutating func take(length value: ArraySlice<UInt8>) {
        hasLength = true
        if let number = value.number, length == nil || length == number {
            length = number
            return
        }
        for piece in value.split(separator: 0x2C, omittingEmptySubsequences: false) {
            let number = piece.withoutBlanks.number
            if number == nil || length != nil && length != number { hasBadLength = true }
            length = number
        }
    }

    private mutating func take(coding value: ArraySlice<UInt8>) {
        for piece in value.split(separator: 0x2C) {
            let coding = piece.withoutBlanks
            // `identity` was a coding of RFC 2616 that means none.
            if coding.isEmpty || coding.isWord("identity") { continue }
            if coding.isWord("chunked"), !isChunked { isChunked = true } else { hasForeignCoding = true }
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var withoutBlanks: ArraySlice<UInt8> {
        var (low, high) = (startIndex, endIndex)
        while low < high, self[low] == 0x20 || self[low] == 0x09 { low += 1 }
        while low < high, self[high - 1] == 0x20 || self[high - 1] == 0x09 { high -= 1 }
        return self[low..<high]
    }

    /// Whether these are the letters of `word`, which is in lower case.
    fileprivate func isWord(_ word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in
            for offset in word.indices {
                let mine = self[startIndex + offset]
                guard unsafe (mine &- 0x41 < 26 ? mine | 0x20 : mine) == word[offset] else { return false }
            }
            return true
        }
    }

    fileprivate var number: Int64? {
        guard !isEmpty else { return nil }
        var value: Int64 = 0
        for byte in self {
            guard (0x30...0x39).contains(byte) else { return nil }
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int64(byte - 0x30))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }
}

#endif
