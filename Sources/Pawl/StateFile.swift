import Glibc
import PawlCore

/// A small file of the state folder, shared by all programs of the user.
///
/// A missing file, or one that cannot be written, is treated as empty. Each writer replaces the whole file.
package struct StateFile: Sendable {
    private let folder: String
    private let path: String

    package init(_ name: String, in folder: String) {
        self.folder = folder
        path = "\(folder)/\(name)"
    }

    /// Returns `limit` + 1 bytes if the file is longer than `limit`.
    package func read(atMost limit: Int) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let more = unsafe bytes[count...].withUnsafeMutableBytes {
                unsafe systemRead(file, $0.baseAddress, $0.count)
            }
            guard more > 0 else { break }
            count += more
        }
        return Array(bytes[..<count])
    }

    /// `syncs`: the new content is on disk when this returns.
    package func replace(with bytes: [UInt8], syncs: Bool = false) {
        makeFolder()
        let draft = "\(path).\(getpid())"
        _ = unsafe unlink(draft)
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        let isWritten =
            unsafe bytes.withUnsafeBytes { unsafe systemWrite(file, $0.baseAddress, $0.count) } == bytes.count
        let isSynced = !syncs || fsync(file) == 0
        guard close(file) == 0, isWritten, isSynced, unsafe rename(draft, path) == 0 else {
            _ = unsafe unlink(draft)
            return
        }
    }

    private func makeFolder() {
        var made = folder.hasPrefix("/") ? "" : "."
        for part in folder.pathParts() {
            made += "/\(part)"
            _ = unsafe mkdir(made, 0o700)
        }
    }
}

// Aliases that the file's own methods do not shadow.
private func systemRead(_ file: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(file, buffer, count)
}

private func systemWrite(_ file: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(file, bytes, count)
}
