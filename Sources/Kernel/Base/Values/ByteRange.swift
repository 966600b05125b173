/// A half-open run of bytes `[start, end)` of one file; offsets count from 0.
///
/// HTTP writes ranges with an inclusive end (RFC 9110 §14.1.2); only the header parsers and the request
/// builder know that form.
package struct ByteRange: Hashable, Sendable {
    /// The longest file that is downloaded: offsets have 48 bits in the journal.
    package static let longestFile: Int64 = 1 << 48 - 1
    /// The maximum bytes of one write, or one splice, before the cursor is stored.
    package static let longestWrite: Int64 = 1 << 20
    /// The end of a range that ends where its file does, while the length is unknown.
    package static let open = Int64.max

    package var start: Int64
    package var end: Int64

    package init(_ start: Int64, _ end: Int64) {
        precondition(0 <= start && start <= end, "a byte range runs forward: [\(start), \(end))")
        self.start = start
        self.end = end
    }

    /// A range from untrusted input: `nil` unless it runs forward within the length of a file.
    ///
    /// Sums of two such numbers always fit.
    package init?(named start: Int64, _ end: Int64) {
        guard 0 <= start, start <= end, end <= ByteRange.longestFile else { return nil }
        self.init(start, end)
    }

    package var count: Int64 { end - start }
    package var isEmpty: Bool { start == end }

    package func contains(_ offset: Int64) -> Bool { start <= offset && offset < end }
    package func contains(_ other: ByteRange) -> Bool { start <= other.start && other.end <= end }

    package func intersection(_ other: ByteRange) -> ByteRange? {
        let low = max(start, other.start)
        let high = min(end, other.end)
        return low < high ? ByteRange(low, high) : nil
    }
}

extension ByteRange: CustomStringConvertible { package var description: String { "[\(start), \(end))" } }
