import PawlBase
import PawlCore
import PawlDisk
import PawlEngine
import PawlJournal
import Synchronization

/// The bytes of a download as they arrive: in order, in chunks, without a file.
///
/// ```swift
/// for try await chunk in try downloader.body(of: "https://example.org/log.gz") {
///     decoder.feed(chunk)
/// }
/// ```
///
/// The transfer begins with the iteration and follows the consumer: while half a megabyte waits to be taken, nothing more
/// is read from the network. An interrupted connection is resumed as for files, and the bytes that were delivered are
/// never delivered again: content that changed in between ends the iteration with
/// ``PawlError/Code/cannotResume``. Leaving the loop, or cancelling its task, stops the transfer. In the top-level code of
/// a `main.swift` the iterator lives until the program ends: use a function, or ``Download/remove(keepingFile:)`` of
/// ``download``.
///
/// ``position`` continues a stream later, also in another process. A body can be iterated once.
public struct DownloadBody: AsyncSequence, Sendable {
    /// Some bytes, never none; their number depends on the network.
    public typealias Element = [UInt8]

    private enum Source {
        case transfer(BodySource)
        case given([[UInt8]], Download, PawlError?)
    }

    private let source: Source

    /// Creates a body of these chunks, for fakes of ``Downloading``; after them the iteration ends, or throws `error`.
    ///
    /// Its ``download`` has finished, or failed; it can be iterated several times, and has no ``position``.
    public init(of source: String = "", chunks: [[UInt8]], error: PawlError? = nil) {
        let length = Int64(chunks.reduce(0) { $0 + $1.count })
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 0), source: source)
        (snapshot.state, snapshot.written, snapshot.total) = (error == nil ? .finished : .failed, length, length)
        snapshot.error = error
        let download = Download(snapshot, owner: NoOwner())
        download.end(error.map { .failed($0) } ?? .finished(DownloadedFile(path: "", length: length)))
        self.source = .given(chunks, download, error)
    }

    init(
        of source: String, at position: BodySink.Position? = nil, _ options: DownloadOptions, _ hooks: DownloadHooks?,
        by owner: some BodyOwner
    ) throws(PawlError) {
        let options = try options.forStream(isContinued: position != nil)
        let signal = ChangeSignal()
        let body = BodySink(resuming: position, makeHasher: ContentDigest.hasher) { signal.notify() }
        let (download, stop) = try owner.addBody(of: source, into: body, options, hooks)
        self.source = .transfer(BodySource(body, signal, download, onStop: stop))
    }

    init(
        resuming position: Position, of source: String?, _ options: DownloadOptions, _ hooks: DownloadHooks?,
        by owner: some BodyOwner
    ) throws(PawlError) {
        let source = source ?? position.value.facts.sources[0]
        try self.init(of: source, at: position.value, options, hooks, by: owner)
    }

    /// The download: its snapshot and its state.
    public var download: Download {
        switch source {
        case .transfer(let source): source.download
        case .given(_, let download, _): download
        }
    }

    /// Where another stream continues: after the last chunk that was delivered; `nil` before the first response.
    public var position: Position? {
        guard case .transfer(let source) = source else { return nil }
        return source.body.position.map { Position($0) }
    }

    /// Starts the transfer; to be called once.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .transfer(let source): Iterator(source)
        case .given(let chunks, _, let error): Iterator(chunks, error)
        }
    }

    /// A place in a stream, to be stored by a program that continues later.
    ///
    /// It contains the URL with its query, which may be a secret, and up to 64 KiB of the content to recognize it by.
    public struct Position: Sendable, Hashable, CustomStringConvertible {
        let value: BodySink.Position

        init(_ value: BodySink.Position) { self.value = value }

        /// Bytes that were delivered.
        public var offset: Int64 { value.offset }
        /// The offset alone: a log gets neither the URL nor content.
        public var description: String { "\(offset)" }
    }

    /// The iteration.
    public struct Iterator: AsyncIteratorProtocol {
        /// Stops the transfer when the last copy of the iterator is gone.
        private final class Leash: Sendable {
            let source: BodySource
            init(_ source: BodySource) { self.source = source }
            deinit { source.stop() }
        }

        private enum Source {
            case transfer(Leash)
            case given(ArraySlice<[UInt8]>, PawlError?)
        }

        private var source: Source

        init(_ source: BodySource) {
            self.source = .transfer(Leash(source))
            source.download.resume()
        }

        init(_ chunks: [[UInt8]], _ error: PawlError?) { source = .given(chunks.filter { !$0.isEmpty }[...], error) }

        /// The next bytes; `nil` after the last.
        ///
        /// Throws ``PawlError`` when the download fails, and `CancellationError` when the task is cancelled.
        public mutating func next() async throws -> [UInt8]? {
            switch source {
            case .transfer(let leash): return try await Self.next(leash.source)
            case .given(var chunks, let error):
                try Task.checkCancellation()
                let chunk = chunks.popFirst()
                source = .given(chunks, error)
                if chunk == nil, let error { throw error }
                return chunk
            }
        }

        private static func next(_ source: BodySource) async throws -> [UInt8]? {
            while true {
                let seen = source.signal.count
                if Task.isCancelled {
                    source.stop()
                    throw CancellationError()
                }
                if let chunk = source.body.take() { return chunk }
                if let outcome = source.download.outcome {
                    // Bytes may have come in between.
                    if let chunk = source.body.take() { return chunk }
                    _ = try outcome.get()
                    return nil
                }
                await source.signal.wait(after: seen)
            }
        }
    }
}

