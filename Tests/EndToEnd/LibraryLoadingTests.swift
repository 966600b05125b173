import PawlTestKit
import Testing

/// libcurl is loaded when a download needs it: a start takes a third less time without it.
@Suite(.ownThreads) struct LibraryLoadingTests {
    @Test(arguments: ["http", "https", "ftp"]) func `libcurl is loaded only where it is needed`(scheme: String) throws {
        let bench = try IntegrityBench()
        _ = bench.origin.serve("/file", Payload(seed: 1, length: 1_000))
        // Only over HTTP something responds.
        let address = scheme == "http" ? "http://localhost:\(bench.origin.port)/file" : "\(scheme)://127.0.0.1:1/file"
        let environment = ["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": bench.folder.path("libraries")]
        let run = try bench.run(
            "/bin/sh", ["-c", "\"$0\" get -q --retries 0 \"$1\"; cat libraries.*", PawlBinary.path, address],
            environment: environment)
        #expect(run.lines.contains { $0.contains("libssl") }, "\(run)")
        #expect(run.lines.contains { $0.contains("libcurl") } == (scheme == "ftp"), "\(run)")
    }

    @Test func `without libcurl a download that needs it fails with the reason`() throws {
        let bench = try IntegrityBench()
        let address = bench.origin.serve("/file", Payload(seed: 1, length: 1_000))
        try bench.write("libcurl.so.4", [0])
        let environment = ["LD_LIBRARY_PATH": bench.folder.path]
        let plain = try bench.pawl("get", "-q", address, environment: environment)
        #expect(plain.code == 0, "\(plain)")
        for url in ["ftp://127.0.0.1:1/file", "sftp://127.0.0.1:1/file"] {
            let run = try bench.run(
                PawlBinary.path, ["get", "-q", "--retries", "0", "-d", "other", url], environment: environment)
            #expect(run.code == 1, "\(run)")
            #expect(run.errors.contains("libcurl cannot be loaded: "), "\(run)")
            #expect(run.errors.contains("; install libcurl.so.4 "), "\(run)")
        }
    }
}
