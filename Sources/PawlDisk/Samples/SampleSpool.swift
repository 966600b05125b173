import Glibc
package import PawlCore
package import PawlEngine
import PawlSystem
import Synchronization

/// The bytes of one download: in memory up to a limit, then in an unnamed file.
package final class SampleSpool: UnstoredDisk {
    /// The number of bytes kept in memory.
    private static let memory: Int64 = 256 << 10

    fileprivate struct State: Sendable {
        var bytes: [UInt8] = []
        var file: OpenFile?
        var length: Int64 = 0
    }

    fileprivate let state = Mutex(State())
    fileprivate let limit: Int64
    fileprivate let isCut: Bool
    private let folder: SpoolFolder

    /// More than `limit` bytes are a failure (`tooLarge`); with `isCut` the rest is dropped instead.
    package init(limit: Int64 = .max, isCut: Bool = false, in folder: SpoolFolder) {
        self.limit = limit
        self.isCut = isCut
        self.folder = folder
    }

    /// What was received.
    package var content: SampleContent {
        state.withLock { state in
            if let file = state.file { return SampleContent(file: file, length: state.length) }
            return SampleContent(bytes: state.bytes)
        }
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        let end = offset + Int64(bytes.count)
        // The closure of `withLock` cannot throw a `Failure`.
        let failure: Failure? = state.withLock { state in
            do throws(Failure) {
                if state.file == nil, end > Self.memory {
                    let file = try folder.open()
                    try folder.check { () throws(SystemError) in try file.write(state.bytes, at: 0) }
                    state.file = file
                    state.bytes = []
                }
                if let file = state.file {
                    try folder.check { () throws(SystemError) in try unsafe file.write(bytes, at: offset) }
                } else {
                    unsafe state.bytes.write(bytes, at: Int(offset))
                }
                state.length = max(state.length, end)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        let content = content
        guard
            try folder.check({ () throws(SystemError) in try unsafe content.read(into: buffer, at: offset) })
                == buffer.count
        else { throw Failure(.inputOutput, "cannot read", at: folder.path, because: "the file is cut short") }
    }

    fileprivate func truncate(to length: Int64) throws(Failure) {
        let failure: Failure? = state.withLock { state in
            do throws(Failure) {
                if let file = state.file {
                    try folder.check { () throws(SystemError) in try file.truncate(to: length) }
                } else {
                    state.bytes.removeSubrange(min(state.bytes.count, Int(length))...)
                }
                state.length = min(state.length, length)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        .fresh(SpoolPartial(self, claim))
    }
}

/// A part without a journal.
private final class SpoolPartial: UnstoredPartial {
    let name: String
    private let spool: SampleSpool
    private let source: String

    init(_ spool: SampleSpool, _ claim: Claim) {
        self.spool = spool
        name = claim.name
        source = claim.facts.sources.first ?? claim.name
    }

    private func check(_ length: Int64) throws(Failure) {
        guard length > spool.limit, !spool.isCut else { return }
        throw Failure(
            .tooLarge,
            "cannot accept",
            at: Redaction.address(source),
            because: "it has at least \(length) bytes, the limit is \(spool.limit)"
        )
    }

    func reserve(_ total: Int64) throws(Failure) { try check(total) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        try check(offset + Int64(bytes.count))
        let kept = min(bytes.count, Int(clamping: max(0, spool.limit - offset)))
        try unsafe spool.write(UnsafeRawBufferPointer(rebasing: bytes[..<kept]), at: offset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        try unsafe spool.read(into: buffer, at: offset)
    }

    func startOver(_ facts: JournalFacts) throws(Failure) { try spool.truncate(to: 0) }

    func publish(
        length: Int64,
        modified: UnixTime?,
        completion: @escaping @Sendable (Result<String, Failure>) -> Void
    ) {
        do throws(Failure) {
            try spool.truncate(to: length)
            completion(.success(""))
        } catch { completion(.failure(error)) }
    }

    func digests(
        _ algorithms: [HashAlgorithm],
        length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        do throws(Failure) {
            completion(.success(try spool.content.digests(algorithms, length: length)))
        } catch { completion(.failure(error)) }
    }
}

/// The folder in which unnamed files are created.
package final class SpoolFolder: Sendable {
    let path: String
    let folders: FolderCache

    package init(_ path: String) {
        self.path = path
        folders = FolderCache(
            traits: nil,
            marks: false,
            trust: 1000,
            user: FileUser(user: geteuid(), group: getegid())
        )
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
            let name = ".pawl-\(String(UInt64.random(in: .min ... .max), radix: 16))"
            let file = try folder.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            try folder.remove(name)
            return file
        }
    }

    /// Moves large content that is used later out of memory, into one shared file.
    package func makeStore() throws(Failure) -> SampleStore { SampleStore(try open(), self) }

    func check<Value>(_ body: () throws(SystemError) -> Value) throws(Failure) -> Value {
        do throws(SystemError) { return try body() } catch {
            throw Failure.system(.inputOutput, "cannot write to", at: path, error)
        }
    }
}

/// Contents that are used later, one after another in an unnamed file.
package final class SampleStore: Sendable {
    private let file: OpenFile
    private let folder: SpoolFolder
    private let end = Mutex<Int64>(0)

    fileprivate init(_ file: OpenFile, _ folder: SpoolFolder) {
        self.file = file
        self.folder = folder
    }

    /// Writes a content to the file; returns it as a region of the file.
    package func keep(_ content: SampleContent) throws(Failure) -> SampleContent {
        let start = end.withLock { end in
            defer { end += content.length }
            return end
        }
        try content.write(to: file, at: start)
        return SampleContent(file: file, start: start, length: content.length)
    }
}

/// An unnamed file that is only appended to.
package final class SampleLog: Sendable {
    /// The size of the buffer.
    private let room: Int

    private struct State: Sendable {
        var pending: [UInt8] = []
        var written: Int64 = 0
    }

    private let file: OpenFile
    private let folder: SpoolFolder
    private let state = Mutex(State())

    /// `isBuffered`: bytes are written many at a time, and ``content(from:length:)`` is not used.
    package init(in folder: SpoolFolder, isBuffered: Bool = true) throws(Failure) {
        self.folder = folder
        room = isBuffered ? 256 << 10 : 0
        file = try folder.open()
    }

    package func append(_ bytes: [UInt8]) throws(Failure) {
        let isFull = state.withLock { state in
            state.pending += bytes
            return state.pending.count >= room
        }
        if isFull { try flush() }
    }

    private func flush() throws(Failure) {
        let (bytes, start) = state.withLock { state in
            defer {
                state.written += Int64(state.pending.count)
                state.pending = []
            }
            return (state.pending, state.written)
        }
        try folder.check { () throws(SystemError) in try file.write(bytes, at: start) }
    }

    package var length: Int64 { state.withLock { $0.written + Int64($0.pending.count) } }

    /// A part of what was written.
    package func content(from start: Int64, length: Int64) -> SampleContent {
        SampleContent(file: file, start: start, length: length)
    }

    /// What was written.
    package func content() throws(Failure) -> SampleContent {
        try flush()
        return SampleContent(file: file, length: state.withLock { $0.written })
    }
}

/// An incremental SHA-256 for use by one thread.
package final class RunningDigest {
    private let hash = RunningHash([.sha256])

    package init() {}

    package func feed(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe hash.feed($0) } }

    /// The digest in hexadecimal; nothing may be fed afterwards.
    package func finish() -> String { Hexadecimal.text(hash.finish()[0].digest) }
}
