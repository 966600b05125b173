import Pawl
import PawlCore
import PawlServer
import PawlTestKit
import Testing

/// Digests in the fragments of URLs that are added to the queue.
@Suite struct FragmentDigestTests {
    private let payload = Payload(seed: 615, length: 100_000)

    private var right: String { "md5=\(Hexadecimal.text(MessageDigest5.digest(payload.bytes)))" }
    private static let wrong = "md5=00112233445566778899aabbccddeeff"
    private static let wrongSHA1 = "sha1=00112233445566778899aabbccddeeff00112233"

    /// How a URL gets into the queue.
    enum Way: String, CaseIterable {
        case text, object, mirror, aria2
    }

    private func add(_ url: String, by way: Way, to bench: ServiceBench) async throws -> String {
        if way == .aria2 { return try await bench.gid("aria2.addUri", [[.string(url)]]) }
        let plain = String(url.prefix { $0 != "#" })
        let item: JSON =
            switch way {
            case .text, .aria2: .string(url)
            case .object: ["url": .string(url)]
            case .mirror: ["url": .string(plain), "mirrors": [.string(url.replacing("/f", with: "/g"))]]
            }
        let added = try await bench.result("pawl.add", [[item]])
        return try #require(added.array?.first?["id"]?.string, "\(added.text)")
    }

    @Test(arguments: Way.allCases)
    func `a wrong digest in a URL's fragment keeps the file from its name`(way: Way) async throws {
        for fragment in [Self.wrong, "\(right)&\(Self.wrongSHA1)"] {
            let bench = try await ServiceBench()
            let url = bench.origin.serve("/f", payload)
            _ = bench.origin.serve("/g", payload)
            let id = try await add("\(url)#\(fragment)", by: way, to: bench)
            let error = await #expect(throws: PawlError.self) { try await bench.finish(id) }
            #expect(error?.code == .checksumMismatch)
            #expect(!FileSystem.names(in: bench.root).contains("f"))
            await bench.close()
        }
    }

    @Test(arguments: Way.allCases)
    func `a right digest in a URL's fragment is a given one`(way: Way) async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        _ = bench.origin.serve("/g", payload)
        let id = try await add("\(url)#\(right)", by: way, to: bench)
        try await bench.finish(id)
        let shown = try await bench.result("pawl.show", [.string(id)])
        #expect(shown["verification"]?["level"] == "given", "\(shown.text)")
        #expect(FileSystem.difference(of: bench.root + "/f", from: payload) == nil)
        await bench.close()
    }
}
