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
