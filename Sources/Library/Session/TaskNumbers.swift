#if Queue
import Glibc
import Pawl

/// The task identifiers of a session: each is given once, also across kills of the program.
///
/// They are reserved in blocks, so that few tasks write a file. A kill leaves a gap.
struct TaskNumbers: Sendable {
    private static let block = 64
    /// Versions without the file gave lower ones.
    private static let firstWithoutFile = 1_000_000

    private var last = 0
    private var reserved = 0
    /// `nil`: the session ends with the process.
    private let file: StateFile?

    /// Numbers of a session that ends with the process.
    init() { file = nil }

    /// Numbers above all that a background session has given.
    init(of session: SessionRoot) {
        let folder = "\(session.path)/.pawl"
        let file = StateFile("numbers", in: folder)
        self.file = file
        let bytes = file.read(atMost: 20)
        if let bytes, let stored = Int(String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)), stored >= 0,
            stored <= Int.max / 2
        {
            reserved = stored
        } else if bytes?.isEmpty != true {
            // Unreadable or damaged: above what any session can have given.
            reserved = Int(SessionFolders.now)
        } else if unsafe access("\(folder)/queue.db", F_OK) == 0 {
            reserved = Self.firstWithoutFile
        }
        last = reserved
    }

    mutating func next() -> Int {
        last += 1
        if last > reserved {
            reserved = last + Self.block - 1
            file?.replace(with: Array("\(reserved)\n".utf8), syncs: true)
        }
        return last
    }

    /// A restored task has this number.
    mutating func restore(_ number: Int) { last = max(last, number) }
}
#endif
