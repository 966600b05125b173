import PawlBase
import PawlCore
import PawlJournal

/// The name of a part file that another program began: the real one is in the server's first response.
struct ProvisionalName {
    /// The journal has no name.
    var isProvisional = false
    /// The name in the first accepted response.
    var server: String?
}

// Replacement of a provisional name by the server's when the file is complete.
extension Runner {
    func noteName(_ lane: LaneID, source: Int, _ head: ResponseHead) {
        guard naming.isProvisional, naming.server == nil,
            machine.lanes.list.contains(where: { $0.id == lane && $0.isFlowing })
        else { return }
        let address = machine.sources[source].current
        naming.server = name(from: address, head)
    }

    /// The name that `naming` chooses: the one in a URL that the user gave is kept as it is.
    func name(from address: WebAddress, _ head: ResponseHead?) -> String {
        NamingPolicy.choose(
            job.naming, address: address, head: head, given: job.plan.sources, charsets: shared.ports.charsets)
    }

    /// The name that replaces the part file's in the finished file; `nil` when that is right.
    var finalName: String? {
        guard let file = place?.file, let desired = naming.server, !desired.hasSameBytes(as: file.name) else {
            return nil
        }
        return (0..<100).lazy.map { $0 == 0 ? desired : FileName.numbered(desired, $0) }.first {
            !self.disk.holds($0, in: self.job.folder)
        }
    }

    /// Gives the published file the server's name, unless the owner of the download does that.
    func finalPath(_ path: String) -> String {
        guard job.onPublishing == nil, let desired = finalName, let slash = path.unicodeScalars.lastIndex(of: "/")
        else { return path }
        do throws(Failure) {
            let name = String(path[path.index(after: slash)...])
            let sources = machine.sources.map(\.given.text)
            let file = FinishedFile(stamp: published, length: machine.lanes.map.done.count, sources: sources)
            try disk.rename(name, to: desired, in: job.folder, if: file)
            machine.named(desired)
            return path[...slash] + desired
        } catch {
            // The file is complete: only its name is not the server's.
            notify(.notice(LocalizableMessage(error)))
            return path
        }
    }
}
