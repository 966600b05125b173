#if Queue
import PawlBase
import PawlJournal
import PawlQueue

// Requests for a URL that is already in the queue (D11).
extension QueueKeeper {
    /// The known download that this request resumes, updated with the request's options; `nil` if none of the
    /// same URL is for the same file.
    ///
    /// Throws code 28 when the request contradicts the expected content.
    package func resume(with order: AddOrder) throws(Failure) -> QueueRecord? {
        let added = StoredOptions(text: order.record.options)
        for record in try known(order, added) {
            let stored = StoredOptions(text: record.options)
            let isElsewhere =
                order.choosesFolder && !order.record.folder.isEmpty
                && !order.record.folder.hasSameBytes(as: record.folder)
            guard !isElsewhere, !stored.isAnotherFile(added, name: record.name ?? stored.options.fileName) else {
                continue
            }
            let isThere = presence(of: record) == .there
            if let name = stored.contradiction(added, isFinished: isThere) {
                throw Self.contradicts(name, record, isFinished: isThere)
            }
            if !isThere { try take(over: order, stored.taking(over: added), stating: added.given, record) }
            if let time = order.startAt {
                _ = try schedule(record.id, at: time)
            } else {
                try resume(record.id, order.start)
            }
            return try self.record(record.id) ?? record
        }
        return nil
    }

    /// The downloads of this URL: identical file options first, then the oldest.
    private func known(_ order: AddOrder, _ added: StoredOptions) throws(Failure) -> [QueueRecord] {
        let source = order.record.sources[0]
        // Downloads added in the same transaction are not stored yet.
        var ids = fresh[Bytewise(source)] ?? []
        for record in try store.records(of: source) where !ids.contains(record.id) { ids.append(record.id) }
        var exact: [QueueRecord] = []
        var others: [QueueRecord] = []
        for id in ids {
            guard let record = try record(id), record.state != .removed, !isLeaving(id),
                record.sources[0].hasSameBytes(as: source)
            else { continue }
            let isExact =
                record.folder.hasSameBytes(as: order.record.folder)
                && StoredOptions(text: record.options).isSameFile(added)
            if isExact { exact.append(record) } else { others.append(record) }
        }
        return exact + others.sorted { $0.addedAt < $1.addedAt }
    }

    private func take(
        over order: AddOrder, _ merged: StoredOptions, stating stated: [Checksum], _ record: QueueRecord
    ) throws(Failure) {
        let added = order.record
        let mirrors = added.sources.dropFirst().filter { !record.sources.containsBytes(of: $0) }
        var options = merged.options
        options.mirrors = Array(record.sources.dropFirst()) + mirrors
        if let pieces = order.pieces, try self.pieces(of: record) != pieces {
            keep(pieces, of: record.id)
            edit(record.id) { $0.change { $0.pieceLength = pieces.length } }
            restart(record.id)
        }
        try change(self.record(record.id) ?? record, to: options, stating: stated)
        if added.priority != 0, added.priority != record.priority {
            _ = try change(priority: added.priority, of: record.id)
        }
        if !added.group.isEmpty, !added.group.hasSameBytes(as: record.group) {
            _ = try change(group: added.group, of: record.id)
        }
        if let text = added.taskDescription { describe(record.id, text) }
    }

    private func resume(_ id: QueueID, _ start: QueueMachine.Start) throws(Failure) {
        switch start {
        case .paused: break
        // Adding the URL again is no reason to disregard a Retry-After.
        case .enqueued: _ = try resume(id, endsWait: false)
        case .now: _ = try force(id)
        }
    }

    private static func contradicts(_ name: String, _ record: QueueRecord, isFinished: Bool) -> Failure {
        Failure(
            .badOption, "cannot add", at: Redaction.address(record.sources[0]),
            because: isFinished
                ? LocalizableMessage(
                    "known-and-finished",
                    "the queue has it already as \(record.id.short), finished without this \(name)")
                : LocalizableMessage(
                    "known-with-other", "the queue has it already as \(record.id.short), with another \(name)"),
            remedy: "remove that download first, or use another file name")
    }
}
#endif
