package import PawlBase
import PawlEngine

/// What was measured of one request; times are seconds since 1970.
package struct TransferMetrics: Sendable, Hashable {
    /// The request's URL, including secrets.
    package var url: String
    package var response: DownloadResponse?
    package var timing: TransferTiming
    /// Bytes of the response's body.
    package var received: Int64
    package var fetchStart: Double
    package var responseEnd: Double
    /// What has to be added to an instant of ``timing``, in nanoseconds.
    private var offset: Double

    /// What a test states of a request: no instants.
    package init(url: String, timing: TransferTiming, received: Int64, fetchStart: Double, responseEnd: Double) {
        self.url = url
        self.timing = timing
        self.received = received
        self.fetchStart = fetchStart
        self.responseEnd = responseEnd
        offset = 0
    }

    private init(_ record: TransferRecord, offset: Double) {
        self.init(
            url: record.address.text, timing: record.timing ?? TransferTiming(), received: record.received,
            fetchStart: (Double(record.start.nanoseconds) + offset) / 1e9,
            responseEnd: (Double(record.end.nanoseconds) + offset) / 1e9)
        response = record.head.map { DownloadResponse($0, from: record.address) }
        self.offset = offset
    }

    /// The time of an instant of ``timing``.
    package func time(_ instant: Instant?) -> Double? { instant.map { (Double($0.nanoseconds) + offset) / 1e9 } }

    /// Converts what an engine measured.
    static func list(_ transfers: [TransferRecord], clock: any Clock) -> [TransferMetrics] {
        let offset = Double(clock.nanosecondsSince1970 - clock.now.nanoseconds)
        return transfers.map { TransferMetrics($0, offset: offset) }
    }
}

/// What a session receives of a download beside a delegate's events.
package protocol SessionEventReceiver {
    /// What was measured of the requests, each time the download stops running.
    func download(_ id: Download.ID, didCollect metrics: [TransferMetrics])
    /// So many segments of a stream are on disk; the bytes are reported after that.
    func download(_ id: Download.ID, didLoad segments: DownloadSnapshot.Segments)
    /// The further files of a stream that has finished, before that is reported.
    func download(_ id: Download.ID, hasFurther files: [String])
    /// It waits for the network.
    func downloadIsWaitingForNetwork(_ id: Download.ID)
}
