#if Queue
import PawlBase
import PawlJournal
import PawlQueue

extension DownloadManager {
    /// The handle of a download; `nil` if it is not in the queue.
    public func download(withID id: Download.ID) async throws(PawlError) -> Download? {
        try await query { keeper throws(Failure) in
            guard let record = try keeper.record(QueueID(id)), record.state != .removed else { return nil }
            return keeper.handle(record)
        }
    }

    /// The handle of the download of this URL; `nil` if it is not in the queue.
    public func download(ofURL source: String) async throws(PawlError) -> Download? {
        try await query { keeper throws(Failure) in try keeper.record(of: source).flatMap { keeper.handle($0) } }
    }

    /// The identifiers that begin with these hexadecimal digits, whatever their case, in order; exactly one if
    /// the prefix is unique.
    ///
    /// `limit` is the largest number of them, by default all.
    public func ids(withPrefix digits: String, limit: Int = .max) async throws(PawlError) -> [Download.ID] {
        try await query { keeper throws(Failure) in
            try keeper.ids(of: digits, limit: limit).map { Download.ID(rawValue: $0.rawValue) }
        }
    }

    /// The state of a download; `nil` if the queue has no record of it.
    public func snapshot(of id: Download.ID) async throws(PawlError) -> DownloadSnapshot? {
        try await query { keeper throws(Failure) in try keeper.record(QueueID(id)).map { keeper.snapshot($0) } }
    }

    /// The location of a download's file.
    public func location(of id: Download.ID) async throws(PawlError) -> DownloadLocation {
        try await query { keeper throws(Failure) in keeper.location(try keeper.record(QueueID(id))) }
    }

    /// The location of this URL's file.
    public func location(ofURL source: String) async throws(PawlError) -> DownloadLocation {
        try await query { keeper throws(Failure) in keeper.location(try keeper.record(of: source)) }
    }

    /// The matching downloads, all of them or a page.
    ///
    /// Default: all but removed ones, in queue order. A snapshot takes about half a kilobyte of memory: read a queue of
    /// many thousands in pages, with a `limit`. The records before a page are skipped one by one, so a large offset takes
    /// longer; ``downloads(matching:by:after:limit:)`` does not.
    public func downloads(
        matching filter: DownloadFilter = DownloadFilter(), by ordering: DownloadOrdering = .turn, offset: Int = 0,
        limit: Int = .max
    ) async throws(PawlError) -> [DownloadSnapshot] {
        try await query { keeper throws(Failure) in
            try keeper.page(filter, ordering.queueOrdering, offset: offset, limit: limit)
        }
    }

    /// The matching downloads that follow one, usually the last of the previous page: all of them, or `limit`.
    ///
    /// The cost does not depend on the position, and concurrent changes cause no gaps or duplicates. The
    /// download itself need not match. Throws code 28 when the queue no longer has a record of it.
    public func downloads(
        matching filter: DownloadFilter = DownloadFilter(), by ordering: DownloadOrdering = .turn,
        after id: Download.ID, limit: Int = .max
    ) async throws(PawlError) -> [DownloadSnapshot] {
        try await query { keeper throws(Failure) in
            try keeper.page(filter, ordering.queueOrdering, after: QueueID(id), limit: limit)
        }
    }

    /// Totals of matching downloads; with a group's name, the group's combined progress.
    public func totals(matching filter: DownloadFilter = DownloadFilter()) async throws(PawlError) -> DownloadTotals {
        try await query { keeper throws(Failure) in DownloadTotals(try keeper.totals(filter)) }
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
        return presence(of: record) == .there ? .finished(path: path) : .missing(path: path)
    }

    func page(
        _ filter: DownloadFilter, _ ordering: QueueOrdering, after id: QueueID? = nil, offset: Int = 0, limit: Int
    ) throws(Failure) -> [DownloadSnapshot] {
        try pageRecords(filter, ordering, after: id, offset: offset, limit: limit).map { snapshot($0) }
    }

    func pageRecords(
        _ filter: DownloadFilter, _ ordering: QueueOrdering, after id: QueueID? = nil, offset: Int, limit: Int
    ) throws(Failure) -> [QueueRecord] {
        writeNow()
        let (offset, limit) = (max(0, offset), max(0, limit))
        guard filter.leavesOutWaiting else {
            return try records(filter, ordering, after: id, offset: offset, limit: limit)
        }
        // Only the queue knows who runs: pages are read until there are enough of them.
        let holders = Set(running.map(\.id))
        var (found, last, skipped): ([QueueRecord], QueueID?, Int) = ([], id, 0)
        while found.count < limit {
            let page = try records(filter, ordering, after: last, offset: 0, limit: Self.scannedPage)
            for record in page where record.state != .waiting || holders.contains(record.id) {
                if skipped < offset { skipped += 1 } else if found.count < limit { found.append(record) }
            }
            last = page.last?.id
            if page.count < Self.scannedPage { break }
        }
        return found
    }

    private static let scannedPage = 500

    private func records(
        _ filter: DownloadFilter, _ ordering: QueueOrdering, after id: QueueID?, offset: Int, limit: Int
    ) throws(Failure) -> [QueueRecord] {
        let page = try store.records(
            matching: filter.queueFilter, by: ordering, after: id, offset: offset, limit: limit)
        guard let page else {
            throw Failure(
                .badOption, "cannot list what follows", at: id?.text ?? "", because: "the queue has no record of it",
                remedy: "list from the beginning")
        }
        return page
    }

    func totals(_ filter: DownloadFilter) throws(Failure) -> QueueTotals {
        writeNow(progress: true)
        var totals = try store.totals(matching: filter.queueFilter)
        guard filter.leavesOutWaiting else { return totals }
        totals = QueueTotals()
        for snapshot in try page(filter, .turn, limit: .max) {
            totals.count += 1
            totals.written += snapshot.written
            totals.total += snapshot.total ?? 0
            totals.unknownTotals += snapshot.total == nil ? 1 : 0
        }
        return totals
    }
}

extension DownloadManager {
    /// A text stored with ``keep(_:as:)``; `nil` if there is none.
    package func keptText(_ name: String) async throws(PawlError) -> String? {
        try await query { keeper throws(Failure) in
            if let text = keeper.values["kept \(name)"] { return text }
            return try keeper.store.value("kept \(name)")
        }
    }

    /// Stores a text for ``keptText(_:)``, also for later managers of this root.
    ///
    /// `then` is called on the queue's thread: for several texts in the order in which they are stored.
    package func keep(
        _ text: String, as name: String, then: @escaping @Sendable () -> Void = {}
    ) async throws(PawlError) {
        try await step {
            $0.keeper.values["kept \(name)"] = text
            then()
        }
    }
}
#endif
