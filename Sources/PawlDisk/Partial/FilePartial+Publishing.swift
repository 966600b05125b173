import PawlCore
import PawlEngine

extension FilePartial {
    func publish(
        length: Int64,
        modified: UnixTime?,
        completion: @escaping @Sendable (Result<String, Failure>) -> Void
    ) {
        let publication = Publication(
            disk: disk,
            folder: folder,
            names: names,
            claim: claim,
            number: number,
            ticket: ticket,
            file: openFile,
            journal: journal,
            cutTo: length == self.length ? nil : length,
            modified: modified,
            replaces: replaces
        )
        guard syncs else {
            let result = publication.rename()
            if case .success(let name) = result { publication.tidy(name) }
            if ticket.isReleased { release() }
            completion(result.map(folder.path(of:)))
            return
        }
        disk.syncers.submit { publication.run(completion) }
    }

    /// Which file of the final name may be replaced.
    private var replaces: Publication.Replaced {
        if claim.ifExists == .overwrite { return .any }
        if case .copied(let identity) = origin { return .only(identity) }
        return .none
    }
}
