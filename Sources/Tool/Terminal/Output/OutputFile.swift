import Glibc
import PawlBase
package import PawlSystem
import Synchronization

/// Buffered output to standard output or standard error.
///
/// Output that cannot be written must not end a download: it is dropped from then on, and reported at the end unless the
/// reader closed it.
package struct OutputFile: ~Copyable {
    private let descriptor: Int32
    private var pending: [UInt8] = []
    private var isBroken = false

    /// The descriptor stays open: it belongs to the process.
    package init(descriptor: Int32) { self.descriptor = descriptor }

    package mutating func append(_ text: String) { append(text.utf8) }

    package mutating func append(_ bytes: some Sequence<UInt8>) { pending.append(contentsOf: bytes) }

    package mutating func appendLine(_ line: String) { append(line + "\n") }

    /// Writes the buffer.
    package mutating func flush() {
        if !isBroken {
            do throws(SystemError) { try WholeWrite.perform(pending, to: descriptor) } catch {
                isBroken = true
                if descriptor == STDOUT_FILENO { Self.lose(error.number) }
            }
        }
        pending.removeAll(keepingCapacity: pending.capacity <= 1 << 16)
    }

    /// Why output of this process to standard output was lost; a reader that has closed it does not want more.
    package static var lostOutput: SystemError? {
        let number = lost.load(ordering: .relaxed)
        return number == 0 ? nil : SystemError(number: number)
    }

    /// The first error that lost output, 0 for none.
    private static let lost = Atomic<Int32>(0)

    private static func lose(_ number: Int32) {
        guard number != EPIPE else { return }
        _ = lost.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    }
}

extension StreamTarget {
    /// Standard output, a character device, a named pipe or an open descriptor at that path, also through a symbolic
    /// link; `nil` for anything else.
    package init?(at path: String) {
        if ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path) {
            self = .standardOutput
            return
        }
        // The descriptor may be a file, which must not be replaced: another program opened it.
        if path == "/dev/stderr" || path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/") {
            self = .path(path)
            return
        }
        var found = stat()
        guard unsafe stat(path, &found) == 0, [S_IFCHR, S_IFIFO].contains(found.st_mode & S_IFMT) else { return nil }
        self = .path(path)
    }
}
