package import PawlCore

/// A download in detail, for those who look at one: made on demand only.
package struct Inspection: Hashable, Sendable {
    /// One connection at work.
    package struct Lane: Hashable, Sendable {
        /// What it is to bring from here on, in the file's offsets; the end is `SegmentMap.open` while nobody knows it.
        package var range: ByteRange
        /// Bytes per second.
        package var speed: Int64
        /// Where its bytes come from, redirects followed.
        package var address: WebAddress
        /// Whether it brings bytes: before that it waits for an answer.
        package var isFlowing: Bool
    }

    package var lanes: [Lane]
    /// The bytes that are on disk.
    package var written: ByteRangeSet
    package var total: Int64?

    init(_ machine: DownloadMachine) {
        lanes = machine.lanes.map { lane in
            Lane(
                range: ByteRange(lane.cursor, max(lane.cursor, lane.end)),
                speed: Int64(lane.speed),
                address: machine.sources[lane.source].current,
                isFlowing: lane.stage == .flowing
            )
        }
        written = machine.map.done
        total = machine.total
    }
}
