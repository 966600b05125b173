import PawlBase
import PawlJournal
import PawlPipe
import PawlTestKit
import Testing

struct SampleStoreTests {
    @Test(arguments: [1, 1000, 64 << 20]) func `contents are kept in files of a limited length`(longest: Int64) throws {
        let folder = try TemporaryFolder()
        var store = try SpoolFolder(folder.path).makeStore(longest: longest)
        let payloads = (0..<5).map { Payload(seed: UInt64($0), length: 400 + Int64($0)) }
        let contents = try payloads.map { try store.keep(SampleContent(bytes: $0.bytes)) }
        for (content, payload) in zip(contents, payloads) {
            #expect(content.isInFile && content.length == payload.length)
            #expect(try content.bytes() == payload.bytes)
        }
        #expect(FileSystem.names(in: folder.path).isEmpty, "the files have no names")
    }

    @Test(arguments: [200 << 10, 600 << 10]) func `a spool keeps the bytes up to its limit, in memory or in a file`(
        limit: Int64
    ) throws {
        let folder = try TemporaryFolder()
        let spool = SampleSpool(limit: limit, isCut: true, in: SpoolFolder(folder.path))
        let facts = JournalFacts(sources: ["http://h.test/a"], representation: Representation(), name: "a")
        let claim = Claim(folder: "", name: "a", ifExists: .rename, facts: facts)
        guard case .sink(let maker) = spool.destination else {
            Issue.record("a spool is a sink")
            return
        }
        let bytes = Payload(seed: 5, length: limit + 1).bytes
        for _ in 0..<2 {
            guard case .fresh(let sink) = try maker.begin(claim) else { return #expect(Bool(false)) }
            #expect(spool.content.length == 0)
            for start in stride(from: 0, to: Int(limit), by: 100 << 10) {
                try unsafe bytes[start..<min(start + (100 << 10), Int(limit))].withUnsafeBytes {
                    try unsafe sink.write($0)
                }
            }
            #expect(throws: Failure.self) {
                try unsafe bytes.suffix(1).withUnsafeBytes { try unsafe sink.write($0) }
            }
            #expect(try spool.content.bytes() == Array(bytes.dropLast()))
            #expect(spool.content.isInFile == (limit > 256 << 10))
        }
        #expect(FileSystem.names(in: folder.path).isEmpty, "the file has no name")
    }
}
