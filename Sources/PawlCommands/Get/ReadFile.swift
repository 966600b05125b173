import Glibc
import PawlCore
import PawlSystem

/// The text of a file, or of standard input for `-`.
///
/// Invalid UTF-8 becomes U+FFFD.
func readText(at path: String) throws(Failure) -> String {
    String(decoding: try readBytes(at: path), as: UTF8.self)
}

/// The bytes of a file, or of standard input for `-`.
func readBytes(at path: String) throws(Failure) -> [UInt8] {
    let isInput = path == "-"
    let place = isInput ? "standard input" : path
    let descriptor = isInput ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
        throw Failure(.cannotOpen, "cannot open", at: place, because: SystemError.last.text)
    }
    defer { if !isInput { close(descriptor) } }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe read(descriptor, &piece, piece.count)
        if count > 0 {
            bytes.append(contentsOf: piece[..<count])
        } else if count == 0 {
            return bytes
        } else if errno != EINTR {
            throw Failure(.cannotOpen, "cannot read", at: place, because: SystemError.last.text)
        }
    }
}

/// Throws if a file given by an option cannot be read: better now than at the first request.
func checkReadable(_ path: String, option: String) throws(Failure) {
    guard unsafe access(path, R_OK) != 0 else { return }
    throw Failure(
        .cannotOpen,
        "cannot open",
        at: path,
        because: "\(SystemError.last.text) (given with --\(option))"
    )
}
