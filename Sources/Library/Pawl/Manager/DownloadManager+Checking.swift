#if Queue
import PawlBase
import PawlEngine
import PawlJournal
import PawlQueue
import PawlSystem

// Finished files, compared with what is known of their content.
extension DownloadManager {
    /// Compares the file of a finished download with the digests that it was verified with and those that were given.
    ///
    /// Throws code 3 if none is known, and what a file that cannot be read throws.
    package func check(_ id: Download.ID) async throws(PawlError) -> FileCheck {
        try await work(on: id) { (order) throws(Failure) in try order.run().check }
    }

    /// Checks the file.
    ///
    /// If it is wrong, it is downloaded again: only its wrong pieces, if the digests of pieces are known.
    ///
    /// The file stays until the new one is complete and correct.
    package func repair(_ id: Download.ID) async throws(PawlError) -> (check: FileCheck, isRepairing: Bool) {
        let (check, isSeeded) = try await work(on: id) { (order) throws(Failure) in
            let (check, right) = try order.run()
            return (check, check.isRight ? false : try order.seed(right))
        }
        guard !check.isRight else { return (check, false) }
        let isRepairing = try await step { step throws(Failure) in
            try step.keeper.redo(QueueID(id), isSeeded: isSeeded, replacing: check.stamp)
        }
        return (check, isRepairing)
    }

    /// Runs `body` on a thread of its own: it reads a file of any size.
    ///
    /// Without a thread it fails: somebody waits for the result, and a wait without an end would not say why.
    private func work<Value: Sendable>(
        on id: Download.ID, _ body: @escaping @Sendable (FileCheckOrder) throws(Failure) -> Value
    ) async throws(PawlError) -> Value {
        let order = try await query { keeper throws(Failure) in try keeper.checkOrder(QueueID(id)) }
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            do throws(Failure) {
                try SystemThread.launch("pawl-check", blocksSignals: true) {
                    continuation.resume(returning: Result { () throws(Failure) in try body(order) })
                }
            } catch { continuation.resume(returning: .failure(error)) }
        }
        do throws(Failure) { return try result.get() } catch { throw PawlError(error) }
    }
}

extension QueueKeeper {
    fileprivate func checkOrder(_ id: QueueID) throws(Failure) -> FileCheckOrder {
        guard let record = try record(id), record.state == .finished, let name = record.name, !isLeaving(id) else {
            throw Failure(
                .badOption, "cannot check", at: try record(id)?.name ?? id.short, because: "it has not finished",
                remedy: "wait until it has")
        }
        // A link in its place would be followed.
        guard presence(of: record) != .other else {
            throw Failure.notTheFile("cannot check", at: path(of: name, record))
        }
        let stored = StoredOptions(text: record.options)
        let given = FileCheckOrder.given(try job(for: record).plan)
        // What an origin states may be the digest of the content without its coding.
        let isCoded = stored.response.contains { $0.lowercased().hasPrefix("content-encoding:") }
        let reached = stored.verification.flatMap { $0.level == .given || !isCoded ? $0 : nil }
        var digests = given
        if let reached, reached.pieces == nil,
            !given.contains(where: { ($0.algorithm, $0.digest) == (reached.algorithm, reached.digest) })
        {
            digests.append(reached)
        }
        let pieces = try pieces(of: record)
        guard !digests.isEmpty || pieces != nil else {
            throw Failure(
                .notFound, "cannot check", at: name, because: "no digest of it is known",
                remedy: "'pawl verify' compares a file with what the server states")
        }
        return FileCheckOrder(
            folder: path(of: record), name: name, source: record.sources[0], digests: digests, pieces: pieces,
            total: record.total, finished: files(of: record, stored).first?.file)
    }
}
#endif
