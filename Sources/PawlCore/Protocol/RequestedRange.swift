/// The range of a request (RFC 9110 §14.2).
package enum RequestedRange: Hashable, Sendable {
    /// No Range field at all.
    case whole
    /// `bytes=start-`
    case from(Int64)
    /// `bytes=start-(end-1)`
    case closed(ByteRange)
    /// `bytes=-count`
    case suffix(Int64)

    /// The upper bound of its length.
    package var longest: Int64 {
        switch self {
        case .whole, .from: SegmentMap.open
        case .closed(let range): range.count
        case .suffix(let count): count
        }
    }
}
