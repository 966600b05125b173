import CPawlSystem
import Glibc
import PawlJournal
import PawlSystem

/// The kernel's identifier of the current boot.
enum SystemBoot {
    /// `nil` when the kernel does not report it: then no page cache is trusted.
    package static let identity: BootIdentity? = {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard unsafe pawl_boot_identity(&bytes) == 0 else { return nil }
        func word(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        return BootIdentity(high: word(bytes[0..<8]), low: word(bytes[8..<16]))
    }()
}

/// The clock of file timestamps.
enum SystemTime {
    /// Nanoseconds since 1970.
    package static var now: Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(clamping: now.tv_sec) &* 1_000_000_000 &+ Int64(clamping: now.tv_nsec)
    }
}

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

/// The permissions that this process removes from new files.
///
/// umask(2) can only be read by setting it, which other threads would notice; the kernel reports it in a file.
enum Umask {
    /// 022 when it cannot be read.
    static let own: UInt32 = {
        var bytes = [UInt8](repeating: 0, count: 4096)
        guard let file = try? OpenFile(at: "/proc/self/status"),
            let count = try? unsafe bytes.withUnsafeMutableBytes({ (buffer) throws(SystemError) in
                try unsafe file.read(into: buffer, at: 0)
            })
        else { return 0o022 }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        return line.flatMap { UInt32($0.drop { !$0.isNumber }, radix: 8) } ?? 0o022
    }()
}
