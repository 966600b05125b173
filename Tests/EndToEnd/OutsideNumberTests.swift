import PawlBase
import PawlTestKit
import Testing

/// Untrusted numbers of callers and servers that no file can have: an error and a code, never a trap.
@Suite(.ownThreads) struct OutsideNumberTests {
    private let payload = Payload(seed: 71, length: 100_000)

    @Test(arguments: [
        "9223372036854775800-", "9223372036854775806-", "0-9223372036854775806", "-9223372036854775807",
        "9223372036854775800-9223372036854775806", "281474976710656-",
    ]) func `a range beyond every file is refused, whatever exists already`(range: String) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload)
        for count in [0, 9, 10, 20] {
            try FileSystem.write(payload.bytes(in: ByteRange(0, Int64(count))), to: bench.folder.path("f"))
            let outcome = try bench.get(url, "--range=\(range)", "--if-exists", "resume")
            #expect(outcome.code == 28, "\(outcome)")
        }
        #expect(bench.origin.log.of("/f").isEmpty)
    }

    @Test(arguments: ["0-9", "10-19", "5-", "-10", "0-0", "281474976710654-", "0-281474976710654"])
    func `a part is continued or not, and never traps`(range: String) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", payload)
        for count in [1, 5, 9, 10, 11, 20] {
            for checksum in [[], ["--checksum", "md5=00000000000000000000000000000000"]] {
                try FileSystem.write(payload.bytes(in: ByteRange(0, Int64(count))), to: bench.folder.path("f"))
                let arguments = [url, "--range=\(range)", "--if-exists", "resume", "--retries", "0"] + checksum
                let outcome = try bench.get(arguments)
                #expect((outcome.code ?? -1) >= 0, "\(count) \(outcome)")
            }
        }
    }
}
