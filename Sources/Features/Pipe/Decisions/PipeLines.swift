import PawlBase

/// Splits input, which arrives in pieces of any length, into lines.
package struct PipeLines: Sendable {
    /// A line with its number, counted from 1.
    package struct Line: Hashable, Sendable {
        package var number: Int
        /// `nil` for a line that is too long.
        package var bytes: [UInt8]?

        package init(number: Int, bytes: [UInt8]?) {
            self.number = number
            self.bytes = bytes
        }
    }

    /// Lines of this length or more are rejected.
    package static let limit = 64 << 20

    private let limit: Int
    private var number = 1
    private var partial: [UInt8] = []
    private var isTooLong = false

    package init(limit: Int = PipeLines.limit) { self.limit = limit }

    /// The lines that end in this piece.
    ///
    /// Blank lines are counted but not returned.
    package mutating func feed(_ piece: ArraySlice<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = piece
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            if let line = take() { lines.append(line) }
            rest = rest[(end + 1)...]
        }
        append(rest)
        return lines
    }

    /// The last line, if it does not end with a line feed.
    package mutating func finish() -> Line? { take() }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong, !bytes.isEmpty else { return }
        if partial.count + bytes.count >= limit {
            isTooLong = true
            partial = []
        } else {
            partial += bytes
        }
    }

    private mutating func take() -> Line? {
        defer {
            number += 1
            partial = []
            isTooLong = false
        }
        guard !isTooLong else { return Line(number: number, bytes: nil) }
        // Programs of Windows begin a text with a byte order mark.
        if number == 1, partial.starts(with: [0xEF, 0xBB, 0xBF]) { partial.removeFirst(3) }
        guard partial.contains(where: { !$0.isWhiteSpace }) else { return nil }
        return Line(number: number, bytes: partial)
    }
}
