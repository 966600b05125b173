package import PawlBase
import PawlIntegrity
package import PawlJournal

/// What the sums files of a tree state of its files.
package struct TreeSums: Sendable {
    /// So many of them are read.
    private static let most = 64

    private struct Stated: Sendable {
        var digest: ExpectedDigest
        /// Another file, or another line, states another digest of the same algorithm.
        var isContradicted = false
    }

    private var files = 0
    private var stated: [Bytewise<String>: Stated] = [:]

    package init() {}

    package var mayAdd: Bool { files < Self.most }

    /// Takes what the file at this path states of files in its folder and below; `false` for what is no sums file.
    package mutating func add(_ bytes: [UInt8], at path: String, of address: WebAddress) -> Bool {
        files += 1
        let names = path.pathParts().map { Array($0.utf8) }
        guard let name = names.last, let sums = SumsFile(bytes, named: name) else { return false }
        for entry in sums.entries {
            guard let path = try? EntryName.path(names.dropLast() + entry.path) else { continue }
            let digest = ExpectedDigest(
                entry.checksum, or: sums.alternatives(to: entry.checksum), level: .sidecar, source: address.redacted)
            take(digest, of: Bytewise(path))
        }
        return true
    }

    private mutating func take(_ digest: ExpectedDigest, of path: Bytewise<String>) {
        guard let known = stated[path] else {
            stated[path] = Stated(digest: digest)
            return
        }
        let (old, new) = (known.digest.checksum, digest.checksum)
        if old.algorithm == new.algorithm {
            if old != new { stated[path]?.isContradicted = true }
        } else if let better = HashAlgorithm.allCases.first(where: { $0 == old.algorithm || $0 == new.algorithm }),
            better == new.algorithm
        {
            stated[path] = Stated(digest: digest)
        }
    }

    /// The best one; `nil` where none is stated, or different ones are.
    package func digest(of path: String) -> ExpectedDigest? {
        guard let found = stated[Bytewise(path)], !found.isContradicted else { return nil }
        return found.digest
    }
}
