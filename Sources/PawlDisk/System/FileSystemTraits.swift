import CPawlSystem

/// What the file system of a folder can be trusted with.
struct FileSystemTraits: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    /// Its pages are cached by this kernel alone: what was written lives as long as the kernel.
    static let local = FileSystemTraits(rawValue: UInt32(PAWL_FS_LOCAL))
    /// In memory: syncing is pointless.
    static let volatile = FileSystemTraits(rawValue: UInt32(PAWL_FS_VOLATILE))
    /// A store to a mapped page that was written before cannot end in SIGBUS for want of room.
    static let mappable = FileSystemTraits(rawValue: UInt32(PAWL_FS_MAPPABLE))
    /// Inode numbers stay, so a file that was replaced is recognised.
    static let keepsInodes = FileSystemTraits(rawValue: UInt32(PAWL_FS_INODES))
    /// Files have owners and permissions of their own.
    static let keepsOwners = FileSystemTraits(rawValue: UInt32(PAWL_FS_OWNERS))

    init(rawValue: UInt32) { self.rawValue = rawValue }
    init(of file: OpenFile) { self.init(rawValue: pawl_file_system(file.descriptor)) }
}
