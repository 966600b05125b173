#if Queue
import PawlBase
import PawlEngine
package import PawlJournal
import PawlQueue

/// A file of a finished download: its name, and what it is known by.
struct NamedFile: Sendable {
    let name: String
    var file: FinishedFile
}

// The files of finished downloads: what has their names may be another file by now.
extension QueueKeeper {
    /// The files of a download that has finished: the one with its name, then further ones of a stream.
    ///
    /// `parsed`: its options, where they were parsed already.
    func files(of record: QueueRecord, _ parsed: StoredOptions? = nil) -> [NamedFile] {
        guard let name = record.name else { return [] }
        let stored = parsed ?? StoredOptions(text: record.options)
        var own = FinishedFile(
            stamp: stored.finished, length: record.total, sources: record.sources.prefix(1) + stored.formerSources,
            endedAt: record.endedAt)
        own.wasThere = stored.wasThere
        var files = [NamedFile(name: name, file: own)]
        for part in stored.parts where !part.name.hasSameBytes(as: name) {
            guard let stamp = part.stamp else { continue }
            let file = FinishedFile(
                stamp: stamp, length: stamp.length, sources: [part.place], endedAt: record.endedAt)
            files.append(NamedFile(name: part.name, file: file))
        }
        let (id, folder) = (record.id, record.folder)
        for index in files.indices {
            files[index].file.sharesName = { [store, name = files[index].name] in
                (try? store.isName(name, in: folder, ofOtherThan: id, in: [.finished])) ?? true
            }
        }
        return files
    }

    /// Whether a finished download still has all its files; `nil` for another one.
    ///
    /// One that is another file now counts before one that is missing.
    func presence(of record: QueueRecord, _ stored: StoredOptions? = nil) -> FinishedFile.Presence? {
        guard record.state == .finished, record.name != nil else { return nil }
        let folder = path(of: record)
        let found = files(of: record, stored).map { ports.disk.presence(of: $0.file, as: $0.name, in: folder) }
        return found.first { $0 == .changed || $0 == .other } ?? found.first { $0 == .missing } ?? .there
    }

    /// The path of the file with a finished download's name, or of the further one `named` so, and what that is known by; `nil`
    /// unless it is there.
    func ownFile(_ record: QueueRecord, named name: String? = nil) -> OwnFile? {
        guard record.state == .finished,
            let found = files(of: record).first(where: { name?.hasSameBytes(as: $0.name) ?? true }),
            ports.disk.presence(of: found.file, as: found.name, in: path(of: record)) == .there
        else { return nil }
        return OwnFile(path: path(of: found.name, record), file: found.file)
    }

    /// Removes the files of a finished download, all that can be; throws what the first that cannot be throws.
    func removeFiles(of record: QueueRecord) throws(Failure) {
        var failure: Failure?
        for file in files(of: record) {
            do throws(Failure) { try ports.disk.remove(file.name, in: path(of: record), if: file.file) } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Why its files cannot be used.
    func gone(_ record: QueueRecord, to what: String) -> Failure {
        let (folder, presence) = (path(of: record), presence(of: record))
        let first = files(of: record).first {
            ports.disk.presence(of: $0.file, as: $0.name, in: folder) == presence
        }
        let path = path(of: first?.name ?? record.name ?? "", record)
        if presence != .missing { return .notTheFile(what, at: path) }
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
    /// The path of a finished download's file, or of a further one by its name, and what that is known by; `nil` unless it is there.
    package func ownFile(of id: Download.ID, named name: String? = nil) async throws(PawlError) -> OwnFile? {
        try await query { keeper throws(Failure) in
            try keeper.record(QueueID(id)).flatMap { keeper.ownFile($0, named: name) }
        }
    }

    /// The paths of the further files of a stream that are there.
    package func furtherFiles(of id: Download.ID) async throws(PawlError) -> [String] {
        try await query { keeper throws(Failure) in
            guard let record = try keeper.record(QueueID(id)) else { return [] }
            let folder = keeper.path(of: record)
            return keeper.files(of: record).dropFirst().filter {
                keeper.ports.disk.presence(of: $0.file, as: $0.name, in: folder) == .there
            }.map { keeper.path(of: $0.name, record) }
        }
    }

    /// Removes the files of a finished download, and nothing else that has their names.
    package func removeFile(of id: Download.ID) async throws(PawlError) {
        try await query { keeper throws(Failure) in
            guard let record = try keeper.record(QueueID(id)), record.state == .finished else { return }
            try keeper.removeFiles(of: record)
        }
    }
}
#endif
