import PawlCore

/// Bounds what libcurl reads and tells nobody of: a proxy's answer to CONNECT, the page of a 407 that it answers itself,
/// a line of an FTP server without an end.
struct SwallowedBytes {
    /// Longer pages than this are no answer of a proxy.
    private static let most: Int64 = 256 * 1024

    private var round: UInt64 = 0
    /// How often libcurl told that it had read, without being off the stack.
    private var readings: Int64 = 0
    /// What the connection had brought when the page began.
    private var start: Int64?
    /// Why libcurl is not to go on.
    private(set) var fault: TransferFault?

    /// libcurl has read in this round; of an answer to CONNECT it was one byte.
    mutating func noteReading(round: UInt64) {
        readings = round == self.round ? readings + 1 : 1
        self.round = round
        if readings > Self.most { noteEndlessAnswer() }
    }

    /// Of a page that nobody hears of the connection has brought so much.
    mutating func notePage(received: Int64) {
        let start = start ?? received
        self.start = start
        if received - start > Self.most { noteEndlessAnswer() }
    }

    /// The page is over.
    mutating func endPage() { start = nil }

    mutating func noteEndlessLine() {
        fault = TransferFault(.malformed, "the server's replies do not end")
    }

    private mutating func noteEndlessAnswer() {
        fault = TransferFault(.proxy, "the proxy's answer does not end")
    }
}
