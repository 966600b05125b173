import Glibc

/// A new folder that is removed with everything in it when the last reference goes.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// Makes the folder under `parent`; `/dev/shm` is memory, for big files.
    package init(in parent: String = "/tmp") throws(SystemError) {
        var template = Array("\(parent)/pawl-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError("mkdtemp in \(parent)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { FileSystem.remove(path) }

    /// The path of something in it.
    package func path(_ name: String) -> String { "\(path)/\(name)" }
    /// What is in it, sorted.
    package var names: [String] { FileSystem.names(in: path) }

    /// What is wrong with the file of that name as a copy of `payload`; `nil` when nothing is.
    package func difference(_ name: String, from payload: Payload) -> String? {
        FileSystem.difference(of: path(name), from: payload)
    }
}
