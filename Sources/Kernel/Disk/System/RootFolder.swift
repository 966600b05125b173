import CPawlSystem
import Glibc
import PawlBase
package import PawlJournal

/// A folder that was opened once: no path below it leads outside, whatever folders and links are swapped in it.
package final class RootFolder: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Returns `nil` when it cannot be opened.
    package init?(_ path: String) {
        let descriptor = unsafe pawl_open_folder(path)
        guard descriptor >= 0 else { return nil }
        self.path = path.utf8.last == UInt8(ascii: "/") ? path : path + "/"
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// A descriptor for reading; `nil` when the file is not below the folder, or the path has a link.
    package func open(_ file: String) -> Int32? {
        guard let name = file.afterBytes(of: path) else { return nil }
        let descriptor = unsafe pawl_open_beneath(descriptor, name)
        return descriptor >= 0 ? descriptor : nil
    }

    /// The same, and `nil` when what has the path is not the file that a download has finished.
    package func open(_ file: String, if finished: FinishedFile) -> Int32? {
        guard let descriptor = open(file) else { return nil }
        let opened = OpenFile(adopting: descriptor)
        guard opened.presence(of: finished) == .there else { return nil }
        // The open file closes its own.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? copy : nil
    }
}
