import PawlBase
import PawlJournal
import Synchronization

extension FilePartial {
    /// In memory there is nothing to wait for.
    var publishesAtOnce: Bool { !syncs }

    var stamp: FileStamp? { try? file?.stamp() }

    func publish(length: Int64, modified: UnixTime?, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    {
        let publication = Publication(
            disk: disk, folder: folder, names: names, claim: ClaimTerms(claim), number: number, ticket: ticket,
            file: openFile, isNamed: isNamed, isNew: origin == nil, journal: journal, length: length,
            written: self.length, verified: verified, content: content, modified: modified, replaces: replaces)
        if publishesAtOnce { return completion(publishHere(publication)) }
        ticket.isPublishing.store(true, ordering: .releasing)
        disk.publisher.submit(publication) { [ticket] result in
            if case .failure = result { ticket.isPublishing.store(false, ordering: .releasing) }
            completion(result)
        }
    }

    /// Publishes without a worker.
    private func publishHere(_ publication: Publication) -> Result<String, Failure> {
        do throws(Failure) {
            try publication.settle()
            let name = try publication.move()
            publication.tidy()
            release()
            return .success(folder.path(of: name))
        } catch {
            if ticket.isReleased { release() }
            return .failure(error)
        }
    }

    /// The file of the final name that may be replaced.
    private var replaces: Publication.Replaced {
        if claim.ifExists == .overwrite { return .any }
        if case .copied(let identity) = origin { return .only(identity) }
        return .none
    }
}
