import Glibc
package import PawlBase
import PawlSystem

/// Stores the secret between starts, in a file that only its owner can read, created at the first start.
package enum SecretFile {
    /// The maximum length of a file in bytes; more is not read.
    static let longest = 4096
    private static let attempts = 100

    /// The text of the file, which is created with 32 random hexadecimal digits if it is missing.
    ///
    /// One that is empty, which version 0.2.0 left after a power cut, is replaced, and `notice` says so. Of several processes
    /// that create or replace it at the same time, one does, and all get its text.
    package static func text(at path: String, notice: (String) -> Void = { _ in }) throws(Failure) -> String {
        for _ in 1...attempts {
            guard let bytes = try read(path) else {
                _ = try AtomicFile.create(path, with: content())
                continue
            }
            if let text = text(bytes) { return text }
            guard try AtomicFile.replace(path, while: { text($0) == nil }, atMost: longest, with: content()) else {
                continue
            }
            notice("the file \(path) was empty; a new secret was created in it, which clients must use from now on")
        }
        throw Failure(
            .badOption, "will not use", at: path, because: "another process empties it again and again",
            remedy: "use another file")
    }

    /// Removes the file if it exists; the next secret is a new one.
    static func remove(at path: String) { unsafe unlink(path) }

    /// 128 random bits.
    private static func content() -> [UInt8] {
        let digits = (0..<4).map { _ in
            let word = String(UInt32.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 8 - word.count) + word
        }
        return Array((digits.joined() + "\n").utf8)
    }

    /// The first word; a power cut may have left zeros instead of the content.
    private static func text(_ bytes: [UInt8]) -> String? {
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        return String(decoding: bytes.prefix(longest), as: UTF8.self).split(whereSeparator: \.isWhitespace).first.map(
            String.init)
    }

    /// `nil` if there is no file.
    private static func read(_ path: String) throws(Failure) -> [UInt8]? {
        guard let bytes = try AtomicFile.read(path, atMost: longest) else { return nil }
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw Failure(
                .badOption, "will not use", at: path, because: "other users may have read the secret in it",
                remedy: "remove the file; the next start creates a new one")
        }
        return bytes
    }
}
