import PawlBase
import PawlCollections
import PawlDisk
import PawlTestKit
import Synchronization
import Testing

@testable import PawlTorrent

@Suite struct BorderCheckTests {
    private static let files: [(path: String, content: [UInt8])] = [
        ("a", Array(repeating: 1, count: 30)), ("b", [2, 3]), ("c", Array(repeating: 4, count: 28)),
    ]

    /// Servers in memory, by the host of their URLs.
    private final class Servers: TorrentContent {
        private let hosts: [String: [String: [UInt8]]]
        private let asked = Mutex<[String]>([])
        var requests: [String] { asked.withLock { $0 } }

        init(_ hosts: [String: [String: [UInt8]]]) { self.hosts = hosts }

        func bytes(of addresses: [String], _ range: ByteRange, in length: Int64) throws(Failure) -> [UInt8] {
            for address in addresses {
                asked.withLock { $0.append(address) }
                let parts = address.split(separator: "/")
                if let file = hosts[String(parts[1])]?[String(parts[parts.count - 1])] {
                    return Array(file[Int(range.start)..<min(file.count, Int(range.end))])
                }
            }
            throw Failure(.notFound, "cannot get", at: addresses[0], because: "it is not there")
        }
    }

    private static func torrent(_ seeds: [String] = ["http://one/", "http://two/"]) throws -> Torrent {
        var torrent = TorrentBytes("n", files, pieces: 20)
        torrent.root["url-list"] = .list(seeds.map { .text($0) })
        return try Torrent(torrent.bytes)
    }

    private static let whole = Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.content) })

    private func found(_ servers: Servers?, in folder: TorrentFolder? = nil) throws -> Result<[Int: [UInt8]], Failure> {
        let checks = BorderChecks(try Self.torrent(), at: "t", from: servers, in: folder)
        return try #require(checks.digests(of: [1])[1])
    }

    private static var expected: [Int: [UInt8]] {
        [
            0: ContentDigest.digest(.sha1, of: Array(files[0].content[20...])),
            1: ContentDigest.digest(.sha1, of: [2, 3]),
            2: ContentDigest.digest(.sha1, of: Array(files[2].content[..<8])),
        ]
    }

    @Test func `each file has the digest of what it has of a piece`() throws {
        let servers = Servers(["one": Self.whole])
        #expect(try found(servers).get() == Self.expected)
        #expect(servers.requests.sorted() == ["http://one/n/a", "http://one/n/b", "http://one/n/c"])
    }

    @Test func `where one server lies, another is asked`() throws {
        let lies = Self.whole.merging(["b": [2, 9]]) { $1 }
        #expect(try found(Servers(["one": lies, "two": Self.whole])).get() == Self.expected)
        guard case .failure(let failure) = try found(Servers(["one": lies, "two": lies])) else {
            Issue.record("wrong bytes were accepted")
            return
        }
        #expect(failure.code == .checksumMismatch && failure.place == "piece 1 of t")
    }

    @Test func `one server may have what another lacks, and a short file is no match`() throws {
        let servers = Servers(["one": ["a": Self.files[0].content], "two": Self.whole])
        #expect(try found(servers).get() == Self.expected)
        let short = Self.whole.merging(["b": [2]]) { $1 }
        #expect(try found(Servers(["one": short, "two": Self.whole])).get() == Self.expected)
        guard case .failure = try found(Servers([:])) else {
            Issue.record("nothing was there")
            return
        }
    }

    @Test func `files that are there are read, and cost no request`() throws {
        let folder = try TemporaryFolder()
        for (name, content) in Self.files { try FileSystem.write(content, to: folder.path(name)) }
        let own = TorrentFolder(folder.path, isOwn: true)
        #expect(try found(nil, in: own).get() == Self.expected)
        let servers = Servers(["one": Self.whole])
        #expect(try found(servers, in: own).get() == Self.expected)
        #expect(servers.requests.isEmpty)
        try FileSystem.write([2, 9], to: folder.path("b"))
        guard case .failure(let failure) = try found(nil, in: own) else {
            Issue.record("a damaged file was accepted")
            return
        }
        #expect(failure.why.contains("at least one of the files that it has bytes of is damaged: n/a, n/b, n/c"))
        #expect(try found(servers, in: own).get() == Self.expected)
    }
}
