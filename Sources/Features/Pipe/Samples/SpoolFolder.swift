import Glibc
package import PawlBase
import PawlDisk
import PawlJournal
import PawlSystem
import Synchronization

/// The folder in which unnamed files are created.
package final class SpoolFolder: Sendable {
    let path: String
    let folders: FolderCache

    /// The setting with which another folder is chosen for temporary files.
    private let setting: String?

    package init(_ path: String, setting: String? = nil) {
        self.path = path
        self.setting = setting
        folders = FolderCache(traits: nil, marks: false, trust: 1000, user: FileUser(user: geteuid(), group: getegid()))
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
            throw explained(Failure.sample(.inputOutput, "cannot write to", at: path, error))
        }
    }

    /// The failure with the setting as a remedy for a full disk.
    func explained(_ failure: Failure) -> Failure {
        guard failure.code == .diskFull, let setting else { return failure }
        var failure = failure
        failure.remedy = "free some space there, or set \(setting) to another folder, then run it again"
        return failure
    }
}
