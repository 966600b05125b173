import Glibc
package import PawlCore
import PawlSystem

/// Stores the secret between starts, in a file that only its owner can read, created at the first start.
package enum SecretFile {
    /// The maximum length of a file in bytes; more is not read.
    static let longest = 4096

    /// The text of the file, which is created with 32 random hexadecimal digits if it is missing.
    package static func text(at path: String) throws(Failure) -> String {
        if let text = try read(path) { return text }
        let digits = (0..<4).map { _ in
            let word = String(UInt32.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 8 - word.count) + word
        }
        try write(digits.joined(), to: path)
        // Another process may have created it first: the file wins.
        guard let text = try read(path) else { throw failure(.cannotOpen, "cannot read", path, ENOENT) }
        return text
    }

    /// Removes the file if it exists; the next secret is a new one.
    static func remove(at path: String) { unsafe unlink(path) }

    private static func read(_ path: String) throws(Failure) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(.cannotOpen, "cannot read", path, errno)
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else {
            throw failure(.inputOutput, "cannot read", path, errno)
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw Failure(
                .badOption,
                "will not use",
                at: path,
                because: "other users may have read the secret in it",
                remedy: "remove the file; the next start creates a new one"
            )
        }
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = unsafe Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { throw failure(.inputOutput, "cannot read", path, errno) }
        let text = String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .first
        guard let text else {
            throw Failure(
                .badOption,
                "will not use",
                at: path,
                because: "it is empty",
                remedy: "remove the file"
            )
        }
        return String(text)
    }

    private static func write(_ text: String, to path: String) throws(Failure) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            if errno == EEXIST { return }
            throw failure(.cannotCreate, "cannot create", path, errno)
        }
        defer { close(file) }
        let bytes = Array((text + "\n").utf8)
        guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
            let number = errno
            // Part of a secret would be read as the secret at the next start.
            remove(at: path)
            throw failure(.inputOutput, "cannot write", path, number)
        }
    }

    private static func failure(
        _ code: Failure.Code,
        _ what: String,
        _ path: String,
        _ number: Int32
    ) -> Failure {
        Failure(code, what, at: path, because: SystemError(number: number).text)
    }
}
