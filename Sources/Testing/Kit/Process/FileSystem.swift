import Glibc
import PawlSystem

/// File operations for tests.
package enum FileSystem {
    private static func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    /// The length in bytes, `nil` when the file does not exist.
    package static func size(_ path: String) -> Int64? { status(path).map { Int64($0.st_size) } }
    /// The allocated bytes on the disk.
    package static func allocated(_ path: String) -> Int64? { status(path).map { Int64($0.st_blocks) * 512 } }
    /// The modification time, in Unix seconds.
    package static func modified(_ path: String) -> Int64? { status(path).map { Int64($0.st_mtim.tv_sec) } }
    /// The status change time, in nanoseconds since 1970.
    package static func changed(_ path: String) -> Int64? {
        status(path).map { Int64($0.st_ctim.tv_sec) * 1_000_000_000 + Int64($0.st_ctim.tv_nsec) }
    }
    /// The permission bits.
    package static func mode(_ path: String) -> UInt32? { status(path).map { $0.st_mode & 0o777 } }
    package static func inode(_ path: String) -> UInt64? { status(path).map { UInt64($0.st_ino) } }
    package static func exists(_ path: String) -> Bool { status(path) != nil }
    static func isFolder(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }

    /// The path without its last component.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The target of a symbolic link.
    package static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe readlink(path, base.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// The names in a folder, sorted; invalid UTF-8 is repaired.
    package static func names(in folder: String) -> [String] { FolderNames.read(folder).sorted() }

    /// The whole file, `nil` when it cannot be read.
    package static func contents(_ path: String) -> [UInt8]? {
        var contents: [UInt8] = []
        let isRead = unsafe read(path) { _, block in
            unsafe contents.append(contentsOf: block)
            return true
        }
        return isRead ? contents : nil
    }

    /// Creates or replaces a file.
    package static func write(_ bytes: [UInt8], to path: String) throws(SetupFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SetupFailure("open \(path)") }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count >= 0 else { throw SetupFailure("write \(path)") }
            written += count
        }
    }

    package static func move(_ path: String, to newPath: String) throws(SetupFailure) {
        guard unsafe rename(path, newPath) == 0 else { throw SetupFailure("rename \(path)") }
    }

    /// Removes a file or a folder with its contents, if it exists.
    package static func remove(_ path: String) {
        if isFolder(path) {
            for name in names(in: path) { remove("\(path)/\(name)") }
            unsafe rmdir(path)
        } else {
            unsafe unlink(path)
        }
    }

    /// Passes the file to `take` in blocks with their offsets until it returns `false`; `false` when it cannot be read.
    private static func read(_ path: String, _ take: (Int64, UnsafeRawBufferPointer) -> Bool) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var offset: Int64 = 0
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe Glibc.read(descriptor, &block, block.count)
            guard count > 0 else { return count == 0 }
            let continues = unsafe block.withUnsafeBytes {
                unsafe take(offset, UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            guard continues else { return true }
            offset += Int64(count)
        }
    }
}

extension FileSystem {
    /// The number of leading bytes of the file that match the payload; `nil` when it cannot be read.
    package static func agreement(of path: String, with payload: Payload) -> Int64? {
        var agreed: Int64 = 0
        let isRead = unsafe read(path) { offset, block in
            let wanted = max(0, min(Int64(block.count), payload.length - offset))
            let part = unsafe UnsafeRawBufferPointer(rebasing: block[..<Int(wanted)])
            let same = unsafe payload.agreement(with: part, at: offset)
            agreed += Int64(same)
            return same == block.count
        }
        return isRead ? agreed : nil
    }

    /// The difference between the file and `payload`; `nil` when there is none.
    package static func difference(of path: String, from payload: Payload) -> String? {
        guard let size = size(path) else { return "\(path) does not exist" }
        guard let agreed = agreement(of: path, with: payload) else { return "\(path) cannot be read" }
        if agreed < min(size, payload.length) { return "\(path) differs at byte \(agreed) of \(payload.length)" }
        return size == payload.length ? nil : "\(path) has \(size) bytes, not \(payload.length)"
    }
}
