import Glibc
import PawlTestKit
import Synchronization
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal
@testable import PawlSystem

/// A test's own folder, removed after the test, and a disk that uses it.
final class TestFolder {
    let path: String
    private let notices = Notices()
    private(set) var disk: FileDisk

    private final class Notices: Sendable { let said = Mutex<[String]>([]) }

    /// `change` alters what the machine reports about itself.
    init(in parent: String = "/tmp", _ change: (inout FileDisk.Environment) -> Void = { _ in }) {
        path = "\(parent)/pawl-disk-\(getpid())-\(UInt64.random(in: .min ... .max))"
        let notices = notices
        var environment = FileDisk.Environment { notice in notices.said.withLock { $0.append(notice) } }
        environment.folderTrust = 0
        change(&environment)
        disk = FileDisk(environment)
        unsafe mkdir(path, 0o777)
    }

    deinit {
        for name in names { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }

    /// A disk without the state of the last one, as after a restart.
    func restart(_ change: (inout FileDisk.Environment) -> Void = { _ in }) {
        var environment = disk.environment
        change(&environment)
        disk = FileDisk(environment)
    }

    var said: [String] { notices.said.withLock { $0 } }

    func facts(_ name: String, from source: String = "https://a.example/x", total: Int64? = nil) -> JournalFacts {
        JournalFacts(sources: [source], representation: Representation(total: total), name: name)
    }

    func claim(
        _ name: String, from source: String = "https://a.example/x", _ ifExists: IfExists = .rename,
        adopts: (LoadedJournal) -> Bool = { _ in false }
    ) throws -> ClaimResult {
        let selection = Claim(folder: path, name: name, ifExists: ifExists, facts: facts(name, from: source))
        return try disk.claim(selection, adopts: adopts)
    }

    func fresh(
        _ name: String, from source: String = "https://a.example/x", _ ifExists: IfExists = .rename
    ) throws -> FilePartial {
        guard case .fresh(let partial) = try claim(name, from: source, ifExists) else {
            throw Unexpected(what: "the part file of \(name) is not a new one")
        }
        return try #require(partial as? FilePartial)
    }

    func found(
        _ name: String, from source: String = "https://a.example/x", _ ifExists: IfExists = .rename
    ) throws -> (FilePartial, LoadedJournal) {
        guard case .found(let partial, let loaded) = try claim(name, from: source, ifExists) else {
            throw Unexpected(what: "no part file of \(name) was found")
        }
        return (try #require(partial as? FilePartial), loaded)
    }

    /// The names in the folder, sorted.
    var names: [String] { FileSystem.names(in: path) }

    func put(_ bytes: [UInt8], in name: String) throws {
        let file = try OpenFile(adopting: #require(create(name)))
        try file.truncate(to: 0)
        try file.write(bytes, at: 0)
    }

    private func create(_ name: String) -> Int32? {
        let descriptor = unsafe creat("\(path)/\(name)", 0o666)
        return descriptor >= 0 ? descriptor : nil
    }

    func bytes(of name: String) throws -> [UInt8] {
        let folder = try #require(disk.folders.existing(path))
        return try folder.open(name, flags: O_RDONLY).contents(limit: .max)
    }
}

struct Unexpected: Error { let what: String }

/// Bytes without a repeating window: a swapped or shifted block is detected.
func payload(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
    }
}

extension FilePartial {
    /// Announced first, as a lane's bytes are.
    func write(_ bytes: [UInt8], at offset: Int64) throws {
        willWrite(ByteRange(offset, offset + Int64(bytes.count)))
        try unsafe bytes.withUnsafeBytes { try unsafe write($0, at: offset) }
    }

    /// Waits for a completion without polling.
    static func wait<Value: Sendable>(
        _ start: (@escaping @Sendable (Result<Value, Failure>) -> Void) -> Void
    ) async throws -> Value {
        let stream = AsyncStream<Result<Value, Failure>>.makeStream()
        start { result in
            stream.continuation.yield(result)
            stream.continuation.finish()
        }
        for await result in stream.stream { return try result.get() }
        throw Unexpected(what: "no completion")
    }

    func publish(length: Int64, modified: UnixTime? = nil) async throws -> String {
        try await Self.wait { publish(length: length, modified: modified, completion: $0) }
    }

    func checkpoint(_ done: ByteRangeSet) async throws { try await Self.wait { checkpoint(done, completion: $0) } }

    func digest(_ algorithm: HashAlgorithm, length: Int64) async throws -> [UInt8] {
        try await Self.wait { digests([algorithm], length: length, completion: $0) }.flatMap(\.digest)
    }
}
