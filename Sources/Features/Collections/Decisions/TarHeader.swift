import PawlBase

/// Headers of a tar archive (POSIX.1-2024 pax, "ustar Interchange Format").
///
/// They are reproducible: no owner and no time.
package enum TarHeader {
    package static let block = 512
    /// The unit in which archives are read and written (20 blocks); programs that append to one count on it.
    private static let blocking = 20 * block

    private static let longestName = 100
    private static let largest: Int64 = 0o77777777777

    /// The header blocks of a file.
    package static func file(_ name: String, length: Int64) -> [UInt8] { member(name, length, type: "0", mode: 0o644) }

    /// The header blocks of an empty folder.
    package static func folder(_ name: String) -> [UInt8] { member(name, 0, type: "5", mode: 0o755) }

    /// The header of a member, behind an extended one for what does not fit into it.
    private static func member(_ name: String, _ length: Int64, type: Unicode.Scalar, mode: Int64) -> [UInt8] {
        var records: [UInt8] = []
        if name.utf8.count > longestName { records += paxRecord("path", Array(name.utf8)) }
        if length > largest { records += paxRecord("size", Array(String(length).utf8)) }
        let plain = header(Array(name.utf8.prefix(longestName)), min(length, largest), type: type, mode: mode)
        guard !records.isEmpty else { return plain }
        return header(Array("pax".utf8), Int64(records.count), type: "x") + records
            + padding(after: Int64(records.count)) + plain
    }

    /// A global header with a comment, which readers skip; a file or folder has to follow.
    ///
    /// Its name is that of the global header with which `git archive` begins.
    package static func comment(_ text: [UInt8]) -> [UInt8] {
        let records = paxRecord("comment", text)
        return header(Array("pax_global_header".utf8), Int64(records.count), type: "g") + records
            + padding(after: Int64(records.count))
    }

    /// The end of an archive of that many bytes: two blocks of zeros, and others up to a whole unit.
    package static func end(after length: Int64) -> [UInt8] {
        let over = Int((length + Int64(2 * block)) % Int64(blocking))
        return [UInt8](repeating: 0, count: 2 * block + (over == 0 ? 0 : blocking - over))
    }

    /// The padding after that many bytes.
    package static func padding(after length: Int64) -> [UInt8] {
        let over = Int(length % Int64(block))
        return over == 0 ? [] : [UInt8](repeating: 0, count: block - over)
    }

    /// `name` has at most ``longestName`` bytes.
    private static func header(_ name: [UInt8], _ length: Int64, type: Unicode.Scalar, mode: Int64 = 0o644) -> [UInt8] {
        var bytes = template
        // The template has zeros where these are.
        var sum = templateSum + Int64(UInt8(ascii: type))
        for (index, byte) in name.enumerated() {
            bytes[index] = byte
            sum += Int64(byte)
        }
        put(mode, digits: 7, at: 100, in: &bytes)
        put(length, digits: 11, at: 124, in: &bytes)
        for byte in bytes[100..<107] + bytes[124..<135] { sum += Int64(byte) }
        bytes[156] = UInt8(ascii: type)
        put(sum, digits: 6, at: 148, in: &bytes)
        bytes[154] = 0
        return bytes
    }

    /// A header without name, mode, length, type and checksum, for which it has blanks.
    private static let template: [UInt8] = {
        var bytes = [UInt8](repeating: 0, count: block)
        func put(_ text: String, at offset: Int) {
            for (index, byte) in text.utf8.enumerated() { bytes[offset + index] = byte }
        }
        put("0000000\0", at: 108)
        put("0000000\0", at: 116)
        put("00000000000\0", at: 136)
        put("        ", at: 148)
        put("ustar\u{0}00", at: 257)
        return bytes
    }()

    private static let templateSum = template.reduce(0) { $0 + Int64($1) }

    /// Writes an octal number.
    private static func put(_ number: Int64, digits: Int, at offset: Int, in bytes: inout [UInt8]) {
        var left = number
        for index in (offset..<(offset + digits)).reversed() {
            bytes[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: left & 7)
            left >>= 3
        }
    }

    /// `LENGTH NAME=VALUE`; the length includes its own digits.
    private static func paxRecord(_ name: String, _ value: [UInt8]) -> [UInt8] {
        let rest = name.utf8.count + value.count + 3
        var length = rest + 1
        while String(length).utf8.count + rest != length { length = String(length).utf8.count + rest }
        return Array("\(length) \(name)=".utf8) + value + [.lineFeed]
    }
}
