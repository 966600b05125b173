import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlIntegrity
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

@Suite struct MetalinkMethodTests {
    private let payload = Payload(seed: 613, length: 400_000)

    private func selection(_ metalink: String, _ options: JSON = [:]) -> JSON {
        [.string(TestBase64.encode(Array(metalink.utf8))), options]
    }

    @Test func `every file of a Metalink becomes a download with its mirrors and its checksum`() async throws {
        let bench = try await ServiceBench()
        let (good, other) = (bench.origin.serve("/good", payload), bench.origin.serve("/other", payload))
        let path = bench.folder.path("payload")
        try FileSystem.write(payload.bytes(in: ByteRange(0, payload.length)), to: path)
        let sum = try PawlProcess.run("/usr/bin/sha256sum", [path]).output.prefix(64)
        let text = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink">
            <file name="sub/one.bin"><size>400000</size><hash type="sha-256">\(sum)</hash>
            <url priority="2">\(good)</url><url priority="1">http://127.0.0.1:9/none</url></file>
            <file name="two.bin"><hash type="sha-256">\(String(repeating: "0", count: 64))</hash>
            <url>\(other)</url></file></metalink>
            """
        let gids = try await bench.result("aria2.addMetalink", selection(text, ["out": "no", "retry-wait": "0"]))
        let (one, two) = try (#require(gids.array?.first?.string), #require(gids.array?.last?.string))
        try await bench.finish(one)
        #expect(FileSystem.difference(of: bench.root + "/sub/one.bin", from: payload) == nil)
        let options = try await bench.result("aria2.getOption", [.string(one)])
        #expect(options["checksum"]?.string == "sha-256=\(sum)")
        await #expect(throws: (any Error).self) { try await bench.finish(two) }
        let status = try await bench.result("aria2.tellStatus", [.string(two)])
        #expect(status["errorCode"] == "32")
        #expect(!FileSystem.exists(bench.root + "/two.bin"))
        await bench.close()
    }

    @Test func `every digest of a Metalink is checked, and exported`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let md5 = Hexadecimal.text(MessageDigest5.digest(payload.bytes))
        let text = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><hash type="md5">\(md5)</hash>
            <hash type="sha-1">\(String(repeating: "0", count: 40))</hash><url>\(url)</url></file></metalink>
            """
        let gids = try await bench.result("aria2.addMetalink", selection(text, ["pause": "true"]))
        let gid = try #require(gids.array?.first?.string)
        let exported = try await bench.result("pawl.export")
        #expect(exported.text.contains("md5=\(md5)") && exported.text.contains("sha-1=0000"), "\(exported.text)")
        _ = try await bench.result("aria2.unpause", [.string(gid)])
        await #expect(throws: (any Error).self) { try await bench.finish(gid) }
        let status = try await bench.result("aria2.tellStatus", [.string(gid)])
        #expect(status["errorCode"] == "32")
        #expect(!FileSystem.exists(bench.root + "/f"))
        await bench.close()
    }

    @Test func `the pieces of a Metalink are verified, also after a restart of the service`() async throws {
        let length: Int64 = 256 << 10
        let total = payload.length
        let hashes = stride(from: 0, to: total, by: Int(length)).map { start in
            let piece = payload.bytes(in: ByteRange(start, min(total, start + length)))
            return "<hash>\(Hexadecimal.text(MessageDigest5.digest(piece)))</hash>"
        }
        var damaged = payload.bytes(in: ByteRange(0, total))
        damaged[1_000] ^= 1
        let (folder, origin) = (try TemporaryFolder(), try OriginServer())
        defer { origin.stop() }
        var bench = try await ServiceBench(root: folder.path("root"))
        let (bad, good) = (origin.serve("/bad", Payload(damaged)), origin.serve("/good", payload))
        let text = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><size>\(total)</size>
            <pieces length="\(length)" type="md5">\(hashes.joined())</pieces>
            <url priority="1">\(bad)</url><url priority="2">\(good)</url></file></metalink>
            """
        let gids = try await bench.result("aria2.addMetalink", selection(text, ["pause": "true"]))
        let gid = try #require(gids.array?.first?.string)
        let first = bench
        bench = try await {
            await first.close()
            return try await ServiceBench(root: folder.path("root"))
        }()
        let exported = try await bench.result("pawl.export")
        #expect(exported.array?.first?["pieces"]?.string?.hasPrefix("md5 262144 ") == true, "\(exported.text)")
        _ = try await bench.result("aria2.unpause", [.string(gid)])
        try await bench.finish(gid)
        #expect(FileSystem.difference(of: folder.path("root/f"), from: payload) == nil)
        let status = try await bench.result("aria2.tellStatus", [.string(gid)])
        #expect(status["pieceLength"]?.string == "262144" && status["numPieces"]?.string == "2")
        #expect(status["bitfield"]?.string == "c0")
        #expect(origin.log.records.contains { $0.request.path == "/bad" })
        await bench.close()
    }

    @Test func `the preferred protocol and location come first`() async throws {
        let bench = try await ServiceBench()
        let text = """
            <metalink><file name="f"><url priority="1">http://a/</url><url priority="2">ftp://b/</url>
            <url priority="3" location="de">http://c/</url></file></metalink>
            """
        let options: JSON = ["pause": "true", "metalink-location": "fr,de", "metalink-preferred-protocol": "http"]
        let gid = try #require(
            try await bench.result("aria2.addMetalink", selection(text, options)).array?.first?.string)
        let uris = try await bench.result("aria2.getUris", [.string(gid)]).array ?? []
        #expect(uris.compactMap { $0["uri"]?.string } == ["http://c/", "http://a/", "ftp://b/"])
        await bench.close()
    }

    @Test func `the largest possible position is the end of the queue`() async throws {
        let bench = try await ServiceBench()
        let text = """
            <metalink><file name="f"><url>http://a/</url></file><file name="g"><url>http://b/</url></file></metalink>
            """
        var selection = selection(text, ["pause": "true"]).array ?? []
        selection.append(.number(Int64.max))
        #expect(try await bench.result("aria2.addMetalink", .array(selection)).array?.count == 2)
        await bench.close()
    }

    @Test func `an invalid Metalink is refused, and names stay in the root`() async throws {
        let bench = try await ServiceBench()
        for text in ["", "<html/>", "<metalink><file name='../f'><url>http://h/</url></file></metalink>"] {
            #expect(
                try await bench.refusal("aria2.addMetalink", selection(text)).hasPrefix("The Metalink cannot be used: ")
            )
        }
        #expect(try await bench.refusal("aria2.addMetalink", ["*"]) == "The parameter at 0 is not base64.")
        #expect(try await bench.refusal("aria2.addMetalink") == "The parameter at 0 is required but missing.")
        await bench.close()
    }
}

enum TestBase64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var word = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            word <<= UInt32(8 * (3 - part.count))
            for place in 0...part.count { text.append(digits[Int(word >> UInt32(18 - 6 * place)) & 63]) }
            text += String(repeating: "=", count: 3 - part.count)
        }
        return text
    }
}
