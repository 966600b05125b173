import Glibc
import PawlCore
import PawlSystem

/// The same bytes under another name.
extension Publication {
    private static let mostVariants = 16
    private static let room: Int64 = 256 << 10

    /// The finished file that an earlier download of this URL has made, with these bytes, and that nobody has changed since.
    ///
    /// The server states nothing by which it could have been recognized before the content had arrived.
    func sameFile() -> String? {
        guard disk.recognizesFinished, claim.recognizesBytes, claim.ifExists == .rename, number > 0, isNew,
            content == nil,
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
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(length, Self.room)),
            alignment: 64
        )
        defer { unsafe room.deallocate() }
        var offset: Int64 = 0
        while offset < length {
            let part = unsafe UnsafeMutableRawBufferPointer(
                rebasing: room.prefix(Int(min(Self.room, length - offset)))
            )
            guard try unsafe file.read(into: part, at: offset) == part.count,
                try unsafe other.holds(UnsafeRawBufferPointer(part), at: offset)
            else { return false }
            offset += Int64(part.count)
        }
        return true
    }
}
