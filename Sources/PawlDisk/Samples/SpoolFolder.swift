import Glibc
package import PawlCore
import PawlSystem
import Synchronization

/// The folder in which unnamed files are created.
package final class SpoolFolder: Sendable {
    let path: String
    let folders: FolderCache

    package init(_ path: String) {
        self.path = path
        folders = FolderCache(
            traits: nil,
            marks: false,
            trust: 1000,
            user: FileUser(user: geteuid(), group: getegid())
        )
    }

    private let refusesUnnamed = Atomic(false)

    /// Whether the files can be linked to a name later (O_TMPFILE).
    var makesUnnamed: Bool { !refusesUnnamed.load(ordering: .relaxed) }

    /// A new unnamed file.
    func open() throws(Failure) -> OpenFile {
        let folder = try folders.open(path)
        return try check { () throws(SystemError) in
            if let file = try folder.openUnnamed() { return file }
            refusesUnnamed.store(true, ordering: .relaxed)
            AtomicFile.sweep(path)
            let name = AtomicFile.draftName()
            let file = try folder.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            try folder.remove(name)
            return file
        }
    }

    /// Moves large content that is used later out of memory, into shared files.
    package func makeStore(longest: Int64 = 64 << 20) throws(Failure) -> SampleStore {
        SampleStore(try open(), self, longest: longest)
    }

    func check<Value>(_ body: () throws(SystemError) -> Value) throws(Failure) -> Value {
        do throws(SystemError) { return try body() } catch {
            throw Failure.sample(.inputOutput, "cannot write to", at: path, error)
        }
    }
}
