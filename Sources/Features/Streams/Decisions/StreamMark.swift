package import PawlBase

/// Which segments a file has, as its journal stores it: the plan that they belong to, and where the last ones end.
package struct StreamMark: Hashable, Sendable {
    /// The end of a segment.
    package struct Step: Hashable, Sendable {
        /// The item that follows.
        package var next: Int
        package var offset: Int64
        /// The CRC of the bytes before it; `nil` in a journal of an earlier version.
        package var sum: UInt64?

        package init(next: Int, offset: Int64, sum: UInt64? = nil) {
            (self.next, self.offset, self.sum) = (next, offset, sum)
        }

        /// As the journal has it: `NEXT@OFFSET@SUM`.
        fileprivate var text: String { "\(next)@\(offset)" + (sum.map { "@" + FNV.hex($0) } ?? "") }

        fileprivate init?(_ text: Substring) {
            let parts = text.split(separator: "@")
            guard 2...3 ~= parts.count, let next = Int(parts[0]), let offset = Int64(parts[1]), next >= 0, offset >= 0
            else { return nil }
            self.init(next: next, offset: offset)
            guard parts.count == 3 else { return }
            guard let sum = UInt64(parts[2], radix: 16) else { return nil }
            self.sum = sum
        }
    }

    /// See ``StreamFile/identity``.
    package var identity: String
    /// The latest one, and the latest that is known to be durable.
    package var steps: [Step]
    /// Items that are left out.
    package var gaps: [Int]
    /// What the segments are; `nil` until the first has come.
    package var container: StreamTrack.Container?

    package init(identity: String, steps: [Step] = [], gaps: [Int] = []) {
        self.identity = identity
        self.steps = steps
        self.gaps = gaps
    }

    private static let form = "stream-1"

    package var text: String {
        let places = steps.map(\.text)
        return
            ([Self.form, identity] + (container.map { ["=\($0.rawValue)"] } ?? []) + places
            + (gaps.isEmpty ? [] : ["-" + gaps.map(String.init).joined(separator: ",")]))
            .joined(separator: " ")
    }

    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count >= 2, words[0] == Self.form else { return nil }
        self.init(identity: String(words[1]))
        for word in words.dropFirst(2) {
            if word.utf8.first == UInt8(ascii: "=") {
                container = StreamTrack.Container(rawValue: String(word.dropFirst()))
                continue
            }
            if word.utf8.first == UInt8(ascii: "-") {
                gaps = word.dropFirst().split(separator: ",").compactMap { Int($0) }
                continue
            }
            guard let step = Step(word) else { return nil }
            steps.append(step)
        }
    }

    /// The latest step of which all bytes are there.
    package func step(within done: ByteRangeSet) -> Step {
        steps.first { $0.offset == 0 || done.contains(ByteRange(0, $0.offset)) } ?? Step(next: 0, offset: 0)
    }
}
