import PawlBase
import PawlJournal

/// The location of a download's files.
struct FileLocation: Sendable {
    let disk: any Disk
    var destination = Destination.folder
    let folder: String
    let sources: [WebAddress]
    /// Earlier URLs of the download: a part file that names one first belongs to it.
    var formerSources: [String] = []

    /// Claims the part file, as resuming would, and removes it; one that another process writes is left
    /// alone.
    func removePartial(of name: String) throws(Failure) {
        let facts = JournalFacts(sources: sources.map(\.text), name: name)
        let claim = Claim(folder: folder, name: name, ifExists: .overwrite, facts: facts)
        if case .sink(let maker) = destination {
            switch try maker.begin(claim) {
            case .fresh(let sink), .found(let sink, _): return sink.close(keeping: nil)
            case .present: return
            }
        }
        switch try disk.claim(claim, adopts: { $0.facts.sources.first.map(formerSources.containsBytes) ?? false }) {
        case .fresh(let partial), .found(let partial, _): partial.discard()
        case .existing(let partial, _): try partial.restoreOriginal()
        case .skipped: break
        }
    }

    /// Removes the finished file, if that still has its name.
    func removeFile(_ path: String, stamp: FileStamp?, length: Int64) throws(Failure) {
        guard case .folder = destination, let name = path.pathParts().last else { return }
        let file = FinishedFile(stamp: stamp, length: length, sources: sources.prefix(1).map(\.text))
        try disk.remove(String(name), in: folder, if: file)
        disk.syncNames(in: folder)
    }
}
