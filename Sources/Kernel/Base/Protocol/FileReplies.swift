/// The replies of an FTP server about a file: before the transfer, at its start and after it.
package struct FileReplies: Hashable {
    /// The offset of the first requested byte.
    private let start: Int64
    /// The length of the file in an earlier response.
    private let known: Int64?
    /// The file's length from the first reply to SIZE or, where there is none, from the one that begins the transfer.
    package private(set) var length: Int64?
    /// The digits of the first reply to MDTM.
    private var modified: [UInt8]?
    /// The bytes of the file that were received.
    private var received: Int64 = 0
    /// Why the file is not the one that the first replies described.
    package private(set) var contradiction: LocalizableMessage?

    package init(start: Int64, known: Int64? = nil) {
        self.start = start
        self.known = known
    }

    /// A reply line (RFC 3659 §§3–4, RFC 959 §5.4).
    package mutating func note(_ line: some Collection<UInt8>) {
        if line.starts(with: "213 ".utf8) {
            let digits = Array(line.dropFirst(4).prefix { (0x30...0x39).contains($0) }.prefix(19))
            if digits.count == 14 { return note(modified: digits) }
            guard (1...18).contains(digits.count) else { return }
            note(size: Self.number(digits))
        } else if line.starts(with: "150 ".utf8) || line.starts(with: "125 ".utf8) {
            if let stated = Self.parenthesized(line) { note(stated: stated) }
        }
    }

    private mutating func note(modified digits: [UInt8]) {
        if let modified, modified != digits {
            contradiction = LocalizableMessage("file-time-changed", "its modification time changed during the transfer")
        }
        modified = modified ?? digits
    }

    private mutating func note(size: Int64) {
        // Some servers reply 0 in binary mode, whatever the length.
        guard size > 0 || start > 0 else { return }
        note(total: size)
    }

    /// The count in the reply that begins a transfer is the length of the file, or that of the bytes after
    /// the offset.
    private mutating func note(stated: Int64) {
        guard let length else {
            if start == 0 { return note(size: stated) }
            // Either of the two, if the file is the same: then it shows its length.
            if let known, stated == known || stated == known - start { note(total: known) }
            return
        }
        if stated != length, stated != length - start { note(total: stated) }
    }

    private mutating func note(total: Int64) {
        if let length, length != total {
            contradiction = LocalizableMessage(
                "file-length-changed", "its length changed from \(length) to \(total) bytes during the transfer")
        }
        length = length ?? total
    }

    /// Whether the described file has this many more bytes.
    package mutating func fits(_ count: Int) -> Bool {
        if let length, received.addingClamped(Int64(count)) > max(0, length - start) {
            contradiction = LocalizableMessage(
                "file-longer-than-reported", "the server sent more than the \(length) bytes that it had reported")
        }
        return contradiction == nil
    }

    package mutating func took(_ count: Int) { received = received.addingClamped(Int64(count)) }

    /// Whether the file ends before the requested part.
    package var isBeyondEnd: Bool { start > 0 && length.map { $0 <= start } == true }

    /// Whether a refusal may be of the offset instead of the file: the length is not known.
    package var mayEndEarlier: Bool { start > 0 && length == nil }

    /// The count in "150 Opening data connection for f (123 bytes)".
    private static func parenthesized(_ line: some Collection<UInt8>) -> Int64? {
        guard let opening = Array(line).lastIndex(of: 0x28) else { return nil }
        let text = line.dropFirst(opening + 1)
        let digits = Array(text.prefix { (0x30...0x39).contains($0) }.prefix(19))
        guard (1...18).contains(digits.count), text.dropFirst(digits.count).starts(with: " bytes".utf8) else {
            return nil
        }
        return number(digits)
    }

    private static func number(_ digits: [UInt8]) -> Int64 { digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
}

extension RequestedRange {
    /// The offset of the first requested byte, where the request has one.
    package var offset: Int64 {
        switch self {
        case .whole, .suffix: 0
        case .from(let start): start
        case .closed(let range): range.start
        }
    }
}
