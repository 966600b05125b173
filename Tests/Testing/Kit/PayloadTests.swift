import PawlBase
import PawlTestKit
import Testing

@Suite struct PayloadTests {
    @Test func `a slice equals the same bytes of the whole`() {
        let payload = Payload(seed: 7, length: 20_000)
        let whole = payload.bytes
        for range in [ByteRange(0, 1), ByteRange(4090, 4105), ByteRange(3, 12_293), ByteRange(19_999, 20_000)] {
            #expect(payload.bytes(in: range) == Array(whole[Int(range.start)..<Int(range.end)]))
        }
    }

    @Test func `no page of a payload repeats, nor in another seed`() {
        let size = 4096
        let pages = (0..<512).map { Payload(seed: 1, length: .max).bytes(in: ByteRange($0 * 4096, ($0 + 1) * 4096)) }
        let far = Payload(seed: 1, length: .max).bytes(in: ByteRange(5 << 32, 5 << 32 + Int64(size)))
        let other = Payload(seed: 2, length: .max).bytes(in: ByteRange(0, Int64(size)))
        #expect(Set(pages + [far, other]).count == pages.count + 2)
    }

    @Test func `a comparison finds the first wrong byte, a short file and a long one`() throws {
        let folder = try TemporaryFolder()
        let payload = Payload(seed: 3, length: 3_000_000)
        var bytes = payload.bytes
        try FileSystem.write(bytes, to: folder.path("good"))
        #expect(folder.difference("good", from: payload) == nil)
        try FileSystem.write(bytes + [0], to: folder.path("long"))
        #expect(folder.difference("long", from: payload)?.contains("3000001") == true)
        bytes[2_500_000] ^= 1
        try FileSystem.write(bytes, to: folder.path("bad"))
        #expect(FileSystem.agreement(of: folder.path("bad"), with: payload) == 2_500_000)
        #expect(folder.difference("bad", from: payload)?.contains("2500000") == true)
        try FileSystem.write(Array(bytes[..<10]), to: folder.path("short"))
        #expect(folder.difference("short", from: payload) != nil)
        #expect(folder.difference("missing", from: payload) != nil)
    }

    @Test func `stored gzip is what gzip unpacks`() throws {
        let folder = try TemporaryFolder()
        let payload = Payload(seed: 9, length: 150_000)
        try FileSystem.write(StoredGzip.encode(payload.bytes), to: folder.path("file.gz"))
        let gzip = try PawlProcess.run("/bin/gzip", ["-d", "file.gz"], folder: folder.path)
        #expect(gzip.exit == .code(0), "\(gzip.errors)")
        #expect(folder.difference("file", from: payload) == nil)
    }
}
