import PawlBase
import PawlEngine
package import PawlJournal
import PawlQueue

// The files of finished downloads: what has their names may be another file by now.
extension QueueKeeper {
    /// What is known of the file of a download that has finished.
    func finishedFile(_ record: QueueRecord) -> FinishedFile {
        finishedFile(record, StoredOptions(text: record.options))
    }

    private func finishedFile(_ record: QueueRecord, _ stored: StoredOptions) -> FinishedFile {
        var file = FinishedFile(
            stamp: stored.finished, length: record.total, sources: record.sources.prefix(1) + stored.formerSources,
            endedAt: record.endedAt)
        file.wasThere = stored.wasThere
        guard let name = record.name else { return file }
        let (id, folder) = (record.id, record.folder)
        file.sharesName = { [store] in (try? store.isName(name, in: folder, ofOtherThan: id, in: [.finished])) ?? true }
        return file
    }

    /// Whether a finished download still has its file; `nil` for another one.
    ///
    /// `stored`: its options, where they were parsed already.
    func presence(of record: QueueRecord, _ stored: StoredOptions? = nil) -> FinishedFile.Presence? {
        guard record.state == .finished, let name = record.name else { return nil }
        let file = finishedFile(record, stored ?? StoredOptions(text: record.options))
        return ports.disk.presence(of: file, as: name, in: path(of: record))
    }

    /// The path of a finished download's file, and what that is known by; `nil` unless it is there.
    func ownFile(_ record: QueueRecord) -> OwnFile? {
        guard presence(of: record) == .there, let name = record.name else { return nil }
        return OwnFile(path: path(of: name, record), file: finishedFile(record))
    }

    /// Why its file cannot be used.
    func gone(_ record: QueueRecord, to what: String) -> Failure {
        let path = path(of: record.name ?? "", record)
        if presence(of: record) != .missing { return .notTheFile(what, at: path) }
        return Failure(
            .notFound, what, at: path,
            because: LocalizableMessage("file-removed-since", "the file was removed after the download finished"),
            remedy: "resume it to download it again")
    }
}

extension DownloadSnapshot.FileState {
    init(_ presence: FinishedFile.Presence) {
        self =
            switch presence {
            case .missing: .missing
            case .there: .there
            case .changed, .other: .changed
            }
    }
}

/// The file of a finished download.
package struct OwnFile: Sendable {
    package let path: String
    package let file: FinishedFile
}

extension DownloadManager {
    /// The path of a finished download's file, and what that is known by; `nil` unless it is there.
    package func ownFile(of id: Download.ID) async throws(PawlError) -> OwnFile? {
        try await query { keeper throws(Failure) in try keeper.record(QueueID(id)).flatMap { keeper.ownFile($0) } }
    }

    /// Removes the file of a finished download, and nothing else that has its name.
    package func removeFile(of id: Download.ID) async throws(PawlError) {
        try await query { keeper throws(Failure) in
            guard let record = try keeper.record(QueueID(id)), record.state == .finished, let name = record.name else {
                return
            }
            try keeper.ports.disk.remove(name, in: keeper.path(of: record), if: keeper.finishedFile(record))
        }
    }
}
