import Glibc
import PawlCore
import PawlSystem

/// The same bytes under another name.
extension Publication {
    private static let mostVariants = 16
    private static let room = 256 << 10

    /// The finished file that an earlier download of this URL has made, with these bytes, and that nobody has changed since.
    ///
    /// The server states nothing by which it could have been recognized before the content had arrived.
    func sameFile() -> String? {
        guard claim.recognizesBytes, claim.ifExists == .rename, number > 0, isNew, content == nil,
            folder.bearsMarks
        else { return nil }
        return (0..<min(number, Self.mostVariants)).lazy
            .map { $0 == 0 ? claim.name : FileName.numbered(claim.name, $0, as: disk.numbering) }
            .first(where: isSame)
    }

    private func isSame(_ name: String) -> Bool {
        do throws(SystemError) {
            guard let status = try folder.status(of: name), status.length == length,
                let mark = disk.completion(of: name, status, in: folder),
                mark.fingerprint.source == OwnerAttribute.value(of: claim.source)
            else { return false }
            let found = try folder.open(name, flags: O_RDONLY | O_NONBLOCK)
            guard try hasBytes(of: found) else { return false }
            return try found.status().hasContent(of: status)
        } catch {
            return false
        }
    }

    private func hasBytes(of other: OpenFile) throws(SystemError) -> Bool {
        let room = Int(min(length, Int64(Self.room)))
        let mine = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 64)
        let theirs = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 64)
        defer {
            unsafe mine.deallocate()
            unsafe theirs.deallocate()
        }
        var offset: Int64 = 0
        while offset < length {
            let count = Int(min(Int64(room), length - offset))
            let parts = unsafe (
                UnsafeMutableRawBufferPointer(rebasing: mine[..<count]),
                UnsafeMutableRawBufferPointer(rebasing: theirs[..<count])
            )
            guard try unsafe file.read(into: parts.0, at: offset) == count,
                try unsafe other.read(into: parts.1, at: offset) == count,
                unsafe parts.0.elementsEqual(parts.1)
            else { return false }
            offset += Int64(count)
        }
        return true
    }
}
