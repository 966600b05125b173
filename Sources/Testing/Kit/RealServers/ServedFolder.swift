import Glibc

/// Files for a real server, readable for any user.
package final class ServedFolder: Sendable {
    private let folder: TemporaryFolder
    package var path: String { folder.path }

    package init() throws(SetupFailure) {
        folder = try TemporaryFolder()
        unsafe chmod(folder.path, 0o755)
    }

    /// Adds `payload` with a time in the past, so that it cannot be mistaken for the time of a download.
    package func add(_ name: String, _ payload: Payload, modified: Int64 = ServedFolder.modified) throws(SetupFailure) {
        let path = folder.path(name)
        try FileSystem.write(payload.bytes, to: path)
        let time = timespec(tv_sec: Int(modified), tv_nsec: 0)
        let times = [time, time]
        guard unsafe utimensat(AT_FDCWD, path, times, 0) == 0 else { throw SetupFailure("utimensat \(path)") }
    }

    /// 14 March 2021, 15:09:26 UTC.
    package static let modified: Int64 = 1_615_734_566
}
