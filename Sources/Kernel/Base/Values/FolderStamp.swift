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
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let inode = UInt64(parts[0]), let birth = Int64(parts[1]) else { return nil }
        self.init(inode: inode, birth: birth)
    }
}
