extension Download {
    /// Names a download.
    ///
    /// In a ``DownloadManager`` it is chosen at random, never changes and outlives the program. In a ``Downloader`` it
    /// counts up from 1. 0 stands in events that belong to no single download.
    public struct ID: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: UInt64

        /// The name with this number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
    }
}

extension Download.ID: LosslessStringConvertible {
    /// 16 hexadecimal digits in lower case.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Reads 16 hexadecimal digits; `nil` for anything else.
    ///
    /// ``DownloadManager/find(_:)`` takes shortened ones.
    public init?(_ description: String) {
        guard description.utf8.count == 16, let value = UInt64(description, radix: 16) else { return nil }
        self.init(rawValue: value)
    }
}
