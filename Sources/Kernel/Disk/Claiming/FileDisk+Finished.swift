import Glibc
package import PawlBase
package import PawlJournal
import PawlSystem

/// A finished file of Pawl's own that still matches the server's.
extension ClaimAttempt {
    func isComplete(_ finished: FileStatus) -> Bool {
        guard disk.recognizesFinished, let content = claim.content(),
            let mark = disk.completion(of: names.final, finished, in: folder)
        else { return false }
        return mark.isProven && mark.fingerprint == content && mark.length == claim.length ?? mark.length
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
        _ range: ByteRange, _ algorithm: HashAlgorithm, of path: String,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        hashers.submit {
            do throws(Failure) {
                let file = try FileHashing(Array(path.utf8))
                completion(.success(try file.digest(algorithm, of: range)))
            } catch { completion(.failure(error)) }
        }
    }
}

/// What a folder has of an object of a listing.
package enum ListedFile: Hashable, Sendable {
    /// Nothing, or a file that was not made from the object.
    case unknown
    /// A file that was made from the object as it is.
    case unchanged
    /// A file that was made from the object as it was.
    case outdated
}

extension FileDisk {
    /// What the file of that name is to an object of `source` with this content.
    ///
    /// Where files have no attributes, one of the object's length and time is unchanged.
    package func listedFile(
        _ name: String, in path: String, from source: String, content: ContentFingerprint?, length: Int64,
        modified: UnixTime?
    ) -> ListedFile {
        guard let folder = folders.existing(path, trusting: true), let status = try? folder.status(of: name),
            status.isRegular
        else {
            return .unknown
        }
        guard folder.bearsMarks else {
            let time = status.modifiedTime / 1_000_000_000
            return status.length == length && time == modified?.seconds ? .unchanged : .unknown
        }
        guard let mark = completion(of: name, status, in: folder), mark.isProven,
            mark.fingerprint.source == OwnerAttribute.value(of: source)
        else { return .unknown }
        return mark.fingerprint == content && mark.length == length ? .unchanged : .outdated
    }
}
