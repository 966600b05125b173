import Glibc
import PawlBase
import PawlSystem
import PawlTestKit
import Testing

@testable import PawlHub

/// What is on stable storage before a revision of a hub's cache has a name.
@Suite struct HubCacheTests {
    private static let commit = String(repeating: "ab", count: 20)
    private static let entries = [
        HubEntry(path: "config.json", size: 3, blob: String(repeating: "1", count: 40)),
        HubEntry(path: "d/weights.bin", size: 5, blob: String(repeating: "2", count: 40)),
    ]
    private static let reference = "models--o--n/refs/main"

    private let folder: TemporaryFolder
    private let cache: HubCache

    init() throws {
        folder = try TemporaryFolder()
        let listing = HubClient.Listing(
            address: HubAddress(.models, "o/n"), commit: Self.commit, entries: Self.entries)
        cache = HubCache(at: folder.path, for: listing)
        try cache.begin()
        for entry in Self.entries {
            try FileSystem.write([UInt8](repeating: 7, count: Int(entry.size)), to: "\(cache.blobs)/\(entry.tag)")
        }
    }

    /// The folders that are synced, each with whether the revision had its name by then.
    private func complete(_ wanted: [HubEntry]) throws -> [String: Bool] {
        var synced: [String: Bool] = [:]
        try cache.complete(wanted) { path in
            synced[FolderPath.parent(of: path)] = isNamed
            #expect(FileSystem.contents(path) != nil, "\(path) is synced before it is there")
        }
        return synced
    }

    private var isNamed: Bool { FileSystem.contents(folder.path(Self.reference)) == Array(Self.commit.utf8) }

    private var all: [String: Bool] { [cache.blobs: false, cache.snapshot: false, "\(cache.snapshot)/d": false] }

    @Test func `blobs and links are synced before the revision has its name`() throws {
        #expect(try complete(Self.entries) == all && isNamed)
    }

    /// A killed process has linked them, and nobody knows whether it has synced that.
    @Test func `links that are there already are synced too`() throws {
        _ = try complete(Self.entries)
        unsafe unlink(folder.path(Self.reference))
        #expect(try complete(Self.entries) == all && isNamed)
    }

    @Test func `a revision of which a file is missing gets no name, and its links are synced`() throws {
        unsafe unlink("\(cache.blobs)/\(Self.entries[1].tag)")
        #expect(try complete(Self.entries) == [cache.blobs: false, cache.snapshot: false] && !isNamed)
    }
}
