import PawlTestKit
import Testing

@Suite(.ownThreads) struct DescriptorTests {
    /// From none for the loop to enough for two downloads; with `-4`, libcurl connects.
    @Test(arguments: [[], ["-4"]])
    func `with too few file descriptors a run fails with a reason, or succeeds`(options: [String]) throws {
        let bench = try IntegrityBench()
        let first = bench.origin.serve("/first", Payload(seed: 1, length: 100_000))
        let second = bench.origin.serve("/second", Payload(seed: 2, length: 100_000))
        var codes: Set<Int32> = []
        for limit in 5...24 {
            let command = ["-c", "ulimit -n \(limit); exec \"$0\" \"$@\"", PawlBinary.path]
            let get = ["get", "-q", "--retries", "0", "--dir", "\(limit)"] + options + [first, second]
            let run = try bench.run("/bin/sh", command + get)
            #expect(run.code == 0 || run.code != nil && run.errors.hasPrefix("pawl: "), "\(limit): \(run)")
            #expect(!run.errors.contains("install"), "\(limit): \(run)")
            if let code = run.code { codes.insert(code) }
        }
        // Which descriptor is the one too many decides whether libcurl or a file cannot be opened.
        #expect(codes.contains(0) && !codes.isDisjoint(with: options.isEmpty ? [16] : [1, 16]), "\(codes)")
    }
}
