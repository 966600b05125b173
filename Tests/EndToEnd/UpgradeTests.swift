import Glibc
import Pawl
import PawlTestKit
import Testing

/// What version 0.1.0 left on disk continues.
///
/// `Tests/Fixtures/make` recorded it.
@Suite(.ownThreads, .serialized, .enabled(if: ServerProcess.isInstalled("python3"), "needs python3"))
final class UpgradeTests {
    private let folder: TemporaryFolder
    private let origin: OriginServer
    private let payload: Payload
    /// The bytes that were on disk.
    private let left: Int64 = 1_600_000

    init() throws {
        folder = try TemporaryFolder()
        let fixtures = Checkout.root + "/Tests/Fixtures"
        let arguments = ["python3", fixtures + "/make", "--place", fixtures + "/0.1.0", folder.path("left")]
        let python = try PawlProcess("/usr/bin/env", arguments)
        try #require(python.wait() == .code(0), "\(python.errors)")
        payload = Payload(try #require(FileSystem.contents(folder.path("left/content"))))
        // The address is in what was left.
        origin = try OriginServer(address: "127.10.1.0", port: 18010)
        origin.serve("/slow.bin", payload)
    }

    deinit { origin.stop() }

    @Test(arguments: ["paused", "killed"]) func `pawl get continues a file that version 0.1.0 left`(
        _ how: String
    ) throws {
        let target = folder.path("left/get/\(how)")
        let arguments = ["get", "--json", "-x", "1", "-d", target, origin.url("/slow.bin")]
        let process = try PawlProcess(PawlBinary.path, arguments, environment: ["HOME": folder.path])
        let outcome = Outcome(of: process)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.events("started").first?.number("resumedAt") == left, "\(outcome)")
        #expect(FileSystem.names(in: target) == ["slow.bin"])
        #expect(FileSystem.difference(of: target + "/slow.bin", from: payload) == nil)
        // Bytes of a version that recorded less about them are compared, not fetched again.
        let compared: Int64 = 3 << 16
        #expect(origin.log.bodySent("/slow.bin") <= payload.length - left + compared, "\(outcome)")
    }

    @Test func `a queue of version 0.1.0 continues with its states, options and settings`() async throws {
        let root = folder.path("left/root")
        let manager = try await DownloadManager(root: root)
        #expect(try await manager.limits().rateLimit == 64 << 20)
        let running = try #require(try await manager.download(ofURL: origin.url("/slow.bin")))
        let file = try await running.file
        #expect(file.path == root + "/slow.bin")
        #expect(FileSystem.difference(of: file.path, from: payload) == nil)
        let waiting = try await snapshot("waiting.bin", of: manager)
        #expect(waiting.state == .paused && waiting.priority == 5 && waiting.group == "films")
        #expect(try await snapshot("finished.bin", of: manager).state == .finished)
        #expect(try await snapshot("missing.bin", of: manager).state == .failed)
        await manager.shutDown()
    }

    private func snapshot(_ name: String, of manager: DownloadManager) async throws -> DownloadSnapshot {
        let download = try #require(try await manager.download(ofURL: origin.url("/\(name)")), "\(name) is lost")
        return try #require(try await manager.snapshot(of: download.id))
    }
}
