import PawlCore
import PawlEngine

/// Where a download's files are.
struct FileLocation: Sendable {
    let disk: any Disk
    let folder: String
    let sources: [WebAddress]
    /// Addresses that the download had before: a partial that names one first is its own.
    var formerSources: [String] = []

    /// Takes the part file over, as continuing would, and drops it: one that another process writes stays its own.
    func removePartial(of name: String) throws(Failure) {
        let facts = JournalFacts(sources: sources.map(\.text), name: name)
        let claim = Claim(folder: folder, name: name, ifExists: .overwrite, facts: facts)
        switch try disk.claim(claim, adopts: { $0.facts.sources.first.map(formerSources.contains) ?? false })
        {
        case .fresh(let partial), .found(let partial, _): partial.discard()
        case .existing(let partial, _): try partial.restoreOriginal()
        case .skipped: break
        }
    }

    func removeFile(_ path: String) throws(Failure) {
        guard let name = path.split(separator: "/").last else { return }
        try disk.remove(String(name), in: folder)
    }
}
