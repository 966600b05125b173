import CPawlSystem

/// The guarantees of a folder's file system.
package struct FileSystemTraits: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    /// Only this kernel caches its pages: what was written lives as long as the kernel.
    package static let local = FileSystemTraits(rawValue: UInt32(PAWL_FS_LOCAL))
    /// In memory: syncing is pointless.
    package static let volatile = FileSystemTraits(rawValue: UInt32(PAWL_FS_VOLATILE))
    /// A store to a mapped page that was written before cannot raise SIGBUS for lack of space.
    static let mappable = FileSystemTraits(rawValue: UInt32(PAWL_FS_MAPPABLE))
    /// Inode numbers are stable, so a file that was replaced is recognized.
    static let keepsInodes = FileSystemTraits(rawValue: UInt32(PAWL_FS_INODES))
    /// Files have owners and permissions of their own.
    static let keepsOwners = FileSystemTraits(rawValue: UInt32(PAWL_FS_OWNERS))

    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package init(of file: OpenFile) { self.init(rawValue: pawl_file_system(file.descriptor)) }
}
