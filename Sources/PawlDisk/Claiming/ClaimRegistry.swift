import Synchronization

/// The names that this process is downloading to, each with its URL.
final class ClaimRegistry: Sendable {
    struct Key: Hashable, Sendable {
        let folder: FileIdentity
        let name: String
    }

    private let holders = Mutex<[Key: String]>([:])

    /// Enters the name for `source`, or returns the holder.
    func enter(_ key: Key, source: String) -> Entry {
        let holder = holders.withLock { holders -> String? in
            guard let holder = holders.updateValue(source, forKey: key) else { return nil }
            holders[key] = holder
            return holder
        }
        if let holder { return .held(by: holder) }
        return .entered(ClaimTicket(key, in: self))
    }

    func holds(_ key: Key) -> Bool { holders.withLock { $0[key] != nil } }

    fileprivate func leave(_ key: Key) { holders.withLock { $0[key] = nil } }

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

    func release() {
        if !isOut.exchange(true, ordering: .acquiringAndReleasing) { registry.leave(key) }
    }
}
