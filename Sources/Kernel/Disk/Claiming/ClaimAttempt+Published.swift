import Glibc
import PawlBase
import PawlJournal
import PawlSystem

/// A kill between the final rename and the last step of publishing.
extension ClaimAttempt {
    /// Whether the file of the final name is this download's own, published by a process that could not report it; the
    /// remaining steps are done then.
    ///
    /// The owner attribute identifies it or, without attributes, the journal, which holds the part file's inode. A file
    /// of another part of the resource is not this download's, nor is a part file to which its user gave the name.
    func endPublishing(_ finished: FileStatus) throws(Failure) -> Bool {
        switch folder.flaw(of: finished) {
        case nil, .severalNames: break
        case .notRegular, .otherOwner, .writableByOthers: return false
        }
        do throws(SystemError) {
            let file = try folder.open(names.final, flags: O_RDWR | O_NONBLOCK)
            guard try file.status().identity == finished.identity,
                // A process that is publishing it now holds its lock.
                try JournalFile.lockIfPossible(file), try folder.status(of: names.part) == nil
            else { return false }
            let mark = folder.bearsMarks ? OwnerAttribute.read(file) : .unsupported
            guard mark == .unsupported || OwnerAttribute.part(of: file) == selection?.mark,
                let left = try left(of: finished, mark, isNoted: isNotedAsComplete(file, finished))
            else { return false }
            try folder.sync()
            if left == .journal { try folder.remove(names.journal) }
            OwnerAttribute.end(on: file)
            return true
        } catch {
            // A file that cannot be inspected is another program's.
            return false
        }
    }

    private enum Left {
        case nothing
        case journal
    }

    /// Whether it is a part file to which its user gave the final name: the journal beside it tells that bytes are missing.
    func isUnfinished(_ finished: FileStatus) -> Bool {
        guard finished.isRegular, (try? status(of: names.journal)) ?? nil != nil,
            case .whole(let image, _) = try? JournalFile.find(names.journal, in: folder), image.header.original == nil,
            image.header.inodes.part == finished.identity.inode,
            folder.bearsMarks || image.header.facts.representation.total != nil,
            let file = try? folder.open(names.final, flags: O_RDONLY | O_NONBLOCK)
        else { return false }
        return !isNotedAsComplete(file, finished) && !image.claimsAll(of: finished.length)
    }

    /// Removes the journal beside a finished file that is recognized without a claim; that of an unfinished one stays.
    fileprivate func removeLeftover(of finished: FileStatus) {
        do throws(SystemError) {
            guard folder.flaw(of: finished).map({ $0 == .severalNames }) ?? true,
                try folder.status(of: names.journal) != nil, try folder.status(of: names.part) == nil
            else { return }
            let file = try folder.open(names.final, flags: O_RDWR | O_NONBLOCK)
            guard try file.status().identity == finished.identity, try JournalFile.lockIfPossible(file) else { return }
            let isNoted = isNotedAsComplete(file, finished)
            let isLeft =
                switch try? JournalFile.find(names.journal, in: folder) {
                case .whole(let image, _):
                    image.header.original == nil && image.header.inodes.part == finished.identity.inode
                        && (isNoted || !folder.bearsMarks && image.claimsAll(of: finished.length))
                case .unborn, .damaged: isNoted
                case .none?, .foreign, .held, .newer, nil: false
                }
            guard isLeft else { return }
            try folder.sync()
            try folder.remove(names.journal)
            OwnerAttribute.end(on: file)
        } catch {
            // What cannot be inspected is another program's.
        }
    }

    /// Whether publishing has noted on the file that it is complete, and nothing has changed it since.
    private func isNotedAsComplete(_ file: OpenFile, _ status: FileStatus) -> Bool {
        guard folder.bearsMarks else { return false }
        if let mark = OwnerAttribute.completion(of: file) {
            return mark.length == status.length && mark.modified == status.modifiedTime
        }
        return OwnerAttribute.completeLength(of: file) == status.length
    }

    /// The file that publishing has left behind; `nil` when the finished file is not this download's.
    private func left(
        of finished: FileStatus, _ mark: OwnerAttribute.Lookup, isNoted: Bool
    ) throws(SystemError) -> Left? {
        switch mark {
        case .missing: return nil
        case .of(let value): guard value == OwnerAttribute.value(of: source) else { return nil }
        case .unsupported: break
        }
        switch try? JournalFile.find(names.journal, in: folder) {
        // A finished file that was only prepared for resuming is unchanged.
        case .whole(let image, _):
            let isIts =
                image.original(trusting: image.written) == nil
                && image.header.facts.sources.first.hasSameBytes(as: source)
                && image.header.inodes.part == finished.identity.inode
                && image.header.facts.representation.selection == selection
            let isWhole = isNoted || mark == .unsupported && image.claimsAll(of: finished.length)
            return isIts && isWhole ? .journal : nil
        // A small file has no journal, and the existing one is another program's.
        case .none?, .foreign: return isNoted ? .nothing : nil
        // A power cut can leave the journal's name without its content, and the finished file beside it.
        case .unborn, .damaged: return isNoted ? .journal : nil
        case .held, .newer, nil: return nil
        }
    }
}

extension FileDisk {
    /// Removes what a kill or a power cut has left of publishing a file that is there, and whose name nobody claims.
    package func tidy(_ name: String, in folder: String) {
        guard let folder = folders.existing(folder, trusting: true), let finished = try? folder.status(of: name) else {
            return
        }
        let claim = Claim(
            folder: folder.path, name: name, ifExists: .skip, facts: JournalFacts(sources: [], name: name))
        ClaimAttempt(disk: self, folder: folder, claim: claim, number: 0).removeLeftover(of: finished)
    }
}

extension JournalImage {
    /// Whether all bytes that were requested are on disk, as many as the file has, and nothing is against them.
    fileprivate func claimsAll(of length: Int64) -> Bool {
        let found = header.facts.representation
        guard let total = found.total, let selection = found.selection else { return false }
        return selection.length(of: total) == length && written.contains(ByteRange(0, length)) && found.damage == nil
            && found.openJoints.isEmpty
    }
}
