import Synchronization

/// The highest number of a name's variants known to be taken, so that thousands of downloads of one name do not each
/// try all of them.
final class SuffixCache: Sendable {
    static let last = 1_000_000
    /// The first few are always tried: one of them may have become free.
    private static let alwaysTried = 8
    private static let limit = 1024
    private let taken = Mutex<[ClaimRegistry.Key: Int]>([:])

    /// The number to try after `number` was found taken.
    func next(after number: Int, of name: String, in folder: Folder) -> Int {
        guard number >= Self.alwaysTried else { return number + 1 }
        let key = ClaimRegistry.Key(folder: folder.identity, name: name)
        return taken.withLock { taken in
            let next = max(number, taken[key] ?? 0) + 1
            if taken.count >= Self.limit { taken.removeAll() }
            taken[key] = next - 1
            return next
        }
    }
}
