import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer

/// The options of later downloads that a service keeps.
@Suite struct ServiceDefaultsTests {
    @Test func `of changes at the same time the same one is used and stored`() async throws {
        let folder = try TemporaryFolder()
        let manager = try await DownloadManager(root: folder.path("root"))
        let defaults = ServiceDefaults()
        for _ in 0..<20 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...8 {
                    group.addTask {
                        let members = [JSON.Member("user-agent", .string("agent/\(number)"))]
                        try await defaults.change(members, folder: nil, in: manager)
                    }
                }
                try await group.waitForAll()
            }
            let used = defaults.json
            await defaults.load(from: manager, log: nil)
            #expect(defaults.json == used && used["options"]?["user-agent"] != nil)
        }
        await manager.shutDown()
    }

    @Test func `a stored value that is not allowed is left out, and no other`() {
        let kept: JSON = ["options": ["retries": "7", "connections": "-1", "slots": "3"], "folder": "sub"]
        let options = ServiceDefaults.options(kept)
        var expected = DownloadOptions()
        (expected.retries, expected.folder) = (7, "sub")
        #expect(options.retries == 7 && options.folder == "sub" && options.connections == expected.connections)
    }
}
