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
        case .whole, .from: ByteRange.open
        case .closed(let range): range.count
        case .suffix(let count): count
        }
    }
}

extension RequestedRange {
    /// How many bytes of a resource of `total` bytes it is.
    package func length(of total: Int64) -> Int64 {
        switch self {
        case .whole: total
        case .from(let start): max(0, total - start)
        case .closed(let range): max(0, min(range.end, total) - range.start)
        case .suffix(let count): min(total, count)
        }
    }
}

extension RequestedRange {
    /// The inclusive form for a Range field (RFC 9110 §14.1.2); `nil` for no field.
    package var fieldValue: String? {
        switch self {
        case .whole: nil
        case .from(let start): "\(start)-"
        case .closed(let bytes): "\(bytes.start)-\(bytes.end - 1)"
        case .suffix(let count): "-\(count)"
        }
    }
}