/// Of a download that nobody runs.
private final class NoOwner: DownloadOwner {
    func resume(_ id: Download.ID) {}
    func pause(_ id: Download.ID) {}
    func remove(_ download: Download, keepingFile: Bool) async throws(PawlError) {}
    func letGo(_ id: Download.ID) {}
}

/// Runs the downloads whose bytes are iterated.
protocol BodyOwner {
    /// Adds a download that starts when it is resumed, and returns what stops it.
    func addBody(
        of source: String, into body: BodySink, _ options: DownloadOptions, _ hooks: DownloadHooks?
    ) throws(PawlError) -> (Download, stop: @Sendable () -> Void)
}

/// What an iteration needs.
final class BodySource: Sendable {
    let body: BodySink
    let signal: ChangeSignal
    let download: Download
    private let onStop: @Sendable () -> Void

    init(_ body: BodySink, _ signal: ChangeSignal, _ download: Download, onStop: @escaping @Sendable () -> Void) {
        self.body = body
        self.signal = signal
        self.download = download
        self.onStop = onStop
        download.onEnd { signal.notify() }
    }

    func stop() {
        body.close()
        onStop()
    }
}

extension DownloadBody.Position: Codable {
    private enum Key: String, CodingKey { case offset, facts, tail }

    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let offset = try values.decode(Int64.self, forKey: .offset)
        let facts = Base64.decode(try values.decode(String.self, forKey: .facts).utf8)
        let tail = Base64.decode(try values.decode(String.self, forKey: .tail).utf8)
        guard offset >= 0, let facts = facts.flatMap(JournalFacts.init(encoded:)), let tail,
            Int64(tail.count) <= offset, !facts.sources.isEmpty
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .facts, in: values, debugDescription: "this is not a position of a stream")
        }
        value = BodySink.Position(offset: offset, facts: facts, tail: tail)
    }

    /// Writes the offset, and the rest as Base64.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(value.offset, forKey: .offset)
        try values.encode(Base64.encode(value.facts.encoded), forKey: .facts)
        try values.encode(Base64.encode(value.tail), forKey: .tail)
    }
}

extension Downloader: BodyOwner {
    /// The bytes of `source` as they arrive, without a file.
    ///
    /// Options that name a place on disk are ignored, and there is one connection. The bytes are used before a digest of
    /// them can be verified: if it is wrong, the iteration throws ``PawlError/Code/checksumMismatch`` after the last of
    /// them. Throws ``PawlError`` as ``add(_:options:hooks:)`` does.
    public func body(
        of source: String, options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) throws(PawlError) -> DownloadBody { try DownloadBody(of: source, options ?? self.options, hooks, by: self) }

    /// Continues a stream after the bytes that were delivered.
    ///
    /// The server has to show that it is the same content, by a strong entity tag or by sending the last bytes again; if
    /// it is not, the iteration throws ``PawlError/Code/cannotResume``. `source` replaces the URL of `position`, when
    /// that has expired. Digests of the content are not verified, since the bytes before are not received again; a checksum
    /// is refused.
    public func body(
        resuming position: DownloadBody.Position, of source: String? = nil,
        options: DownloadOptions? = nil, hooks: DownloadHooks? = nil
    ) throws(PawlError) -> DownloadBody {
        try DownloadBody(resuming: position, of: source, options ?? self.options, hooks, by: self)
    }

    func addBody(
        of source: String, into body: BodySink, _ options: DownloadOptions, _ hooks: DownloadHooks?
    ) throws(PawlError) -> (Download, stop: @Sendable () -> Void) {
        let download = try add(source, options: options, hooks: hooks) { plan in
            body.request(plan.streamAlgorithms)
            return body.destination
        }
        let id = DownloadID(rawValue: download.id.rawValue)
        return (
            download,
            { [scheduler, board, weak download] in
                scheduler.remove(id)
                if let download, download.outcome == nil { board.removed(download) }
            }
        )
    }
}
