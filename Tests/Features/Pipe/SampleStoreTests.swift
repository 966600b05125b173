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
}
