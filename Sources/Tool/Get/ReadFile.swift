import Glibc
package import PawlBase
import PawlSystem

/// The bytes of a file, or of standard input for `-`; more than `limit` of them are a failure.
///
/// By default millions of URLs: an endless file, such as a device, must not fill the memory.
package func readBytes(at path: String, named name: [UInt8]? = nil, limit: Int = 256 << 20) throws(Failure) -> [UInt8] {
    let bytes = try readBytes(at: path, named: name, atMost: limit + 1)
    guard bytes.count <= limit else {
        let place = path == "-" ? "standard input" : path
        throw Failure(.tooLarge, "cannot use", at: place, because: "it has more than \(limit) bytes")
    }
    return bytes
}

/// The first bytes of a file, or of standard input for `-`; `name` are the bytes of the path.
package func readBytes(at path: String, named name: [UInt8]? = nil, atMost most: Int) throws(Failure) -> [UInt8] {
    let isInput = path == "-"
    let place = isInput ? "standard input" : path
    let name = (name ?? Array(path.utf8)) + [0]
    let descriptor = isInput ? STDIN_FILENO : unsafe open(name.map { CChar(bitPattern: $0) }, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
        throw Failure(.cannotOpen, "cannot open", at: place, because: SystemError.last.text, remedy: .checkPath)
    }
    defer { if !isInput { close(descriptor) } }
    do throws(SystemError) { return try BoundedRead.descriptor(descriptor, atMost: most) } catch {
        throw Failure(.cannotOpen, "cannot read", at: place, because: error.text)
    }
}

/// Throws if a file given by an option cannot be read: better now than at the first request.
package func checkReadable(_ path: String, option: String) throws(Failure) {
    var info = stat()
    let isFolder = unsafe stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    guard unsafe isFolder || access(path, R_OK) != 0 else { return }
    let error = isFolder ? SystemError(number: EISDIR) : .last
    throw Failure(
        .cannotOpen, "cannot open", at: path, because: "\(error.text) (given with --\(option))",
        remedy: .checkPath)
}

/// Whether anything has this name, be it a link to nothing.
package func nameExists(_ path: String) -> Bool {
    var found = stat()
    return unsafe lstat(path, &found) == 0
}
