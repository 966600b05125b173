import PawlBase
import PawlSystem
import Synchronization

/// The names that this process is downloading to, each with its URL.
final class ClaimRegistry: Sendable {
    struct Key: Hashable, Sendable {
        let folder: FileIdentity
        @Bytewise var name: String
    }

    private struct Holder {
        let source: String
        /// It has the name's part file; before that, it only examines the files of that name.
        var isDownloading = false
    }

    private let holders = Monitor<[Key: Holder]>([:])

    /// Enters the name for `source`, or returns the holder.
    ///
    /// Waits while another claim examines the name: most of them find that it is not theirs and leave it.
    func enter(_ key: Key, source: String) -> Entry {
        let entry = holders.wait(until: nil) { holders -> Entry? in
            guard let holder = holders[key] else {
                holders[key] = Holder(source: source)
                return .entered(ClaimTicket(key, in: self))
            }
            return holder.isDownloading ? .held(by: holder.source) : nil
        }
        guard let entry else { preconditionFailure("a wait without a deadline has ended") }
        return entry
    }

    /// Whether a download of this process has the name, or may get it.
    func holds(_ key: Key) -> Bool { holders.read { $0[key] != nil } }

    fileprivate func keep(_ key: Key) { holders.with { $0[key]?.isDownloading = true } }

    fileprivate func leave(_ key: Key) { holders.with { $0[key] = nil } }

    enum Entry {
        case entered(ClaimTicket)
        case held(by: String)
    }
}

/// A name's entry in the registry, removed when it is released or deallocated.
final class ClaimTicket: Sendable {
    private let key: ClaimRegistry.Key
    private let registry: ClaimRegistry
    private let isOut = Atomic(false)
    /// Whether a worker is moving the file to its final name: until it is done only the worker may unlock.
    let isPublishing = Atomic(false)

    fileprivate init(_ key: ClaimRegistry.Key, in registry: ClaimRegistry) {
        self.key = key
        self.registry = registry
    }

    deinit { release() }

    var isReleased: Bool { isOut.load(ordering: .acquiring) }

    /// The claim has the name's part file: others do not wait for the name any more.
    func keep() { registry.keep(key) }

    func release() { if !isOut.exchange(true, ordering: .acquiringAndReleasing) { registry.leave(key) } }
}

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
