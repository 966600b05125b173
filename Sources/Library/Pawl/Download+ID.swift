extension Download {
    /// The identifier of a download.
    ///
    /// In a ``DownloadManager`` it is random, never changes and outlives the process. In a ``Downloader`` it
    /// counts up from 1. 0 stands in events that belong to no single download.
    public struct ID: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: UInt64

        /// An identifier with this number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
    }
}

extension Download.ID: LosslessStringConvertible {
    /// 16 lowercase hexadecimal digits.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Parses 16 hexadecimal digits; `nil` for anything else.
    ///
    /// ``DownloadManager/find(_:limit:)`` accepts abbreviations.
    public init?(_ description: String) {
        guard description.utf8.count == 16, let value = UInt64(description, radix: 16) else { return nil }
        self.init(rawValue: value)
    }
}
