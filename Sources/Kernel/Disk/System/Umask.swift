import Glibc
import PawlSystem

/// The permissions that this process removes from new files.
///
/// umask(2) can only be read by setting it, which other threads would notice; the kernel reports it in a file.
enum Umask {
    /// 022 when it cannot be read.
    static let own: UInt32 = {
        var bytes = [UInt8](repeating: 0, count: 4096)
        guard let file = try? OpenFile(at: "/proc/self/status"),
            let count = try? unsafe bytes.withUnsafeMutableBytes({ (buffer) throws(SystemError) in
                try unsafe file.read(into: buffer, at: 0)
            })
        else { return 0o022 }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        return line.flatMap { UInt32($0.drop { !$0.isNumber }, radix: 8) } ?? 0o022
    }()
}
