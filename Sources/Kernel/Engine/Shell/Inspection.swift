package import PawlBase
import PawlCore
import PawlJournal

/// A running download in detail: `DownloadDetails` of Library/Pawl, and by it the page, make it on demand.
package struct Inspection: Hashable, Sendable {
    /// One connection at work.
    package struct Lane: Hashable, Sendable {
        /// The range it still has to fetch, in the file's offsets.
        ///
        /// The end is `ByteRange.open` while unknown. Empty if its end was moved to before what it has written.
        package var range: ByteRange
        /// Bytes per second.
        package var speed: Int64
        /// The address its bytes come from, redirects followed.
        package var address: WebAddress
        /// Whether it receives bytes: before that it waits for a response.
        package var isFlowing: Bool
    }

    package var lanes: [Lane]
    /// The bytes on disk.
    package var written: ByteRangeSet
    package var total: Int64?
    /// The bytes of the pieces that were compared with their digests and are right.
    package var verified: Int64

    init(_ machine: DownloadMachine) {
        lanes = machine.lanes.list.map { lane in
            Lane(
                range: ByteRange(lane.cursor, max(lane.cursor, lane.end)), speed: Int64(lane.speed.present),
                address: machine.sources[lane.source].current, isFlowing: lane.isFlowing)
        }
        written = machine.lanes.map.done
        total = machine.total
        verified = machine.verifiedBytes
    }
}

/// Bytes of a file that is being fetched.
package struct PartBytes: Hashable, Sendable {
    /// The most at once.
    static let most: Int64 = 256 << 10

    package var bytes: [UInt8] = []
    /// Whether the content ends before the bytes that were asked for.
    package var isEnd = false
    /// Whether what the reader has had is still on disk.
    package var keepsKnown = true
    /// The run of the download, and how often it has discarded all bytes.
    package let run: UInt64
    package let restarts: UInt64

    init(run: UInt64, restarts: UInt64) {
        self.run = run
        self.restarts = restarts
    }
}
