/// A file as it was at one time, by which a later change of it, or another file in its place, is noticed.
package struct FileStamp: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    package var length: Int64
    /// The time of the last write, in nanoseconds since 1970.
    package var modified: Int64

    package init(device: UInt64, inode: UInt64, length: Int64, modified: Int64) {
        self.device = device
        self.inode = inode
        self.length = length
        self.modified = modified
    }
}
