import PawlCore
import PawlEngine

extension DownloadManager {
    /// The handle of a download; `nil` if it is not in the queue.
    public func download(_ id: Download.ID) async throws(PawlError) -> Download? {
        try await ask { keeper throws(Failure) in
            guard let record = try keeper.record(QueueID(id)), record.state != .removed else { return nil }
            return keeper.handle(record)
        }
    }

    /// The handle of the download of this URL; `nil` if it is not in the queue.
    public func download(of source: String) async throws(PawlError) -> Download? {
        try await ask { keeper throws(Failure) in try keeper.record(of: source).flatMap { keeper.handle($0) }
        }
    }

    /// The identifiers that begin with these hexadecimal digits, at most ten; exactly one if the prefix is
    /// unique.
    public func find(_ digits: String) async throws(PawlError) -> [Download.ID] {
        try await ask { keeper throws(Failure) in
            try keeper.ids(of: digits).map { Download.ID(rawValue: $0.rawValue) }
        }
    }

    /// The state of a download; `nil` if the queue has no record of it.
    public func snapshot(of id: Download.ID) async throws(PawlError) -> DownloadSnapshot? {
        try await ask { keeper throws(Failure) in try keeper.record(QueueID(id)).map { keeper.snapshot($0) } }
    }

    /// The location of a download's file.
    public func location(of id: Download.ID) async throws(PawlError) -> DownloadLocation {
        try await ask { keeper throws(Failure) in keeper.location(try keeper.record(QueueID(id))) }
    }

    /// The location of this URL's file.
    public func location(ofSource source: String) async throws(PawlError) -> DownloadLocation {
        try await ask { keeper throws(Failure) in keeper.location(try keeper.record(of: source)) }
    }

    /// A page of matching downloads.
    ///
    /// Default: all but removed ones, in queue order, the first 100. The records before the page are skipped
    /// one by one, so a large offset takes longer; ``downloads(matching:by:after:limit:)`` does not.
    public func downloads(
        matching filter: DownloadFilter = DownloadFilter(),
        by ordering: DownloadOrdering = .turn,
        offset: Int = 0,
        limit: Int = 100
    ) async throws(PawlError) -> [DownloadSnapshot] {
        try await ask { keeper throws(Failure) in
            try keeper.page(filter.queueFilter, ordering.queueOrdering, offset: offset, limit: limit)
        }
    }

    /// The page that follows a download, usually the last one of the previous page.
    ///
    /// The cost does not depend on the position, and concurrent changes cause no gaps or duplicates. The
    /// download itself need not match. Throws code 28 when the queue no longer has a record of it.
    public func downloads(
        matching filter: DownloadFilter = DownloadFilter(),
        by ordering: DownloadOrdering = .turn,
        after id: Download.ID,
        limit: Int = 100
    ) async throws(PawlError) -> [DownloadSnapshot] {
        try await ask { keeper throws(Failure) in
            try keeper.page(filter.queueFilter, ordering.queueOrdering, after: QueueID(id), limit: limit)
        }
    }

    /// Totals of matching downloads; with a group's name, the group's combined progress.
    public func totals(
        matching filter: DownloadFilter = DownloadFilter()
    ) async throws(PawlError) -> DownloadTotals {
        try await ask { keeper throws(Failure) in DownloadTotals(try keeper.totals(filter.queueFilter)) }
    }
}

// Queries that include unwritten changes.
extension QueueKeeper {
    func record(of source: String) throws(Failure) -> QueueRecord? {
        let text = try WebAddress.parse(source).address.text
        writeNow()
        return try store.records(of: text).first { $0.state != .removed }
    }

    func location(_ record: QueueRecord?) -> DownloadLocation {
        guard let record, record.state != .removed else { return .unknown }
        guard record.state == .finished, let name = record.name else { return .unfinished }
        let path = path(of: name, record)
        return ports.disk.hasFile(name, in: self.path(of: record))
            ? .finished(path: path) : .missing(path: path)
    }

    func page(
        _ filter: QueueFilter,
        _ ordering: QueueOrdering,
        after id: QueueID? = nil,
        offset: Int = 0,
        limit: Int
    ) throws(Failure) -> [DownloadSnapshot] {
        writeNow()
        let page = try store.records(
            matching: filter,
            by: ordering,
            after: id,
            offset: offset,
            limit: limit
        )
        guard let page else {
            throw Failure(
                .badOption,
                "cannot list what follows",
                at: id?.text ?? "",
                because: "the queue has no record of it",
                remedy: "list from the beginning"
            )
        }
        return page.map { snapshot($0) }
    }

    func totals(_ filter: QueueFilter) throws(Failure) -> QueueTotals {
        writeNow(progress: true)
        return try store.totals(matching: filter)
    }
}
