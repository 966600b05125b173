import PawlBase
import PawlJournal
import PawlSystem

/// The record in an unfilled journal about the part file beside it: the inode, with a check.
///
/// It marks the part file where the file system has no extended attributes.
enum PartVoucher {
    private static let length = 16

    static func write(_ part: UInt64, to file: OpenFile, at offset: Int) throws(SystemError) {
        try file.write(bytes(of: part) + bytes(of: check(part)), at: Int64(offset))
    }

    /// Returns `nil` unless the record is intact.
    static func read(_ file: OpenFile, at offset: Int) throws(SystemError) -> UInt64? {
        let found = try file.contents(limit: offset + length)
        guard found.count == offset + length else { return nil }
        let part = word(found[offset..<offset + 8])
        return word(found[(offset + 8)...]) == check(part) ? part : nil
    }

    private static func bytes(of word: UInt64) -> [UInt8] {
        stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func check(_ part: UInt64) -> UInt64 { CRC64.value(of: JournalLayout.magic + bytes(of: part)) }
}
