#if Queue
import Glibc
import PawlBase

/// The download roots that have had a queue, in the file `roots` of the state folder: one path a line, the latest last.
///
/// A root whose disk is not mounted looks like a new one: its downloads would be gone without a word, and new ones on
/// another disk.
struct KnownRoots: Sendable {
    private static let most = 200
    private static let mostBytes = 1 << 20
    private let file: StateFile?

    /// Without a folder, none is known.
    init(in folder: String?) { file = folder.flatMap { $0.isEmpty ? nil : StateFile("roots", in: $0) } }

    /// Throws code 15 if the root has had a queue, and has no folder for one now.
    func check(_ root: String) throws(Failure) {
        guard !Self.hasQueueFolder(root), paths().containsBytes(of: root) else { return }
        let isThere = unsafe access(root, F_OK) == 0
        throw Failure(
            .cannotOpen, "cannot open the queue in", at: root,
            because: isThere
                ? LocalizableMessage("root-lost-queue", "it had a queue, and has none now")
                : LocalizableMessage("root-with-queue-gone", "it had a queue, and is not there now"),
            remedy: "mount its disk, or make the folder \(root)/.pawl to begin a new queue")
    }

    /// Notes a root whose queue was opened.
    func note(_ root: String) {
        guard let file, root.utf8.first == UInt8(ascii: "/"), !root.utf8.contains(UInt8(ascii: "\n")) else { return }
        var paths = paths()
        guard !(paths.last?.hasSameBytes(as: root) ?? false) else { return }
        paths.removeAll { $0.hasSameBytes(as: root) }
        paths.append(root)
        file.replace(with: paths.suffix(Self.most).flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] })
    }

    private func paths() -> [String] {
        let bytes = file?.read(atMost: Self.mostBytes) ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func hasQueueFolder(_ root: String) -> Bool { unsafe access("\(root)/.pawl", F_OK) == 0 }
}
#endif
