import Glibc
import PawlBase
import PawlJournal
import PawlSystem

/// The same bytes under another name.
extension Publication {
    static let mostVariants = 16
    private static let room: Int64 = 256 << 10

    /// The finished file that an earlier download of this URL has made, with these bytes, and that nobody has changed since.
    ///
    /// The server stated nothing by which it could have been recognized before the content had arrived, or other
    /// validators than then: some nodes have tags of their own, and a file that is uploaded again has another date.
    func sameFile() -> String? {
        guard disk.recognizesFinished, claim.recognizesBytes, claim.ifExists == .rename, isNew, folder.bearsMarks,
            let (name, number) = numbered
        else { return nil }
        return (0..<min(number, Self.mostVariants)).lazy.map {
            $0 == 0 ? name : FileName.numbered(name, $0, as: disk.numbering)
        }.first(where: isSame)
    }

    /// The suggested name, and which of its variants was claimed; `nil` if it was free.
    ///
    /// The part file of an earlier run is claimed by the name that the earlier run has numbered.
    private var numbered: (name: String, number: Int)? {
        if number > 0 { return (claim.name, number) }
        if claim.isChosen { return nil }
        return FileName.unnumbered(claim.name, upTo: Self.mostVariants, as: disk.numbering)
    }

    private func isSame(_ name: String) -> Bool {
        do throws(SystemError) {
            guard let status = try folder.status(of: name), status.length == length,
                let mark = disk.completion(of: name, status, in: folder),
                mark.fingerprint.source == OwnerAttribute.value(of: claim.source)
            else { return false }
            let found = try folder.open(name, flags: O_RDONLY | O_NONBLOCK)
            guard try hasBytes(of: found), try found.status().hasContent(of: status) else { return false }
            if let content {
                let mark = CompletionMark(content, length: length, modified: status.modifiedTime, isTold: true)
                OwnerAttribute.set(mark, on: found)
            }
            return true
        } catch { return false }
    }

    private func hasBytes(of other: OpenFile) throws(SystemError) -> Bool {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(min(length, Self.room)), alignment: 64)
        defer { unsafe room.deallocate() }
        var offset: Int64 = 0
        while offset < length {
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: room.prefix(Int(min(Self.room, length - offset))))
            guard try unsafe file.read(into: part, at: offset) == part.count,
                try unsafe other.holds(UnsafeRawBufferPointer(part), at: offset)
            else { return false }
            offset += Int64(part.count)
        }
        return true
    }
}
