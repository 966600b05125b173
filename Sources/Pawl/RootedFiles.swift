package import PawlCore
import PawlDisk

/// Access to files below a folder opened once; see `RootFolder`.
package final class RootedFiles: Sendable {
    private let folder: RootFolder?

    /// If the folder cannot be opened, no file is found.
    package init(_ path: String) { folder = RootFolder(path) }

    /// A descriptor for reading; `nil` if the file is not below the folder, its path contains a symbolic link, or it is
    /// not the finished file.
    package func open(_ path: String, if file: FinishedFile) -> Int32? { folder?.open(path, if: file) }
}
