import Glibc

/// A memory file system of a chosen size on a new folder, for full and read-only disks.
///
/// Needs root.
package final class MountedFolder: Sendable {
    private let folder: TemporaryFolder
    package var path: String { folder.path }

    package init(bytes: Int64) throws {
        folder = try TemporaryFolder()
        let process = try PawlProcess.run(
            "/usr/bin/mount", ["-t", "tmpfs", "-o", "size=\(bytes)", "pawl-test", folder.path])
        guard process.exit == .code(0) else { throw SetupFailure("mount: \(process.errors)", EPERM) }
    }

    /// Changes its size or its mode while it is mounted, with options of mount's `-o`.
    package func remount(_ options: String) throws {
        let process = try PawlProcess.run("/usr/bin/mount", ["-o", "remount,\(options)", folder.path])
        guard process.exit == .code(0) else { throw SetupFailure("remount: \(process.errors)", EPERM) }
    }

    package func path(_ name: String) -> String { folder.path(name) }
    package var names: [String] { folder.names }

    deinit { _ = try? PawlProcess.run("/usr/bin/umount", ["-l", folder.path]) }

    /// Whether this process may mount.
    package static let isAvailable: Bool = (try? MountedFolder(bytes: 65_536)) != nil
}
