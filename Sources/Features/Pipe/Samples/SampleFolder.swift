import CPawlSystem
import Glibc
package import PawlBase
import PawlDisk
import PawlSystem
import Synchronization

/// A folder in which complete files are published atomically, and none is replaced.
package final class SampleFolder: Sendable {
    package let path: String
    /// The spool for content that becomes a file in this folder.
    package let spool: SpoolFolder
    private let root: Folder
    /// The folder for syncing: opened once, since drafts may have all other descriptors when they are synced.
    private let synced: OpenFile
    private var folders: FolderCache { spool.folders }

    /// Creates the folder when it is missing.
    package init(_ path: String) throws(Failure) {
        self.path = path
        spool = SpoolFolder(path)
        root = try spool.folders.open(path)
        do throws(SystemError) { synced = try root.open(".", flags: O_RDONLY | O_DIRECTORY) } catch {
            throw Failure.sample(.inputOutput, "cannot write to", at: path, error)
        }
    }

    /// The longest wait for a descriptor: transfers release theirs without the thread that waits here.
    private static let patience = 30.0

    /// A file that has no final name yet.
    package final class Draft: Sendable {
        fileprivate let file: OpenFile
        fileprivate let folder: Folder
        fileprivate let name: String
        /// The temporary name, where the file system has no O_TMPFILE.
        fileprivate let temporaryName: String?
        private let end = Mutex<Int64>(0)

        fileprivate init(_ file: OpenFile, _ folder: Folder, _ name: String, _ temporaryName: String?) {
            self.file = file
            self.folder = folder
            self.name = name
            self.temporaryName = temporaryName
        }

        package var length: Int64 { end.withLock { $0 } }
        package var path: String { folder.path(of: name) }

        package func append(_ bytes: [UInt8]) throws(Failure) {
            let start = length
            do throws(SystemError) { try file.write(bytes, at: start) } catch {
                throw Failure.sample(.inputOutput, "cannot write", at: path, error)
            }
            end.withLock { $0 = start + Int64(bytes.count) }
        }

        package func append(_ content: SampleContent) throws(Failure) {
            let start = length
            try content.write(to: file, at: start, path: path)
            end.withLock { $0 = start + content.length }
        }

        /// A part of what was written, for reading.
        package func content(from start: Int64, length: Int64) -> SampleContent {
            SampleContent(file: file, start: start, length: length)
        }

        /// Puts the bytes on stable storage.
        package func sync() throws(Failure) {
            guard !folder.traits.contains(.volatile) else { return }
            do throws(SystemError) { try file.syncData() } catch {
                throw Failure.sample(.inputOutput, "cannot write", at: path, error)
            }
        }

        /// Stores the origin of the content in an extended attribute.
        package func setSource(_ mark: [UInt8]) {
            _ = unsafe mark.span.bytes.withUnsafeBytes { value in
                unsafe pawl_set_attribute(file.descriptor, SampleFolder.attribute, value.baseAddress, value.count)
            }
        }

        package func discard() { if let temporaryName { try? folder.remove(temporaryName) } }
    }

    private static let attribute = "user.pawl.source"

    /// Creates the file for `name`, a path below the folder; missing subfolders are created.
    package func begin(_ name: String) throws(Failure) -> Draft {
        let (folder, last) = try place(of: name)
        do throws(SystemError) {
            if let file = try folder.openUnnamed() { return Draft(file, folder, last, nil) }
            return try beginNamed(last, in: folder)
        } catch { throw Failure.sample(.cannotCreate, "cannot create", at: folder.path(of: last), error) }
    }

    /// The file for `name` with this content, which is not copied if it is in a file of its own that no other name gets.
    package func make(_ name: String, of content: SampleContent) throws(Failure) -> Draft {
        let (folder, last) = try place(of: name)
        if spool.makesUnnamed, let file = content.takeFile(), let status = try? file.status(),
            status.identity.device == folder.identity.device
        {
            return Draft(file, folder, last, nil)
        }
        let draft = try begin(name)
        try draft.append(content)
        return draft
    }

    /// The temporary file of a killed process is reused, so at most one is left over.
    private func beginNamed(_ name: String, in folder: Folder) throws(SystemError) -> Draft {
        var number = 1
        while true {
            let temporary = ".\(name).\(number).part"
            let file = try folder.open(temporary, flags: O_RDWR | O_CREAT, mode: 0o666)
            // Its owner may have renamed it to its final name in the meantime.
            if try file.lock(), try folder.status(of: temporary)?.identity == file.status().identity {
                try file.truncate(to: 0)
                return Draft(file, folder, name, temporary)
            }
            number += 1
        }
    }

    /// Gives the file its name; `false` when the name is taken.
    package func publish(_ draft: Draft) throws(Failure) -> Bool {
        do throws(SystemError) {
            if let temporary = draft.temporaryName {
                try draft.folder.rename(temporary, to: draft.name, replacing: false)
            } else {
                try draft.folder.name(draft.file, draft.name)
            }
            return true
        } catch {
            guard error.number != EEXIST else { return false }
            throw Failure.sample(.renameFailed, "cannot create", at: draft.path, error)
        }
    }

    /// Puts all files and names of the file system on stable storage.
    package func syncAll() throws(Failure) {
        guard !root.traits.contains(.volatile) else { return }
        do throws(SystemError) { try synced.syncFileSystem() } catch {
            throw Failure.sample(.inputOutput, "cannot write to", at: path, error)
        }
    }

    /// What one sample needs at once: the two folders of its path, a check of that, and its file.
    private static let descriptors = 4

    /// Waits until there are descriptors for another sample.
    package func awaitDescriptors() throws(Failure) {
        let pause = 0.05
        folders.release()
        for attempt in 0...Int(Self.patience / pause) {
            if attempt > 0 { SystemThread.sleep(seconds: pause) }
            do throws(SystemError) {
                var held: [OpenFile] = []
                for _ in 0..<Self.descriptors { held.append(try root.open(".", flags: O_RDONLY | O_DIRECTORY)) }
                return
            } catch {
                let failure = Failure.sample(.inputOutput, "cannot write to", at: path, error)
                guard failure.lacksDescriptors, attempt < Int(Self.patience / pause) else { throw failure }
            }
        }
    }

    /// Puts the names in the file's folder on stable storage.
    package func syncNames(of draft: Draft) throws(Failure) {
        guard !draft.folder.traits.contains(.volatile) else { return }
        do throws(SystemError) { try draft.folder.sync() } catch {
            throw Failure.sample(.inputOutput, "cannot write to", at: draft.folder.path, error)
        }
    }

    /// A finished file.
    package struct Existing: Sendable {
        package let content: SampleContent
        private let file: OpenFile

        init(_ file: OpenFile, length: Int64) {
            self.file = file
            content = SampleContent(file: file, length: length)
        }

        /// A part of the file, up to its end.
        package func content(from start: Int64, length: Int64) -> SampleContent {
            SampleContent(file: file, start: start, length: min(length, max(0, content.length - start)))
        }

        /// The stored origin of the content; empty if unknown.
        package var source: [UInt8] {
            var value = [UInt8](repeating: 0, count: 64)
            let length = unsafe value.withUnsafeMutableBytes { place in
                unsafe pawl_attribute(file.descriptor, SampleFolder.attribute, place.baseAddress, place.count)
            }
            return length > 0 ? Array(value.prefix(Int(length))) : []
        }
    }

    /// The file `name`; `nil` when there is none.
    package func existing(_ name: String) throws(Failure) -> Existing? {
        let parts = Self.split(name)
        guard let folder = folders.existing(parts.folder.isEmpty ? path : "\(path)/\(parts.folder)") else { return nil }
        try folders.open(path).checkBeneath(parts.folder, folder)
        let obstacle: FileStatus
        do throws(SystemError) {
            guard let found = try folder.status(of: parts.name) else { return nil }
            if found.isRegular {
                let file = try folder.open(parts.name, flags: O_RDONLY | O_NONBLOCK)
                let opened = try file.status()
                if opened.isRegular { return Existing(file, length: opened.length) }
                // It has got the name meanwhile.
                obstacle = opened
            } else {
                obstacle = found
            }
        } catch {
            if error.isMissing { return nil }
            var failure = Failure.sample(.fileExists, "cannot read", at: folder.path(of: parts.name), error)
            if error.number == EACCES { failure.remedy = "make the file readable, or choose another name" }
            throw failure
        }
        throw folder.obstacle(parts.name, obstacle)
    }

    private func place(of name: String) throws(Failure) -> (folder: Folder, name: String) {
        let parts = Self.split(name)
        let own = try folders.open(path)
        guard !parts.folder.isEmpty else { return (own, parts.name) }
        // Before anything is created through a link.
        try own.checkBeneath(parts.folder)
        let folder = try folders.open("\(path)/\(parts.folder)")
        try own.checkBeneath(parts.folder, folder)
        return (folder, parts.name)
    }

    private static func split(_ name: String) -> (folder: String, name: String) {
        guard let slash = name.unicodeScalars.lastIndex(of: "/") else { return ("", name) }
        return (String(name[..<slash]), String(name[name.unicodeScalars.index(after: slash)...]))
    }
}
