import Glibc

/// A new folder that is removed with its contents when it is deallocated.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// Creates the folder under `parent`; `/dev/shm` is memory, for big files.
    package init(in parent: String = "/tmp") throws(SetupFailure) {
        var template = Array("\(parent)/pawl-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SetupFailure("mkdtemp in \(parent)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { FileSystem.remove(path) }

    /// The path of an entry.
    package func path(_ name: String) -> String { "\(path)/\(name)" }
    /// The names of its entries, sorted.
    package var names: [String] { FileSystem.names(in: path) }

    /// The difference between the file of that name and `payload`; `nil` when there is none.
    package func difference(_ name: String, from payload: Payload) -> String? {
        FileSystem.difference(of: path(name), from: payload)
    }
}
