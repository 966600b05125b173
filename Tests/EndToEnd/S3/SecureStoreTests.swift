import PawlBase
import PawlTestKit
import Testing

/// An object store over TLS, with a certificate of its own authority.
@Suite(
    .ownThreads,
    .enabled(
        if: PawlBinary.isBuilt && ServerProcess.isInstalled("python3") && ServerProcess.isInstalled("curl"),
        "needs the built program, python3 and curl")) struct `Object stores over TLS`
{
    private let authority: TestAuthority
    private let store: ObjectStoreServer
    private let bench: PipeBench

    init() throws {
        authority = try TestAuthority()
        store = try ObjectStoreServer(authority: authority)
        bench = try PipeBench(environment: store.environment)
    }

    private func get(_ arguments: String...) throws -> (code: PawlProcess.Exit?, errors: String) {
        let process = try PawlProcess(
            PawlBinary.path, ["get", "--retries", "1", "--retry-delay", "0.01", "--timeout", "20"] + arguments,
            environment: store.environment.merging(["HOME": bench.folder.path]) { $1 }, folder: bench.folder.path)
        return (process.wait(), process.errors)
    }

    @Test(arguments: [900, 20_000_001] as [Int64]) func `an object is stored in parts and fetched in ranges`(
        length: Int64
    ) throws {
        let payload = Payload(seed: 77, length: length)
        let url = bench.origin.serve("/f", payload)
        let put = try get("--cacert", authority.authority, url, "--to", "s3://bucket/f")
        #expect(put.code == .code(0), "\(put.errors)")
        let got = try get("--cacert", authority.authority, "s3://bucket/f", "-o", "got")
        #expect(got.code == .code(0), "\(got.errors)")
        #expect(bench.folder.difference("got", from: payload) == nil)
        #expect(try store.count("UploadPart") == (length > 8 << 20 ? 3 : 0))
    }

    @Test func `a store with an unknown certificate gets nothing`() throws {
        let url = bench.origin.serve("/f", Payload(seed: 7, length: 900))
        for arguments in [(url, "s3://bucket/f"), ("s3://bucket/f", nil)] {
            let (source, target) = arguments
            let run = try target.map { try get(source, "--to", $0) } ?? get(source)
            #expect(run.code == .code(33), "\(run.errors)")
            #expect(run.errors.contains("certificate"))
        }
        #expect(try store.operations().isEmpty)
    }

    @Test func `samples become objects and a shard`() throws {
        try bench.serve(8)
        let trust = ["--cacert", authority.authority]
        let (code, results) = try bench.run(trust + ["--to", "s3://bucket/data"])
        #expect(code == 0 && results.allSatisfy { $0["status"]?.string == "ok" })
        let shard = ["--to", "s3://bucket/data", "--format", "tar", "--shard", "s"]
        #expect(try bench.run(trust + shard).code == 0)
        #expect(try bench.run(trust + shard).results.allSatisfy { $0["status"]?.string == "already" })
        let names = (0..<8).map { "bucket/data/s\($0).jpg" } + ["bucket/data/s.jsonl", "bucket/data/s.tar"]
        #expect(try store.state().objects == names.sorted())
        #expect(try bench.run(shard).code == 33)
    }
}
