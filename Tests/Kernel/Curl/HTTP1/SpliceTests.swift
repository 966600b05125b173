import Glibc
import PawlBase
import PawlCurl
import PawlTestKit
import Testing

@testable import PawlHTTP

/// Records a transfer's events, and offers a file for the bytes of the body.
private final class FileSink: TransferSink {
    let descriptor: Int32
    /// The maximum number of bytes of the body that may be written to the file.
    var limit = Int64.max
    /// Whether the file is offered.
    var isOffered = true
    private(set) var spliced: Int64 = 0
    private(set) var inMemory: Int64 = 0
    private(set) var end: TransferEnd?
    var onSpliced: (FileSink) -> ChunkResult = { _ in .taken }
    var onChunk: (FileSink, Int) -> ChunkResult = { _, _ in .taken }

    var received: Int64 { spliced + inMemory }

    init(_ path: String, flags: Int32 = O_RDWR | O_CREAT | O_TRUNC) { descriptor = unsafe open(path, flags, 0o600) }

    deinit { close(descriptor) }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool { true }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        let result = onChunk(self, chunk.count)
        guard result == .taken else { return result }
        let count = unsafe pwrite(descriptor, chunk.baseAddress, chunk.count, off_t(received))
        #expect(count == chunk.count || !isOffered)
        inMemory += Int64(chunk.count)
        return .taken
    }

    func spliceTarget(_ id: TransferID) -> SpliceTarget? {
        guard isOffered, received < limit else { return nil }
        return SpliceTarget(descriptor: descriptor, offset: received, limit: limit - received)
    }

    func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult {
        spliced += Int64(count)
        #expect(received <= limit)
        return onSpliced(self)
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) { self.end = end }
}

@Suite struct SpliceTests {
    private let content = payload(3_000_000)

    private func request(_ server: ScriptedServer) -> TransferRequest { TransferRequest(port: server.port) }

    private func fetch(
        _ sink: FileSink, _ respond: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Response
    ) throws {
        let server = try ScriptedServer(respond)
        defer { server.stop() }
        let bench = try Bench()
        bench.transport.start(request(server), as: TransferID(rawValue: 1), sink: sink)
        try bench.run { sink.end != nil }
    }

    @Test func `a large body is written to the file without user space and every byte is in place`() throws {
        let folder = try TemporaryFolder()
        let content = content
        let sink = FileSink(folder.path("file"))
        try fetch(sink) { _ in .body(content) }
        #expect(sink.end == .complete)
        #expect(sink.spliced > 2_000_000)
        #expect(sink.received == 3_000_000)
        #expect(FileSystem.contents(folder.path("file")) == content)
    }

    @Test func `a body that ends with its connection is spliced to its end`() throws {
        let folder = try TemporaryFolder()
        let content = content
        let sink = FileSink(folder.path("file"))
        try fetch(sink) { _ in .init(Array("HTTP/1.0 200 OK\r\n\r\n".utf8) + content, .close) }
        #expect(sink.end == .complete)
        #expect(sink.spliced > 2_000_000)
        #expect(FileSystem.contents(folder.path("file")) == content)
    }

    @Test func `a small body is not spliced`() throws {
        let folder = try TemporaryFolder()
        let sink = FileSink(folder.path("file"))
        try fetch(sink) { _ in .body(payload(10_000)) }
        #expect(sink.spliced == 0)
        #expect(FileSystem.contents(folder.path("file")) == payload(10_000))
    }

    @Test func `no byte is written beyond the limit`() throws {
        let folder = try TemporaryFolder()
        let content = content
        let sink = FileSink(folder.path("file"))
        sink.limit = 1_234_567
        sink.onSpliced = { $0.received == $0.limit ? .stop : .taken }
        // The sink must cut a chunk at the limit, as it does with every chunk.
        sink.onChunk = { sink, count in sink.received + Int64(count) > sink.limit ? .stop : .taken }
        try fetch(sink) { _ in .body(content) }
        #expect(sink.end == .stopped)
        #expect(sink.spliced > 0)
        let written = try #require(FileSystem.contents(folder.path("file")))
        #expect(written.count <= 1_234_567)
        #expect(written == Array(content.prefix(written.count)))
    }

    @Test func `a limit that shrinks meanwhile applies to the next bytes`() throws {
        let folder = try TemporaryFolder()
        let content = content
        let sink = FileSink(folder.path("file"))
        sink.onSpliced = { sink in
            sink.limit = min(sink.limit, sink.received + 100_000)
            return sink.received == sink.limit ? .stop : .taken
        }
        sink.onChunk = { sink, count in sink.received + Int64(count) > sink.limit ? .stop : .taken }
        try fetch(sink) { _ in .body(content) }
        #expect(sink.end == .stopped)
        #expect(sink.received <= sink.limit)
        let written = try #require(FileSystem.contents(folder.path("file")))
        #expect(written == Array(content.prefix(written.count)))
    }

