import PawlBase

extension Download {
    /// The latest snapshots of one download, see ``Download/updates``.
    public struct Updates: AsyncSequence, Sendable {
        /// The element type.
        public typealias Element = DownloadSnapshot
        /// The sequence never throws.
        public typealias Failure = Never

        let download: Download

        /// Starts an iteration.
        public func makeAsyncIterator() -> Iterator { Iterator(download: download) }
    }
}

extension Download.Updates {
    /// One iteration over the snapshots.
    public struct Iterator: AsyncIteratorProtocol {
        private let download: Download
        private var seen: UInt64?
        private var last: DownloadSnapshot?

        init(download: Download) {
            self.download = download
            download.watch()
        }

        /// The latest snapshot, as soon as it differs from the previous one; `nil` after the end, and when the
        /// task is cancelled or the download's owner has ended.
        public mutating func next() async -> DownloadSnapshot? {
            if let last, last.state.isFinal { return nil }
            while !Task.isCancelled {
                if let seen {
                    // Its owner has ended, and no change follows.
                    if download.isClosed, download.changes.count == seen { return nil }
                    await download.changes.wait(after: seen)
                }
                seen = download.changes.count
                let snapshot = download.snapshot
                guard snapshot != last else { continue }
                last = snapshot
                return snapshot
            }
            return nil
        }
    }
}
