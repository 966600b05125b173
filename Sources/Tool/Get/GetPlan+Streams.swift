import Pawl

extension GetPlan {
    /// Whether an item may be a stream, as far as its options tell.
    func mayBeStream(_ item: Item) -> Bool {
        !options.keepsPlaylists && options.target == nil && item.pieces == nil && item.digests.isEmpty
            && item.replaces == nil && options.download.checksum == nil && options.download.range == nil
    }

    /// Leaves out an item that is done.
    package mutating func drop(_ source: String) { items.removeAll { $0.source.hasSameBytes(as: source) } }

    /// Whether some URL names a playlist: a stream is many requests.
    var namesStream: Bool { items.contains { mayBeStream($0) && Downloader.namesStream($0.source) } }
}
