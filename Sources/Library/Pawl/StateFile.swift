import Glibc
import PawlBase
import PawlSystem

/// A small file of the state folder, shared by all programs of the user.
///
/// One that cannot be written is left as it is. Each writer replaces the whole file.
package struct StateFile: Sendable {
    private let folder: String
    private let path: String

    package init(_ name: String, in folder: String) {
        self.folder = folder
        path = "\(folder)/\(name)"
    }

    /// Returns `limit` + 1 bytes if the file is longer than `limit`, none if it is missing, and `nil` if it cannot be read:
    /// then it must not be replaced by what follows from an empty one.
    package func read(atMost limit: Int) -> [UInt8]? {
        do throws(Failure) { return try AtomicFile.read(path, atMost: limit) ?? [] } catch { return nil }
    }

    /// `syncs`: the new content is on disk when this returns.
    package func replace(with bytes: [UInt8], syncs: Bool = true) {
        makeFolder()
        try? AtomicFile.replace(path, with: bytes, syncs: syncs)
    }

    private func makeFolder() {
        var made = folder.hasPrefix("/") ? "" : "."
        for part in folder.pathParts() {
            made += "/\(part)"
            _ = unsafe mkdir(made, 0o700)
        }
    }
}
