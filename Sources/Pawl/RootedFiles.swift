import PawlDisk

/// Files below a folder that was opened once; see `RootFolder`.
package final class RootedFiles: Sendable {
    private let folder: RootFolder?

    /// A folder that cannot be opened has no files.
    package init(_ path: String) { folder = RootFolder(path) }

    /// A descriptor for reading; `nil` when the file is not below the folder, or a link is on the way.
    package func open(_ path: String) -> Int32? { folder?.open(path) }
}
