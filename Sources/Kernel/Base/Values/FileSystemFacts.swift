/// A file as it was at one time, by which a later change of it, or another file in its place, is noticed.
package struct FileStamp: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    package var length: Int64
    /// The time of the last write, in nanoseconds since 1970.
    package var modified: Int64
    /// The time of its creation, in nanoseconds since 1970; 0 if unknown.
    ///
    /// No program can set it, and a file that has got the number of a deleted one has another.
    package var birth: Int64 = 0

    package init(device: UInt64, inode: UInt64, length: Int64, modified: Int64, birth: Int64 = 0) {
        self.device = device
        self.inode = inode
        self.length = length
        self.modified = modified
        self.birth = birth
    }

    /// Whether both are stamps of one file, which may have been written in between; `nil` where a creation time is unknown.
    ///
    /// The numbers of devices change when the machine starts again.
    package func isSameFile(as other: FileStamp) -> Bool? {
        guard birth != 0, other.birth != 0 else { return nil }
        return inode == other.inode && birth == other.birth
    }

    /// Whether length and time of the last write are equal; programs that copy files may keep only its seconds.
    package func hasContent(of other: FileStamp) -> Bool {
        guard length == other.length else { return false }
        let second: Int64 = 1_000_000_000
        return modified == other.modified
            || (modified % second == 0 || other.modified % second == 0) && modified / second == other.modified / second
    }

    /// As text without line ends.
    package var text: String { "\(device) \(inode) \(length) \(modified)" + (birth == 0 ? "" : " \(birth)") }

    /// `nil` for what ``text`` has not written; an earlier version wrote no creation time.
    package init?(text: String) {
        guard let parts = integers(in: text), 4...5 ~= parts.count, let device = UInt64(exactly: parts[0]),
            let inode = UInt64(exactly: parts[1]), let length = Int64(exactly: parts[2]),
            let modified = Int64(exactly: parts[3]), let birth = parts.count == 5 ? Int64(exactly: parts[4]) : 0
        else { return nil }
        self.init(device: device, inode: inode, length: length, modified: modified, birth: birth)
    }
}

/// A folder as it was at one time, by which another one of its path is noticed, such as that below a file system that is not
/// mounted any more.
package struct FolderStamp: Hashable, Sendable {
    package var inode: UInt64
    /// The time of its creation, in nanoseconds since 1970; 0 if unknown.
    package var birth: Int64

    /// Device numbers are left out: they change when a machine starts again.
    package init(inode: UInt64, birth: Int64) {
        self.inode = inode
        self.birth = birth
    }

    /// As text without line ends.
    package var text: String { "\(inode) \(birth)" }

    /// `nil` for what ``text`` has not written.
    package init?(text: String) {
        guard let parts = integers(in: text), parts.count == 2, let inode = UInt64(exactly: parts[0]),
            let birth = Int64(exactly: parts[1])
        else { return nil }
        self.init(inode: inode, birth: birth)
    }
}

/// What a file system has room for at a moment, as it reports it: a quota does not show.
package struct DiskRoom: Hashable, Sendable {
    /// The number of its device.
    package var device: UInt64
    /// The bytes that are available to this user.
    package var bytes: Int64
    /// The files that can still be created; `nil` where that has no limit.
    package var files: Int64?
    package var isReadOnly: Bool

    package init(device: UInt64, bytes: Int64, files: Int64? = nil, isReadOnly: Bool = false) {
        (self.device, self.bytes, self.files, self.isReadOnly) = (device, bytes, files, isReadOnly)
    }

    /// Less than the smallest part file with its journal needs.
    private static let least: Int64 = 64 << 10

    /// Whether there is room for bytes, and for no further file.
    package var lacksFiles: Bool { files == 0 && bytes >= Self.least }

    /// Whether a download that still needs so many bytes may get further.
    package func mayHold(_ needed: Int64?) -> Bool {
        !isReadOnly && files != 0 && bytes >= max(needed ?? 0, Self.least)
    }
}

/// The decimal integers of a text, separated by single spaces; `nil` for any other text.
///
/// By bytes, without a text for each: a queue parses them with every record that it reads.
private func integers(in text: String) -> [Int128]? {
    var all: [Int128] = []
    var (value, isNegative, digits) = (Int128(0), false, 0)
    func ended() -> Int128? { digits > 0 ? (isNegative ? -value : value) : nil }
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: " "):
            guard let ended = ended() else { return nil }
            all.append(ended)
            (value, isNegative, digits) = (0, false, 0)
        case UInt8(ascii: "-") where digits == 0 && !isNegative: isNegative = true
        case UInt8(ascii: "0")...UInt8(ascii: "9") where digits < 20:
            value = value * 10 + Int128(byte - UInt8(ascii: "0"))
            digits += 1
        default: return nil
        }
    }
    guard let ended = ended() else { return nil }
    return all + [ended]
}
