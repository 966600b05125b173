import Glibc
package import PawlBase
package import PawlJournal
import PawlSystem

// Whole files: a name for bytes that are all there.
extension FileDisk {
    package func publishesWhole(in folder: String) -> Bool {
        // On a disk it would have to be synced again after it is named.
        guard let folder = folders.existing(folder, trusting: true) else { return false }
        return folder.traits.contains(.volatile) && folder.makesUnnamed
    }

    package func isFree(_ name: String, in folder: String) -> Bool {
        guard let folder = folders.existing(folder, trusting: true), mayName(name, in: folder) else { return false }
        do throws(SystemError) { return try folder.status(of: name) == nil } catch { return false }
    }

    /// Whether nothing that this process knows of is in the way of a file of that name.
    private func mayName(_ name: String, in folder: Folder) -> Bool {
        !unfinished.mayHavePart(name, in: folder)
            && !claims.holds(ClaimRegistry.Key(folder: folder.identity, name: name))
            && FileName.unnumbered(name, upTo: Publication.mostVariants, as: numbering) == nil
            && !isReserved(name, in: folder.path)
    }

    package func publish(_ file: WholeFile) -> PublishedFile? {
        guard let folder = try? folders.open(file.folder), folder.traits.contains(.volatile),
            mayName(file.name, in: folder)
        else { return nil }
        warn(of: folder)
        do throws(SystemError) {
            guard let unnamed = try folder.openUnnamed() else { return nil }
            try unsafe file.bytes.span.bytes.withUnsafeBytes { (bytes) throws(SystemError) in
                try unsafe unnamed.write(bytes, at: 0)
            }
            if let modified = file.modified {
                try unnamed.setModified(timespec(tv_sec: Int(modified.seconds), tv_nsec: 0))
            }
            let stamp = try unnamed.stamp()
            mark(file, stamp, unnamed, in: folder)
            try folder.name(unnamed, file.name)
            return PublishedFile(path: folder.path(of: file.name), stamp: stamp)
        } catch { return nil }
    }

    private func mark(_ file: WholeFile, _ stamp: FileStamp, _ unnamed: OpenFile, in folder: Folder) {
        guard folder.bearsMarks else { return }
        let content = file.content ?? .unproven(source: file.source)
        let mark = CompletionMark(
            content, isProven: file.content != nil, length: stamp.length, modified: stamp.modified, isTold: true)
        OwnerAttribute.set(mark, on: unnamed)
    }

    package func digests(_ algorithms: [HashAlgorithm], of bytes: [UInt8]) -> [Checksum] {
        ContentDigest.digests(algorithms, of: bytes, coding: nil) ?? []
    }
}
