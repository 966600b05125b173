import Glibc
package import PawlBase
package import PawlJournal
import PawlSystem

/// A finished file of Pawl's own that still matches the server's.
extension ClaimAttempt {
    func isComplete(_ finished: FileStatus) -> Bool {
        guard disk.recognizesFinished, claim.replaces?.isWrong != true, let content = claim.content(),
            let mark = disk.completion(of: names.final, finished, in: folder)
        else { return false }
        return mark.isProven && mark.fingerprint == content && mark.length == claim.length ?? mark.length
    }

    /// A response has just proved that the file is the content: where a listing's time could hide a change after the file was
    /// finished (``ListedFacts``), it now hides none before this.
    func renewMark(on finished: FileStatus) {
        guard finished.changed <= finished.modifiedTime.addingClamped(ListedFacts.longestStep),
            let file = try? folder.open(names.final, flags: O_RDONLY | O_NONBLOCK)
        else { return }
        // An attribute that is set to its own value changes no time on every file system.
        try? file.setPermissions(finished.permissions)
    }
}

extension FileDisk {
    /// The record on the finished file; `nil` when it is not Pawl's own, or was changed since.
    func completion(of name: String, _ status: FileStatus, in folder: Folder) -> CompletionMark? {
        guard folder.bearsMarks, folder.flaw(of: status).map({ $0 == .severalNames }) ?? true,
            let file = try? folder.open(name, flags: O_RDONLY | O_NONBLOCK),
            let mark = OwnerAttribute.completion(of: file), mark.isTold, mark.length == status.length,
            mark.modified == status.modifiedTime
        else { return nil }
        return mark
    }

    package func finished(_ claim: Claim) -> String? {
        guard let folder = folders.existing(claim.folder, trusting: true) else { return nil }
        let attempt = ClaimAttempt(disk: self, folder: folder, claim: claim, number: 0)
        guard let status = try? folder.status(of: claim.name), attempt.isComplete(status) else { return nil }
        attempt.renewMark(on: status)
        return attempt.finalPath
    }

    package func wasFinished(_ name: String, from source: String, in folder: String) -> Bool {
        guard recognizesFinished, let folder = folders.existing(folder, trusting: true) else { return false }
        for number in 0..<Self.mostVariants {
            let variant = number == 0 ? name : FileName.numbered(name, number, as: numbering)
            guard let status = try? folder.status(of: variant) else { return false }
            let mark = completion(of: variant, status, in: folder)
            if mark?.fingerprint.source == OwnerAttribute.value(of: source) { return true }
        }
        return false
    }

    private static let mostVariants = 16

    package func digests(
        _ algorithms: [HashAlgorithm], of path: String,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        do throws(SystemError) {
            let file = try OpenFile(at: path)
            let status = try file.status()
            guard status.isRegular else { throw SystemError(number: EISDIR) }
            let hashing = ContentHashing(file: file, path: path, workers: hashers)
            hashing.digests(algorithms, length: status.length, completion: completion)
        } catch { completion(.failure(Failure.system(.cannotOpen, "cannot check", at: path, error))) }
    }

    package func hash(
        _ range: ByteRange, _ algorithm: HashAlgorithm, padding: Int64, of path: String,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        hashers.submit {
            do throws(Failure) {
                let file = try FileHashing(Array(path.utf8))
                completion(.success(try file.digest(algorithm, of: range, padding: padding)))
            } catch { completion(.failure(error)) }
        }
    }
}

/// What a folder has of an entry of a listing.
package enum ListedFile: Hashable, Sendable {
    /// Nothing, or a file that was not made from the entry.
    case unknown
    /// A file that was made from the entry as it is: shown by validators (`isProven`), or by length and time.
    case unchanged(isProven: Bool)
    /// A file that was made from the entry, as it was then or as it is: only the server can say.
    case perhapsOutdated(FileStamp)
    /// A file that was made from the entry as it was.
    case outdated(FileStamp)
}

/// What a listing says of an entry's content.
package struct ListedFacts: Hashable, Sendable {
    /// The address with which the file was fetched.
    package var source: String
    /// `nil` where the listing has no strong validator.
    package var content: ContentFingerprint?
    /// `nil` unless it is exact.
    package var length: Int64?
    package var modified: UnixTime?
    /// How many seconds `modified` may stand for.
    package var timeStep: Int64 = 1
    /// That of listings with minutes, in nanoseconds.
    static let longestStep: Int64 = 60_000_000_000

    package init(source: String, content: ContentFingerprint?) {
        self.source = source
        self.content = content
    }
}

extension FileDisk {
    /// What the file of that name is to an entry of a listing.
    ///
    /// Where files have no attributes, one of the entry's length and time is unchanged.
    package func listedFile(_ name: String, in path: String, _ facts: ListedFacts) -> ListedFile {
        guard let folder = folders.existing(path, trusting: true), let status = try? folder.status(of: name),
            status.isRegular
        else { return .unknown }
        guard folder.bearsMarks else { return facts.fits(status) ? .unchanged(isProven: false) : .unknown }
        guard let mark = completion(of: name, status, in: folder),
            mark.fingerprint.source == OwnerAttribute.value(of: facts.source)
        else { return .unknown }
        if let content = facts.content {
            guard mark.isProven else { return .perhapsOutdated(status.stamp) }
            return mark.fingerprint == content && mark.length == facts.length ?? mark.length
                ? .unchanged(isProven: true) : .outdated(status.stamp)
        }
        if facts.fits(status), !facts.isRecent(for: status) { return .unchanged(isProven: false) }
        return .perhapsOutdated(status.stamp)
    }
}

extension ListedFacts {
    /// Whether a file has this length and time.
    fileprivate func fits(_ status: FileStatus) -> Bool {
        guard let length, let modified, status.length == length else { return false }
        let time = Int64((Double(status.modifiedTime) / 1e9).rounded(.down))
        return modified.seconds <= time && time < modified.seconds + timeStep
    }

    /// Whether the content may have changed once more in the time that the listing's step hides, after it was fetched.
    fileprivate func isRecent(for status: FileStatus) -> Bool {
        guard let modified else { return true }
        return status.changed / 1_000_000_000 <= modified.seconds + timeStep
    }
}

extension FileDisk {
    /// The file of that name, if it was made from one of these addresses and nobody has changed it since.
    package func finishedFile(_ name: String, in path: String, from sources: [String]) -> FinishedFile? {
        guard let folder = folders.existing(path, trusting: true), let status = try? folder.status(of: name),
            let mark = completion(of: name, status, in: folder),
            sources.contains(where: { OwnerAttribute.value(of: $0) == mark.fingerprint.source })
        else { return nil }
        return FinishedFile(stamp: stamp(of: name, in: path), length: mark.length, sources: sources)
    }
}
