import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlAria2
@testable import PawlBase
@testable import PawlIntegrity
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// The queue of a service in aria2c's place.
@Suite struct StandInQueueTests {
    private let payload = Payload(seed: 641, length: 400_000)

    @Test func `a restart forgets what its clients added, and nothing of others in the same folder`() async throws {
        let folder = try TemporaryFolder()
        let root = folder.path("root")
        let program = try await DownloadManager(root: root)
        var request = DownloadRequest("http://127.0.0.1:9/film")
        request.start = .paused
        let film = try await program.add(request).id
        await program.shutDown()

        let bench = try await ServiceBench(root: root, aria2: { $0.isStandIn = true })
        let manager = bench.service.manager
        let options: JSON = ["pause": "true", "gid": "00000000000000a1"]
        #expect(try await bench.gid("aria2.addUri", [["http://127.0.0.1:9/f"], options]) == "00000000000000a1")
        // What is changed stays its clients'.
        _ = try await bench.result("aria2.changeOption", ["00000000000000a1", ["max-tries": "3"]])
        #expect(try await manager.downloads().count == 2)
        await bench.close()

        let again = try await ServiceBench(root: root, aria2: { $0.isStandIn = true })
        #expect(try await again.service.manager.downloads().map(\.id) == [film])
        await again.close()
    }

    @Test func `the files of a Metalink follow it, without what was given for its server`() async throws {
        let bench = try await ServiceBench(aria2: { $0.isStandIn = true })
        let elsewhere = try OriginServer()
        defer { elsewhere.stop() }
        let own = bench.origin.serve("/own", payload)
        let other = elsewhere.serve("/other", payload)
        func metalink(_ names: [(String, String)]) -> Payload {
            let files = names.map { "<file name=\"\($0.0)\"><url>\($0.1)</url></file>" }.joined()
            return Payload(text: "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(files)</metalink>")
        }
        let lists = [
            bench.origin.serve("/one.meta4", metalink([("one.bin", own)])),
            bench.origin.serve("/two.meta4", metalink([("two.bin", other)])),
        ]
        let options: JSON = ["header": ["Authorization: Bearer 1"]]
        for (list, name) in zip(lists, ["one.bin", "two.bin"]) {
            let gid = try await bench.gid("aria2.addUri", [[.string(list)], options])
            try await bench.finish(gid)
            let status = try await bench.result("aria2.tellStatus", [.string(gid)])
            let follower = try #require(status["followedBy"]?.array?.first?.string)
            try await bench.finish(follower)
            let following = try await bench.result("aria2.tellStatus", [.string(follower), ["following"]])
            #expect(following["following"]?.string == gid)
            #expect(FileSystem.difference(of: bench.root + "/" + name, from: payload) == nil)
        }
        #expect(bench.origin.log.of("/own").first?.request.header("Authorization") == "Bearer 1")
        #expect(elsewhere.log.of("/other").first?.request.header("Authorization") == nil)
        let plain = try await bench.gid("aria2.addUri", [[.string(lists[0])], ["follow-metalink": "false"]])
        try await bench.finish(plain)
        #expect(try await bench.result("aria2.tellStatus", [.string(plain)])["followedBy"] == nil)
        await bench.close()
    }
}
