import Glibc
import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// The limits of an authenticated caller.
@Suite struct ServiceConfinementTests {
    private let payload = Payload(seed: 615, length: 100_000)

    @Test func `no link leads a file out of the root`() async throws {
        let bench = try await ServiceBench()
        let outside = bench.folder.path("outside")
        _ = try PawlProcess.run("/bin/mkdir", [outside, bench.root + "/inside"])
        #expect(unsafe symlink(outside, bench.root + "/out") == 0)
        #expect(unsafe symlink("inside", bench.root + "/in") == 0)
        let url = bench.origin.serve("/f", payload)
        for folder in ["out", "out/deeper", "./out", "in/../out"] {
            let refusal = try await bench.refusal("aria2.addUri", [[.string(url)], ["dir": .string(folder)]])
            #expect(
                refusal.contains("leads out of the download root") || refusal.contains("is not inside"), "\(folder)")
        }
        #expect(
            try await bench.refusal("aria2.addUri", [[.string(url)], ["out": "out/f"]]).contains(
                "leads out of the download root"))
        try await bench.finish(try await bench.gid("aria2.addUri", [[.string(url)], ["dir": "in/new"]]))
        #expect(FileSystem.difference(of: bench.root + "/inside/new/f", from: payload) == nil)
        // A link that is created later is detected when the download starts.
        let selection: JSON = [[.string(url)], ["dir": "later", "pause": "true"]]
        let gid = try await bench.gid("aria2.addUri", selection)
        #expect(unsafe symlink(outside, bench.root + "/later") == 0)
        _ = try await bench.result("aria2.unpause", [.string(gid)])
        await #expect(throws: (any Error).self) { try await bench.finish(gid) }
        #expect(FileSystem.names(in: outside).isEmpty)
        await bench.close()
    }

    @Test(arguments: [".pawl", "./.pawl/", ".pawl/deeper", "link"]) func `the queue's own folder takes no download`(
        folder: String
    ) async throws {
        let bench = try await ServiceBench()
        #expect(unsafe symlink(".pawl", bench.root + "/link") == 0)
        let url = bench.origin.serve("/f", payload)
        for selection: JSON in [
            ["dir": .string(folder), "out": "outbox", "allow-overwrite": "true"],
            ["out": .string(folder + "/queue.db"), "allow-overwrite": "true"],
        ] {
            let refusal = try await bench.refusal("aria2.addUri", [[.string(url)], selection])
            #expect(refusal.contains("the queue keeps its own files there"), "\(refusal)")
        }
        await bench.close()
    }

    @Test func `a file that is a link is replaced and not followed`() async throws {
        let bench = try await ServiceBench()
        let outside = bench.folder.path("precious")
        try FileSystem.write(Array("precious".utf8), to: outside)
        let url = bench.origin.serve("/f", payload)
        for (option, name) in [("allow-overwrite", "a"), ("continue", "b")] {
            #expect(unsafe symlink(outside, bench.root + "/" + name) == 0)
            let selection: JSON = [
                [.string(url)], .object([JSON.Member("out", .string(name)), JSON.Member(option, "true")]),
            ]
            _ = try? await bench.finish(try await bench.gid("aria2.addUri", selection))
            #expect(FileSystem.contents(outside) == Array("precious".utf8), "\(option)")
        }
        await bench.close()
    }

    @Test func `private addresses are denied, by number and by name`() async throws {
        let bench = try await ServiceBench { $0.manager.deniesPrivateAddresses = true }
        let url = bench.origin.serve("/f", payload)
        for address in [url, url.replacing("127.0.0.1", with: "localhost"), url.replacing("127.0.0.1", with: "[::1]")] {
            let gid = try await bench.gid("aria2.addUri", [[.string(address)]])
            await #expect(throws: (any Error).self) { try await bench.finish(gid) }
            let status = try await bench.result("aria2.tellStatus", [.string(gid)])
            #expect(status["errorCode"] == "33")
            #expect(status["errorMessage"]?.string?.contains("private addresses are denied") == true)
        }
        #expect(bench.origin.log.connections == 0)
        await bench.close()
    }

    @Test func `TLS is spoken with a given certificate`() async throws {
        let authority = try TestAuthority()
        let bench = try await ServiceBench {
            $0.certificate = authority.certificate
            $0.key = authority.key
        }
        let call = #"{"id":1,"method":"system.listNotifications"}"#
        let url = "https://127.0.0.1:\(bench.service.port)/jsonrpc"
        let response = try await bench.curl("--cacert", authority.authority, "--data-binary", call, url)
        #expect(response.contains("aria2.onDownloadStart"))
        let plain = try await bench.curl("-o", "/dev/null", "-w", "%{http_code}", "--data-binary", call, bench.url)
        #expect(plain != "200")
        await bench.close()
    }

    @Test func `a login replaces a secret`() async throws {
        let bench = try await ServiceBench {
            $0.login = "me:pass"
            $0.secret = nil
        }
        let call = #"{"id":1,"method":"aria2.getVersion"}"#
        func status(_ more: String...) async throws -> String {
            let fixed = ["-sS", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", call]
            return try await bench.run("/usr/bin/curl", fixed + more + [bench.url]).output
        }
        #expect(try await status() == "401")
        #expect(try await status("-u", "me:wrong") == "401")
        #expect(try await status("-u", "me:pass") == "200")
        await bench.close()
    }

    @Test func `extensions of a browser may call if a secret is required`() async throws {
        for needsNoSecret in [false, true] {
            let bench = try await ServiceBench { $0.needsNoSecret = needsNoSecret }
            let status = try await bench.curl(
                "-o", "/dev/null", "-w", "%{http_code}", "-H", "Origin: moz-extension://0123", "--data-binary",
                #"{"id":1,"method":"system.listMethods"}"#, bench.url)
            #expect(status == (needsNoSecret ? "403" : "200"))
            await bench.close()
        }
    }
}
