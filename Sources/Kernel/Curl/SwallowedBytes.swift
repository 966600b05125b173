import PawlBase

/// Bounds what libcurl reads without reporting it: a proxy's response to CONNECT, an unterminated line of an FTP server.
struct SwallowedBytes {
    /// The limit for a proxy's response in bytes: that of any header section.
    private static let most = Int64(HTTP1Limits.longestHead)

    private var round: UInt64 = 0
    /// The number of reads that libcurl reported without leaving the stack.
    private var readings: Int64 = 0
    /// Why libcurl has to stop.
    private(set) var fault: TransferFault?

    /// Notes a read of libcurl in this round; of a response to CONNECT it was one byte.
    mutating func noteReading(round: UInt64) {
        readings = round == self.round ? readings + 1 : 1
        self.round = round
        if readings > Self.most { noteEndlessResponse() }
    }

    mutating func noteEndlessLine() { fault = .longReplies }

    private mutating func noteEndlessResponse() {
        fault = TransferFault(
            .proxy, LocalizableMessage("fault-proxy-response-too-long", "the proxy's response is too long"))
    }
}
