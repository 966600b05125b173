import Glibc
package import PawlBase
import PawlCollections
import PawlDisk
import PawlJournal
import PawlSystem

/// The file that an archive of an image becomes, and the folder beside it in which its blobs are until then.
package struct ArchiveFile: Sendable {
    package let path: String
    let policy: IfExists

    private static let draftName = "archive"
    private static let piece = 1 << 20

    package init(_ path: String, _ policy: IfExists) {
        self.path = path
        self.policy = policy
    }

    /// Whether what an address names can become one: the layout of an image.
    package static func mayHold(_ reference: RegistryReference, isArtifact: Bool) -> Bool {
        reference.scheme != .ollama && !isArtifact
    }

    package static let ending = ".tar"

    /// The blobs have the places of a layout below it.
    package var folder: String { path + ".blobs" }

    /// What is done before blobs are fetched; returns why nothing is.
    ///
    /// Throws code 21 for another file of the name, if it may neither be replaced nor left.
    func begin(_ archive: ImageArchive) throws(Failure) -> String? {
        for name in names {
            guard Self.exists(name) else { break }
            guard isFile(name, archive) else { continue }
            clear(archive)
            return "\(name) is there already, with the whole image"
        }
        guard Self.exists(path) else { return nil }
        switch policy {
        case .rename, .overwrite: return nil
        case .skip: return "\(path) is there already, and was left as it is"
        case .fail, .resume: throw .exists(path)
        }
    }

    /// Writes the archive and gives it its name, unless a blob is missing; returns that.
    ///
    /// Every blob is compared with its digest while it is read.
    func complete(_ archive: ImageArchive) throws(Failure) -> String? {
        for case .blob(let blob) in archive.members.map(\.content)
        where !ImageFolder.has(blob, at: place(of: blob)) { return nil }
        try FolderPath.make(folder)
        let own = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { throw Failure.system(.cannotOpen, "cannot open", at: folder, .last) }
        // Also ends the lock.
        defer { close(own) }
        _ = retrying { flock(own, LOCK_EX) }
        let draft = "\(folder)/\(Self.draftName)"
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard file >= 0 else { throw Failure.system(.cannotCreate, "cannot create", at: draft, .last) }
        do throws(Failure) {
            defer { close(file) }
            try write(archive, to: file)
        } catch {
            unsafe unlink(draft)
            throw error
        }
        for name in names where try AtomicFile.name(draft, name, replaces: policy == .overwrite) {
            clear(archive)
            return name
        }
        throw .exists(path)
    }

    /// The name, and with `rename` those that follow.
    private var names: [String] {
        guard policy == .rename else { return [path] }
        let name = path.pathParts().last.map(String.init) ?? path
        let start = String(Substring(path.utf8.dropLast(name.utf8.count)))
        return [path] + (1...100).map { start + FileName.numbered(name, $0) }
    }

    private static func exists(_ path: String) -> Bool {
        var found = stat()
        return unsafe lstat(path, &found) == 0
    }

    private func place(of blob: Descriptor) -> String {
        let (folder, name) = ImageLayout.blob(blob.digest)
        return "\(self.folder)/\(folder)/\(name)"
    }

    /// Removes the blobs, and the folder if nothing else is in it.
    private func clear(_ archive: ImageArchive) {
        for member in archive.members {
            guard case .blob(let blob) = member.content else { continue }
            unsafe unlink(place(of: blob))
            // A power cut can bring it back beside a blob that is complete.
            let (place, name) = ImageLayout.blob(blob.digest)
            unsafe unlink("\(folder)/\(place)/\(FileName.journal(of: name))")
        }
        for member in archive.members.reversed() where member.content == .folder {
            unsafe rmdir("\(folder)/\(member.name)")
        }
        unsafe unlink("\(folder)/\(Self.draftName)")
        unsafe rmdir(folder)
    }
}

// Bytes of archives.
extension ArchiveFile {
    private func write(_ archive: ImageArchive, to file: Int32) throws(Failure) {
        var offset: Int64 = 0
        func put(_ bytes: [UInt8]) throws(Failure) {
            do throws(SystemError) {
                try unsafe bytes.span.bytes.withUnsafeBytes { (buffer) throws(SystemError) in
                    try unsafe WholeWrite.perform(buffer, to: file, at: offset)
                }
            } catch {
                throw Failure.system(.inputOutput, "cannot write", at: path, error)
            }
            offset += Int64(bytes.count)
        }
        for member in archive.members {
            try put(member.header)
            switch member.content {
            case .folder: break
            case .bytes(let bytes): try put(bytes)
            case .blob(let blob):
                let isRight = try Self.read(place(of: blob), from: 0, blob) { (piece) throws(Failure) in
                    try put(piece)
                }
                guard isRight else {
                    throw Failure(
                        .checksumMismatch, "cannot use", at: place(of: blob),
                        because: "another program has changed it: it does not have its digest any more",
                        remedy: "remove it, and run the command again")
                }
            }
            try put(TarHeader.padding(after: member.length))
        }
        try put(archive.end)
        guard retrying({ fsync(file) }) == 0 else {
            throw Failure.system(.inputOutput, "cannot write", at: path, .last)
        }
    }

    /// Whether a file is the archive, byte by byte; the blobs of it by their digests.
    private func isFile(_ path: String, _ archive: ImageArchive) -> Bool {
        var found = stat()
        guard unsafe stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG,
            Int64(found.st_size) == archive.length + Int64(archive.end.count)
        else { return false }
        var offset: Int64 = 0
        func has(_ bytes: [UInt8]) -> Bool {
            defer { offset += Int64(bytes.count) }
            return Self.bytes(path, offset, bytes.count) == bytes
        }
        for member in archive.members {
            guard has(member.header) else { return false }
            switch member.content {
            case .folder: break
            case .bytes(let bytes): guard has(bytes) else { return false }
            case .blob(let blob):
                guard (try? Self.read(path, from: offset, blob) { _ in }) == true else { return false }
                offset += blob.size
            }
            guard has(TarHeader.padding(after: member.length)) else { return false }
        }
        return has(archive.end)
    }

    private static func bytes(_ path: String, _ offset: Int64, _ count: Int) -> [UInt8]? {
        guard count > 0 else { return [] }
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return piece(of: file, offset, count)
    }

    private static func piece(of file: Int32, _ offset: Int64, _ count: Int) -> [UInt8]? {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = (try? unsafe BoundedRead.fill(UnsafeMutableRawBufferPointer(buffer), from: file, at: offset)) ?? 0
        }
    }

    /// Gives the bytes of a blob, which begin at a place of a file, to `body`; returns whether they have its digest.
    private static func read(
        _ path: String, from start: Int64, _ blob: Descriptor, _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure.system(.cannotOpen, "cannot open", at: path, .last) }
        defer { close(file) }
        let hasher = ContentDigest.hasher([blob.digest.checksum.algorithm])
        var done: Int64 = 0
        while done < blob.size {
            let wanted = Int(min(Int64(piece), blob.size - done))
            guard let bytes = piece(of: file, start + done, wanted), !bytes.isEmpty else { return false }
            unsafe bytes.withUnsafeBytes { unsafe hasher.feed($0) }
            try body(bytes)
            done += Int64(bytes.count)
        }
        return hasher.finish().first == blob.digest.checksum
    }
}
