import PawlBase
import PawlJournal

/// Where a run's bytes go.
enum Place {
    case file(any JournalledFile)
    case sink(any ByteSink)

    var file: (any JournalledFile)? { if case .file(let file) = self { file } else { nil } }

    var hasRoom: Bool { if case .sink(let sink) = self { sink.hasRoom } else { true } }

    func reserve(_ total: Int64) throws(Failure) {
        switch self {
        case .file(let file): try file.reserve(total)
        case .sink(let sink): try sink.reserve(total)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        switch self {
        case .file(let file):
            file.willWrite(ByteRange(offset, offset + Int64(bytes.count)))
            try unsafe file.write(bytes, at: offset)
        case .sink(let sink):
            precondition(offset == sink.length, "one connection writes in order")
            try unsafe sink.write(bytes)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
        switch self {
        case .file(let file): try unsafe file.read(into: buffer, at: offset)
        case .sink(let sink): try unsafe sink.read(into: buffer, at: offset)
        }
    }

    func record(_ facts: JournalFacts, done: ByteRangeSet) throws(Failure) {
        switch self {
        case .file(let file): try file.record(facts, done: done)
        case .sink(let sink): sink.note(facts)
        }
    }

    func startOver(_ facts: JournalFacts) throws(Failure) {
        switch self {
        case .file(let file): try file.startOver(facts)
        case .sink(let sink): try sink.startOver(facts)
        }
    }

    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        switch self {
        case .file(let file): file.digests(algorithms, length: length, completion: completion)
        case .sink(let sink): sink.digests(algorithms, length: length, completion: completion)
        }
    }

    func decodedDigests(
        _ algorithms: [HashAlgorithm], coding: String, length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void
    ) {
        switch self {
        case .file(let file):
            file.decodedDigests(algorithms, coding: coding, length: length, completion: completion)
        case .sink(let sink):
            sink.decodedDigests(algorithms, coding: coding, length: length, completion: completion)
        }
    }

    func publish(length: Int64, modified: UnixTime?, completion: @escaping @Sendable (Result<String, Failure>) -> Void)
    {
        switch self {
        case .file(let file): file.publish(length: length, modified: modified, completion: completion)
        case .sink(let sink): sink.finish(length: length, completion: completion)
        }
    }

    /// With `nil` nothing is to be left.
    func close(keeping facts: JournalFacts?, done: ByteRangeSet) throws(Failure) {
        switch (self, facts) {
        case (.file(let file), let facts?): try file.close(keeping: facts, done: done)
        case (.file(let file), nil): file.discard()
        case (.sink(let sink), let facts): sink.close(keeping: facts)
        }
    }
}
