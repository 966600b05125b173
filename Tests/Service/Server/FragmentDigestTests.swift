import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// Digests in the fragments of URLs that are added to the queue.
@Suite struct FragmentDigestTests {
    private let payload = Payload(seed: 615, length: 100_000)

    private var right: String { "md5=\(Hexadecimal.text(MessageDigest5.digest(payload.bytes)))" }
    private static let wrong = "md5=00112233445566778899aabbccddeeff"
    private static let wrongSHA1 = "sha1=00112233445566778899aabbccddeeff00112233"

    /// How a URL gets into the queue.
    enum Way: String, CaseIterable { case text, object, mirror, aria2 }

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

    @Test(arguments: Way.allCases) func `a wrong digest in a URL's fragment keeps the file from its name`(
        way: Way
    ) async throws {
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

    @Test(arguments: Way.allCases) func `a right digest in a URL's fragment is a given one`(way: Way) async throws {
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

    /// How a queued download gets another URL.
    enum Change: String, CaseIterable { case setMirrors, setURL, replaceURL, changeUri, again }

    /// The response to the change.
    private func change(_ id: String, to url: String, by change: Change, in bench: ServiceBench) async throws -> JSON {
        switch change {
        case .setMirrors: try await bench.call("pawl.set", [[.string(id)], ["mirrors": [.string(url)]]])
        case .setURL: try await bench.call("pawl.set", [[.string(id)], ["url": .string(url)]])
        case .replaceURL: try await bench.call("pawl.url", [.string(id), .string(url)])
        case .changeUri:
            try await bench.call("aria2.changeUri", [.string(id), .number(1), [], [.string(url)], .number(0)])
        case .again: try await bench.call("pawl.add", [[["url": .string(url), "start": "paused"]]])
        }
    }

    @Test(arguments: Change.allCases) func `a digest in the fragment of a URL that a queued download gets is checked`(
        way: Change
    ) async throws {
        for (fragment, isRight) in [(right, true), (Self.wrong, false), ("\(right)&\(Self.wrongSHA1)", false)] {
            let bench = try await ServiceBench()
            let url = bench.origin.serve("/f", payload)
            let other = bench.origin.serve("/g/f", payload)
            let added = try await bench.result("pawl.add", [[["url": .string(url), "start": "paused"]]])
            let id = try #require(added.array?.first?["id"]?.string, "\(added.text)")
            let response = try await change(id, to: "\(way == .again ? url : other)#\(fragment)", by: way, in: bench)
            #expect(response["error"] == nil, "\(response.text)")
            _ = try await bench.result("pawl.resume", [.string(id)])
            if isRight {
                try await bench.finish(id)
                let shown = try await bench.result("pawl.show", [.string(id)])
                #expect(shown["verification"]?["level"] == "given", "\(shown.text)")
            } else {
                let error = await #expect(throws: PawlError.self) { try await bench.finish(id) }
                #expect(error?.code == .checksumMismatch)
                #expect(!FileSystem.names(in: bench.root).contains("f"))
            }
            await bench.close()
        }
    }

    @Test(arguments: [Change.setMirrors, .setURL, .replaceURL])
    func `a digest that contradicts the known one is refused with the URL that states it`(way: Change) async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let item: JSON = ["url": .string("\(url)#\(right)"), "start": "paused"]
        let added = try await bench.result("pawl.add", [[item]])
        let id = try #require(added.array?.first?["id"]?.string, "\(added.text)")
        let response = try await change(id, to: "\(url)2#\(Self.wrong)", by: way, in: bench)
        #expect(response.text.contains("contradict each other"), "\(response.text)")
        _ = try await bench.result("pawl.resume", [.string(id)])
        try await bench.finish(id)
        await bench.close()
    }

    @Test func `another checksum replaces what fragments stated`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let item: JSON = ["url": .string("\(url)#\(Self.wrong)&\(Self.wrongSHA1)"), "start": "paused"]
        let added = try await bench.result("pawl.add", [[item]])
        let id = try #require(added.array?.first?["id"]?.string, "\(added.text)")
        _ = try await bench.result("pawl.set", [[.string(id)], ["options": ["checksum": .string(right)]]])
        _ = try await bench.result("pawl.resume", [.string(id)])
        try await bench.finish(id)
        await bench.close()
    }

    @Test func `the export has all digests of fragments`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let item: JSON = ["url": .string("\(url)#\(right)&\(Self.wrongSHA1)"), "start": "paused"]
        let added = try await bench.result("pawl.add", [[item]])
        let id = try #require(added.array?.first?["id"]?.string, "\(added.text)")
        let exported = try await bench.result("pawl.export")
        _ = try await bench.result("pawl.remove", [.string(id)])
        let again = try await bench.result("pawl.add", [exported])
        let copy = try #require(again.array?.first?["id"]?.string, "\(again.text)")
        _ = try await bench.result("pawl.resume", [.string(copy)])
        let error = await #expect(throws: PawlError.self) { try await bench.finish(copy) }
        #expect(error?.code == .checksumMismatch)
        await bench.close()
    }
}
