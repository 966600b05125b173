extension Download {
    /// The latest snapshots of one download, see ``Download/updates``.
    public struct Updates: AsyncSequence, Sendable {
        /// Every element.
        public typealias Element = DownloadSnapshot
        /// It never fails.
        public typealias Failure = Never

        let download: Download

        /// Starts listening.
        public func makeAsyncIterator() -> Iterator { Iterator(download: download) }
    }
}

extension Download.Updates {
    /// One listener.
    public struct Iterator: AsyncIteratorProtocol {
        private let download: Download
        private var seen: UInt64?
        private var last: DownloadSnapshot?

        init(download: Download) {
            self.download = download
            download.watch()
        }

        /// The latest snapshot, as soon as it differs from the last one given; `nil` after the end, and when the task
        /// is cancelled.
        public mutating func next() async -> DownloadSnapshot? {
            if let last, last.state.isFinal { return nil }
            while !Task.isCancelled {
                if let seen { await download.changes.wait(after: seen) }
                seen = download.changes.beats
                let snapshot = download.snapshot
                guard snapshot != last else { continue }
                last = snapshot
                return snapshot
            }
            return nil
        }
    }
}
