import PawlTestKit
import Synchronization
import Testing

@testable import PawlBase
@testable import PawlCurl
@testable import PawlHTTP

/// What stands before a transfer's receiver.
@Suite struct ForwardingSinkTests {
    private final class TimingRecorder: TransferSink {
        var timings = 0

        func transfer(_ id: TransferID, timing: TransferTiming) { timings += 1 }
        func transfer(_ id: TransferID, head: ResponseHead) -> Bool { true }
        func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult { .taken }
        func transferEnded(_ id: TransferID, _ end: TransferEnd) {}
    }

    @Test func `a traced transfer passes on what was measured`() {
        let recorder = TimingRecorder()
        let sink: any TransferSink = TraceSink(before: recorder) { _ in }
        sink.transfer(TransferID(rawValue: 1), timing: TransferTiming())
        #expect(recorder.timings == 1)
    }

    @Test func `a response of HTTP 2 is traced`() throws {
        let authority = try TestAuthority()
        let site = try ServedFolder()
        defer { withExtendedLifetime(site) {} }
        try site.add("file", Payload(seed: 8, length: 10_000))
        let nginx = try NginxServer(site, authority: authority)
        let traced = Mutex<[TransferTrace]>([])
        let bench = try Bench(trace: { event in traced.withLock { $0.append(event) } })
        var values = TransferSettings.Values()
        (values.proxy, values.authorityFile) = ("", authority.authority)
        var request = TransferRequest(
            address: try WebAddress.parse(nginx.secureURL("/file")).address, settings: TransferSettings(values))
        request.connection = .shared
        #expect(try bench.fetch(request).end == .complete)
        let versions = traced.withLock { $0 }.compactMap { event -> String? in
            guard case .response(let lines) = event else { return nil }
            return lines.first.map { String($0.prefix(8)) }
        }
        #expect(versions == ["HTTP/2 2"])
    }
}