    /// A file open for reading only, and one on a full disk.
    @Test(arguments: [("file", O_RDONLY), ("/dev/full", O_WRONLY)])
    func `bytes that a file does not accept are delivered as chunks, once and in order`(
        name: String, flags: Int32
    ) throws {
        let folder = try TemporaryFolder()
        let content = content
        let path = name.hasPrefix("/") ? name : folder.path(name)
        if path != name { try FileSystem.write([1], to: path) }
        let file = FileSink(path, flags: flags)
        try #require(file.descriptor >= 0)
        let recorder = ChunkRecorder(file)
        let server = try ScriptedServer { _ in .body(content) }
        defer { server.stop() }
        let bench = try Bench()
        bench.transport.start(request(server), as: TransferID(rawValue: 1), sink: recorder)
        try bench.run { recorder.end != nil }
        #expect(recorder.end == .complete)
        #expect(recorder.offers > 0)
        #expect(recorder.seen == content)
    }

    @Test func `a sink that stops offering gets chunks, and a pause holds them`() throws {
        let folder = try TemporaryFolder()
        let content = content
        let sink = FileSink(folder.path("file"))
        sink.onSpliced = { sink in
            sink.isOffered = sink.spliced < 500_000
            return .taken
        }
        var pauses = 0
        sink.onChunk = { sink, _ in
            guard !sink.isOffered, pauses < 3 else { return .taken }
            pauses += 1
            return .pause
        }
        let server = try ScriptedServer { _ in .body(content) }
        defer { server.stop() }
        let bench = try Bench()
        let id = TransferID(rawValue: 1)
        bench.transport.start(request(server), as: id, sink: sink)
        var seen = 0
        try bench.run {
            if pauses > seen {
                seen = pauses
                bench.transport.resume(id)
            }
            return sink.end != nil
        }
        #expect(seen == 3)
        #expect(sink.spliced >= 500_000)
        #expect(sink.inMemory > 0)
        #expect(FileSystem.contents(folder.path("file")) == content)
    }

    @Test func `a truncated body is reported, and the received bytes are in the file`() throws {
        let folder = try TemporaryFolder()
        let content = content
        let sink = FileSink(folder.path("file"))
        try fetch(sink) { _ in .init(Array("HTTP/1.1 200 OK\r\nContent-Length: 3000001\r\n\r\n".utf8) + content, .close)
        }
        guard case .failed(let fault) = sink.end else {
            Issue.record("ended with \(String(describing: sink.end))")
            return
        }
        #expect(fault.kind == .truncated)
        #expect(fault.text.contains("1 byte"))
        #expect(sink.spliced > 0)
        #expect(FileSystem.contents(folder.path("file")) == content)
    }

    @Test(arguments: [ChunkResult.taken, .stop]) func `cancelled while splicing, nothing follows`(
        result: ChunkResult
    ) throws {
        let folder = try TemporaryFolder()
        let content = content
        let sink = FileSink(folder.path("file"))
        let server = try ScriptedServer { _ in .body(content) }
        let bench = try Bench()
        let id = TransferID(rawValue: 1)
        var calls = 0
        sink.onSpliced = { _ in
            calls += 1
            bench.transport.cancel(id)
            return result
        }
        bench.transport.start(request(server), as: id, sink: sink)
        try bench.run { calls > 0 }
        bench.settle()
        #expect(calls == 1)
        #expect(sink.end == nil)
        // The pipe was left empty: the next body is complete.
        let next = FileSink(folder.path("next"))
        bench.transport.start(request(server), as: TransferID(rawValue: 2), sink: next)
        try bench.run { next.end != nil }
        #expect(FileSystem.contents(folder.path("next")) == content)
        server.stop()
    }
}

/// Offers another sink's file and records every chunk.
private final class ChunkRecorder: TransferSink {
    private let file: FileSink
    private(set) var seen: [UInt8] = []
    private(set) var offers = 0
    private(set) var end: TransferEnd?

    init(_ file: FileSink) { self.file = file }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool { true }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        unsafe seen.append(contentsOf: chunk)
        return .taken
    }

    func spliceTarget(_ id: TransferID) -> SpliceTarget? {
        offers += 1
        return file.spliceTarget(id)
    }

    func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult {
        Issue.record("\(count) bytes were written to a file that accepts none")
        return .stop
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) { self.end = end }
}
