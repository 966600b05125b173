import Glibc
package import PawlBase

extension FileDisk { package func room(in folder: String) -> DiskRoom? { DiskRoom(at: folder) } }

extension DiskRoom {
    /// That of the file system which has the path, or would have it.
    init?(at path: String) {
        var path = path
        while true {
            var (status, system) = (stat(), statvfs())
            if unsafe stat(path.isEmpty ? "." : path, &status) == 0 {
                guard unsafe statvfs(path.isEmpty ? "." : path, &system) == 0 else { return nil }
                self.init(status, system)
                return
            }
            guard errno == ENOENT, path.count > 1 else { return nil }
            let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
            path = end == path.startIndex ? "/" : end.map { String(path[..<$0]) } ?? ""
        }
    }

    fileprivate init(_ status: stat, _ system: statvfs) {
        let size = UInt64(system.f_frsize > 0 ? system.f_frsize : system.f_bsize)
        let (bytes, overflows) = UInt64(system.f_bavail).multipliedReportingOverflow(by: size)
        self.init(
            device: UInt64(status.st_dev), bytes: overflows ? .max : Int64(clamping: bytes),
            // Some file systems make inodes as they are needed, and report none.
            files: system.f_files > 0 ? Int64(clamping: system.f_favail) : nil,
            isReadOnly: system.f_flag & UInt(ST_RDONLY) != 0)
    }
}
