import PawlBase
import PawlDisk
import PawlEngine
import PawlSystem

extension Download {
    /// The bytes of `range` of the file, in order, while the download runs or when it has finished.
    ///
    /// ```swift
    /// for try await chunk in download.bytes(in: 0..<65_536) { player.feed(chunk) }
    /// ```
    ///
    /// Bytes that are not on disk yet are fetched before others: a media player reads the index at the end of a film first, and
    /// any place that it jumps to. That needs a server that sends ranges and whose responses are proven to belong together, by an
    /// entity tag for instance; from others the bytes come in the order of the file. The rest of the file is downloaded meanwhile.
    ///
    /// The iteration starts nothing: it waits while the download is paused or queued. It ends where the range or the file
    /// ends, and throws ``PawlError`` when the download fails, is removed, or its content is replaced by another version
    /// (``PawlError/Code/cannotResume``), and `CancellationError` when its task is cancelled. Several iterations may run at once;
    /// the one that asked last goes first.
    ///
    /// The bytes are delivered before a digest of the whole file can be verified. Those of a stream (HLS, DASH) are available when it
    /// is complete; those of ``DownloadBody`` are not kept.
    public func bytes(in range: Range<Int64>) -> Bytes { Bytes(download: self, range: range) }

    /// The bytes of the file from `offset` to its end, see ``bytes(in:)``.
    public func bytes(from offset: Int64 = 0) -> Bytes {
        bytes(in: offset..<max(offset, ByteRange.longestFile))
    }

    /// Bytes of a file that is being downloaded, see ``Download/bytes(in:)``.
    public struct Bytes: AsyncSequence, Sendable {
        /// Some bytes, never none, and no more than 256 KiB.
        public typealias Element = [UInt8]

        let download: Download
        let range: Range<Int64>

        /// Starts an iteration.
        public func makeAsyncIterator() -> Iterator { Iterator(download, range) }
    }
}

extension Download.Bytes {
    /// One iteration over the bytes of a range.
    public struct Iterator: AsyncIteratorProtocol {
        private let download: Download
        private let start: Int64
        private var left: ByteRange
        /// What the last bytes were read from.
        private var version: (run: UInt64, restarts: UInt64)?
        /// The last bytes, while they are of an unfinished file: in the finished one they show whether it is the same version.
        private var last: [UInt8] = []

        init(_ download: Download, _ range: Range<Int64>) {
            self.download = download
            let range = range.clamped(to: 0..<ByteRange.longestFile)
            start = range.lowerBound
            left = ByteRange(range.lowerBound, range.upperBound)
            download.watch()
        }

        /// The next bytes; `nil` after the last.
        public mutating func next() async throws -> [UInt8]? {
            while !left.isEmpty {
                let seen = download.changes.count
                try Task.checkCancellation()
                if let outcome = download.outcome { return try next(of: outcome.get()) }
                if let part = await download.read(left, known: ByteRange(start, left.start)) {
                    let isOther = version.map { $0.run == part.run ? $0.restarts != part.restarts : !part.keepsKnown }
                    if isOther ?? false { throw PawlError.replacedContent(download.source) }
                    version = (part.run, part.restarts)
                    if part.isEnd { return nil }
                    if !part.bytes.isEmpty {
                        last = part.bytes
                        return take(part.bytes)
                    }
                }
                await download.changes.wait(after: seen)
            }
            return nil
        }

        private mutating func next(of file: DownloadedFile) throws -> [UInt8]? {
            let known = ByteRange(left.start - Int64(last.count), left.start)
            guard try last.isEmpty || file.bytes(in: known) == last else {
                throw PawlError.replacedContent(download.source)
            }
            last = []
            return take(try file.bytes(in: left))
        }

        private mutating func take(_ bytes: [UInt8]) -> [UInt8]? {
            left.start += Int64(bytes.count)
            return bytes.isEmpty ? nil : bytes
        }
    }
}

extension DownloadedFile {
    /// The most that is read at once.
    private static let mostRead: Int64 = 256 << 10

    /// The first bytes of `range`, as far as the file has them.
    fileprivate func bytes(in range: ByteRange) throws(PawlError) -> [UInt8] {
        let end = min(range.end, length, range.start + Self.mostRead)
        guard range.start < end else { return [] }
        if let content { return Array(content[Int(range.start)..<Int(end)]) }
        var bytes = [UInt8](repeating: 0, count: Int(end - range.start))
        do throws(Failure) {
            let file = try RegularFile(Array(path.utf8), to: "cannot read")
            let count: Result<Int, Failure> = unsafe bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(Failure) in try unsafe file.read(into: buffer, at: range.start) }
            }
            guard try count.get() == bytes.count else { throw Failure.becameShorter(path) }
        } catch { throw PawlError(error) }
        return bytes
    }
}

extension PawlError {
    fileprivate static func replacedContent(_ source: String) -> PawlError {
        PawlError(
            Failure(
                .cannotResume, "cannot go on reading", at: source,
                because: LocalizableMessage(
                    "content-replaced-while-read", "the server has another version, of which the download began anew"),
                remedy: "read again from the beginning"))
    }
}

extension Engine {
    /// What a download that runs has on disk of the beginning of `range`.
    func read(_ range: ByteRange, known: ByteRange, of id: DownloadID) async -> PartBytes? {
        await withCheckedContinuation { continuation in
            read(range, known: known, of: id) { continuation.resume(returning: $0) }
        }
    }
}
