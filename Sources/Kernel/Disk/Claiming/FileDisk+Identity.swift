import CPawlSystem
import Glibc
package import PawlBase
package import PawlJournal
import PawlSystem

// What is done to the finished file of a download: only to the file itself, never to another one that has its name now.
extension FileDisk {
    package func stamp(of name: String, in folder: String) -> FileStamp? {
        folders.existing(folder)?.found(name, follows: true)?.stamp
    }

    package func stamp(ofFolder folder: String) -> FolderStamp? {
        var found = pawl_stamp()
        let path = folder.isEmpty ? "." : folder
        guard unsafe pawl_stamp(AT_FDCWD, path, 1, &found) == 0, found.is_folder != 0 else { return nil }
        return FolderStamp(inode: found.inode, birth: found.birth)
    }

    package func presence(of file: FinishedFile, as name: String, in folder: String) -> FinishedFile.Presence {
        guard let folder = folders.existing(folder) else { return .missing }
        let found = folder.found(name)
        // The file that was there before the download may have been reached through a link; its own is not moved behind one.
        let follows = found?.isLink == true && file.wasThere
        return folder.presence(of: file, as: name, follows ? folder.found(name, follows: true) : found)
    }

    package func remove(_ name: String, in folder: String, if file: FinishedFile) throws(Failure) {
        guard let folder = folders.existing(folder), try folder.prove(file, as: name, to: "cannot remove") != nil else {
            return
        }
        do throws(SystemError) { try folder.remove(name) } catch  where error.isMissing { return } catch {
            throw Failure.system(.inputOutput, "cannot remove", at: folder.path(of: name), error)
        }
    }

    package func syncNames(in folder: String) { try? folders.existing(folder)?.sync() }

    package func rename(
        _ name: String, to newName: String, in folder: String, if file: FinishedFile, replacing: Bool
    ) throws(Failure) {
        let folder = try existing(folder, of: name, to: "cannot rename")
        guard let proven = try folder.prove(file, as: name, to: "cannot rename") else {
            throw Failure.system(.renameFailed, "cannot rename", at: folder.path(of: name), .missing)
        }
        // A link is itself replaced nowhere: what it leads to may be anywhere.
        if replacing, let other = folder.found(newName), !other.isRegular {
            throw Failure.exists(folder.path(of: newName))
        }
        do throws(SystemError) {
            try folder.rename(name, to: newName, replacing: replacing)
            // Another file may have got the name since it was looked at.
            guard folder.found(newName)?.identity == proven.identity else {
                try folder.rename(newName, to: name, replacing: false)
                throw SystemError(number: ESTALE)
            }
            try folder.sync()
        } catch  where error.number == EEXIST { throw Failure.exists(folder.path(of: newName)) } catch
            where error.number == ESTALE
        { throw Failure.notTheFile("cannot rename", at: folder.path(of: name)) } catch {
            throw Failure.system(.renameFailed, "cannot rename", at: folder.path(of: name), error)
        }
    }

    package func link(
        _ name: String, from folder: String, as newName: String, to newFolder: String, if file: FinishedFile
    ) throws(Failure) {
        let old = try existing(folder, of: name, to: "cannot move")
        guard let proven = try old.prove(file, as: name, to: "cannot move") else {
            throw Failure.system(.renameFailed, "cannot move", at: old.path(of: name), .missing)
        }
        let new = try folders.open(newFolder)
        do throws(SystemError) {
            try old.link(name, as: newName, into: new)
            guard new.found(newName)?.identity == proven.identity else {
                // Another file's second name, or its only one.
                if old.found(name) != nil { try new.remove(newName) } else { try new.move(newName, to: name, of: old) }
                throw SystemError(number: ESTALE)
            }
            try new.sync()
        } catch  where error.number == EEXIST { throw Failure.exists(new.path(of: newName)) } catch
            where error.number == ESTALE
        { throw Failure.notTheFile("cannot move", at: old.path(of: name)) } catch  where error.number == EXDEV {
            throw Failure(
                .renameFailed, "cannot move", at: old.path(of: name),
                because: LocalizableMessage(
                    "folder-of-other-system", "the folder \(newFolder) is on another file system"),
                remedy: "choose a folder on the same file system, or add the download with that folder")
        } catch {
            throw Failure.system(.renameFailed, "cannot move", at: old.path(of: name), error)
        }
    }

    /// The folder of a file, which is not created.
    private func existing(_ folder: String, of name: String, to what: String) throws(Failure) -> Folder {
        if let folder = folders.existing(folder) { return folder }
        throw Failure.system(.renameFailed, what, at: "\(folder)/\(name)", .missing)
    }
}

/// What has a name in a folder.
struct FoundFile {
    let stamp: FileStamp
    let isRegular: Bool
    let isLink: Bool

    var identity: FileIdentity { FileIdentity(device: stamp.device, inode: stamp.inode) }
}

extension Folder {
    /// What has that name; `nil` when nothing has, or it cannot be inspected.
    fileprivate func found(_ name: String, follows: Bool = false) -> FoundFile? {
        var found = pawl_stamp()
        let isFound = withDescriptor { unsafe pawl_stamp($0, name, follows ? 1 : 0, &found) } == 0
        return isFound ? FoundFile(found) : nil
    }

    fileprivate func presence(of file: FinishedFile, as name: String, _ found: FoundFile?) -> FinishedFile.Presence {
        guard let found else { return .missing }
        guard found.isRegular else { return .other }
        return file.presence(of: found.stamp) {
            guard bearsMarks, let opened = try? open(name, flags: O_RDONLY | O_NONBLOCK) else { return nil }
            return OwnerAttribute.completion(of: opened)
        }
    }

    /// The file itself under its name, `nil` when nothing has that; throws code 13 for another one, also a symbolic link.
    fileprivate func prove(_ file: FinishedFile, as name: String, to what: String) throws(Failure) -> FoundFile? {
        let found = found(name)
        switch presence(of: file, as: name, found) {
        case .missing: return nil
        case .there: return found
        case .changed, .other: throw Failure.notTheFile(what, at: path(of: name))
        }
    }
}

extension FoundFile {
    fileprivate init(_ found: pawl_stamp) {
        isRegular = found.is_regular != 0
        isLink = found.is_link != 0
        stamp = FileStamp(found)
    }
}

extension FileStamp {
    fileprivate init(_ found: pawl_stamp) {
        self.init(
            device: found.device, inode: found.inode, length: found.length, modified: found.modified, birth: found.birth
        )
    }
}

extension OpenFile {
    /// The file as it is now.
    func stamp() throws(SystemError) -> FileStamp {
        var found = pawl_stamp()
        try SystemError.check(unsafe pawl_stamp(descriptor, "", 0, &found))
        return FileStamp(found)
    }

    /// Whether it is the file that a download has finished.
    func presence(of finished: FinishedFile) -> FinishedFile.Presence {
        guard let stamp = try? stamp() else { return .other }
        return finished.presence(of: stamp) { OwnerAttribute.completion(of: self) }
    }
}

extension SystemError { fileprivate static let missing = SystemError(number: ENOENT) }
