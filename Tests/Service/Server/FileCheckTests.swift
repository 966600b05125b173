import Glibc
import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// Finished files compared with their digests, and repaired.
@Suite struct FileCheckTests {
    private static let length: Int64 = 3_000_000
    private static let pieceLength: Int64 = 256 << 10
    private let payload = Payload(seed: 614, length: length)

    private var bytes: [UInt8] { payload.bytes(in: ByteRange(0, Self.length)) }

    private var pieces: String {
        let digests = stride(from: 0, to: Self.length, by: Int(Self.pieceLength)).map { start in
            let end = min(Self.length, start + Self.pieceLength)
            return Hexadecimal.text(MessageDigest5.digest(payload.bytes(in: ByteRange(start, end))))
        }
        return "md5 \(Self.pieceLength) \(digests.joined())"
    }

    private func finished(_ bench: ServiceBench, _ item: [JSON.Member]) async throws -> String {
        let added = try await bench.result("pawl.add", [[.object(item)]])
        let id = try #require(added.array?.first?["id"]?.string, "\(added.text)")
        try await bench.finish(id)
        return id
    }

    /// Changes one byte of a file.
    private func damage(_ path: String, at offset: Int64) throws {
        let file = unsafe open(path, O_RDWR)
        defer { close(file) }
        var byte: UInt8 = 0
        try #require(unsafe pread(file, &byte, 1, off_t(offset)) == 1)
        byte ^= 0xFF
        try #require(unsafe pwrite(file, &byte, 1, off_t(offset)) == 1)
    }

    @Test func `a wrong piece of a finished file is found, and it alone is fetched again`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let id = try await finished(bench, [JSON.Member("url", .string(url)), JSON.Member("pieces", .string(pieces))])
        let right = try await bench.result("pawl.verify", [.string(id)])
        #expect(right["right"] == .bool(true), "\(right.text)")
        #expect(right["pieces"] == .number(12))

        try damage(bench.root + "/f", at: 1_000_000)
        let wrong = try await bench.result("pawl.verify", [.string(id)])
        #expect(wrong["right"] == .bool(false) && wrong["wrongPieces"] == .number(1), "\(wrong.text)")
        bench.origin.waitUntilQuiet("/f")
        let before = bench.origin.log.bodySent("/f")
        let repair = try await bench.result("pawl.repair", [.string(id)])
        #expect(repair["repairing"] == .bool(true), "\(repair.text)")
        try await bench.finish(id)
        #expect(FileSystem.difference(of: bench.root + "/f", from: payload) == nil)
        bench.origin.waitUntilQuiet("/f")
        let sent = bench.origin.log.bodySent("/f") - before
        #expect(sent > 0 && sent <= 2 * Self.pieceLength, "\(sent)")
        let again = try await bench.result("pawl.repair", [.string(id)])
        #expect(again["right"] == .bool(true) && again["repairing"] == .bool(false), "\(again.text)")
        await bench.close()
    }

    @Test func `a file that was changed during its repair stays until the repair is resumed`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let id = try await finished(bench, [JSON.Member("url", .string(url)), JSON.Member("pieces", .string(pieces))])
        let path = bench.root + "/f"
        try damage(path, at: 1_000_000)
        bench.origin.adjust("/f") { $0.cut = .stall(from: 900_000) }
        _ = try await bench.result("pawl.repair", [.string(id)])
        #expect(bench.origin.wait(held: 1, of: "/f"))
        let mine = Array("written meanwhile".utf8)
        try FileSystem.write(mine, to: path)
        bench.origin.adjust("/f") { $0.cut = nil }
        bench.origin.release("/f")
        let error = await #expect(throws: PawlError.self) { try await bench.finish(id) }
        #expect(error?.code == .fileExists, "\(error.map(String.init(describing:)) ?? "none")")
        #expect(FileSystem.contents(path) == mine)
        _ = try await bench.result("pawl.resume", [.string(id)])
        try await bench.finish(id)
        #expect(FileSystem.difference(of: path, from: payload) == nil)
        await bench.close()
    }

    @Test func `a file is compared with its checksum, and fetched again as a whole`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let sum = Hexadecimal.text(MessageDigest5.digest(bytes))
        let id = try await finished(
            bench, [JSON.Member("url", .string(url)), JSON.Member("options", ["checksum": .string("md5=\(sum)")])])
        try damage(bench.root + "/f", at: Self.length - 1)
        let wrong = try await bench.result("pawl.verify", [.string(id)])
        let digest = wrong["digests"]?.array?.first
        #expect(wrong["digests"]?.array?.count == 1, "\(wrong.text)")
        #expect(digest?["right"] == .bool(false) && digest?["digest"]?.string == sum)
        #expect(digest?["level"]?.string == "given")
        _ = try await bench.result("pawl.repair", [.string(id)])
        try await bench.finish(id)
        #expect(FileSystem.difference(of: bench.root + "/f", from: payload) == nil)
        await bench.close()
    }

    @Test func `without a digest there is nothing to compare, and an unfinished one is refused`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        let id = try await finished(bench, [JSON.Member("url", .string(url))])
        #expect(try await bench.refusal("pawl.verify", [.string(id)]).contains("no digest of it is known"))
        let added = try await bench.result("pawl.add", [[["url": .string(url + "?other"), "start": "paused"]]])
        let paused = try #require(added.array?.first?["id"]?.string)
        for method in ["pawl.verify", "pawl.repair"] {
            #expect(try await bench.refusal(method, [.string(paused)]).contains("it has not finished"))
        }
        await bench.close()
    }

    // MARK: existing files

    /// Puts the content at the place of a download, with wrong bytes at `offsets`.
    private func place(_ bench: ServiceBench, wrong offsets: [Int] = []) throws {
        var content = bytes
        for offset in offsets { content[offset] ^= 1 }
        try FileSystem.write(content, to: bench.root + "/f")
    }

    @Test func `an existing file with the given digests is the result, and nothing is requested`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        try place(bench)
        let sum = Hexadecimal.text(MessageDigest5.digest(bytes))
        let gid = try await bench.gid(
            "aria2.addUri", [[.string(url)], ["check-integrity": "true", "checksum": .string("md5=\(sum)")]])
        try await bench.finish(gid)
        let status = try await bench.result("aria2.tellStatus", [.string(gid)])
        #expect(status["status"] == "complete" && status["completedLength"] == "3000000", "\(status.text)")
        #expect(bench.origin.log.records.isEmpty)
        #expect(FileSystem.names(in: bench.root) == [".pawl", "f"])
        await bench.close()
    }

    @Test func `while an existing file is compared, its download is being verified`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        try place(bench)
        let events = bench.service.manager.events
        let sum = Hexadecimal.text(MessageDigest5.digest(bytes))
        let gid = try await bench.gid(
            "aria2.addUri", [[.string(url)], ["check-integrity": "true", "checksum": .string("md5=\(sum)")]])
        try await bench.finish(gid)
        var states: [DownloadState] = []
        for await case .state(let state) in events.map(\.kind) {
            states.append(state)
            if state == .finished { break }
        }
        #expect(states == [.verifying, .finished])
        await bench.close()
    }

    @Test func `while an existing file is compared, the size of the content is known`() async throws {
        // Long enough to be looked at: it has no block on disk.
        let length: Int64 = 16 << 30
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        try FileSystem.write([], to: bench.root + "/f")
        #expect(unsafe truncate(bench.root + "/f", off_t(length)) == 0)
        let sum = Hexadecimal.text(MessageDigest5.digest(bytes))
        let options: JSON = ["check-integrity": "true", "checksum": .string("md5=\(sum)")]
        let gid = try await bench.gid("aria2.addUri", [[.string(url)], options])
        let status = try await bench.result("aria2.tellStatus", [.string(gid)])
        #expect(status["status"] == "active" && status["verifiedLength"] != nil, "\(status.text)")
        #expect(status["totalLength"] == .string("\(length)"), "\(status.text)")
        let file = try #require(status["files"]?.array?.first)
        for lengths in [status["completedLength"], file["length"], file["completedLength"]] {
            #expect(lengths == status["totalLength"], "\(status.text)")
        }
        #expect(file["path"] == .string(bench.root + "/f"))
        let listed = try await bench.result("pawl.list")
        let first = try #require(listed.array?.first)
        #expect(first["state"] == "verifying" && first["total"] == .number(length), "\(listed.text)")
        _ = try await bench.result("aria2.remove", [.string(gid)])
        await bench.close()
    }

    @Test func `a comparison that is no longer wanted ends`() throws {
        let folder = try TemporaryFolder()
        try FileSystem.write([], to: folder.path("f"))
        #expect(unsafe truncate(folder.path("f"), 16 << 30) == 0)
        let check = RunningCheck(total: 16 << 30, of: "f")
        let file = try FileDigests(folder.path("f"))
        let error = #expect(throws: Failure.self) {
            try file.digests([.md5]) { count in
                check.cancel()
                return check.note(count)
            }
        }
        #expect(error?.code == .unfinished && check.count < 16 << 30)
    }

    @Test func `of an existing file with wrong pieces those alone are fetched`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        try place(bench, wrong: [1_000_000])
        let id = try await finished(
            bench,
            [
                JSON.Member("url", .string(url)), JSON.Member("pieces", .string(pieces)),
                JSON.Member("checkExisting", .bool(true)),
            ])
        #expect(FileSystem.difference(of: bench.root + "/f", from: payload) == nil)
        bench.origin.waitUntilQuiet("/f")
        #expect(bench.origin.log.bodySent("/f") <= 2 * Self.pieceLength)
        #expect(FileSystem.names(in: bench.root) == [".pawl", "f"])
        let check = try await bench.result("pawl.verify", [.string(id)])
        #expect(check["right"] == .bool(true), "\(check.text)")
        await bench.close()
    }

    @Test func `a comparison that is still to come is in the export, and aria2 clients see that it is pending`()
        async throws
    {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        try place(bench)
        let item = [
            JSON.Member("url", .string(url)), JSON.Member("pieces", .string(pieces)),
            JSON.Member("checkExisting", .bool(true)), JSON.Member("start", "paused"),
            JSON.Member("description", "the film"),
        ]
        let added = try await bench.result("pawl.add", [[.object(item)]])
        let id = try #require(added.array?.first?["id"]?.string)
        let exported = try await bench.result("pawl.export")
        #expect(exported.array?.first?["checkExisting"] == .bool(true), "\(exported.text)")
        #expect(exported.array?.first?["description"] == "the film")
        _ = try await bench.result("pawl.remove", [.string(id)])
        let again = try await bench.result("pawl.add", [exported])
        let copy = try #require(again.array?.first?["id"]?.string, "\(again.text)")
        _ = try await bench.result("pawl.resume", [.string(copy)])
        try await bench.finish(copy)
        #expect(bench.origin.log.records.isEmpty)
        await bench.close()
    }

    @Test func `an existing file with another checksum is replaced`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        try place(bench, wrong: [0, 2_999_999])
        let sum = Hexadecimal.text(MessageDigest5.digest(bytes))
        let gid = try await bench.gid(
            "aria2.addUri", [[.string(url)], ["check-integrity": "true", "checksum": .string("md5=\(sum)")]])
        try await bench.finish(gid)
        #expect(FileSystem.difference(of: bench.root + "/f", from: payload) == nil)
        #expect(FileSystem.names(in: bench.root) == [".pawl", "f"])
        await bench.close()
    }

    @Test func `a pause, a resume and a removal during the comparison leave the file as it is`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        try place(bench)
        let sum = Hexadecimal.text(MessageDigest5.digest(bytes))
        let options: JSON = ["check-integrity": "true", "checksum": .string("md5=\(sum)"), "out": "f"]
        let gid = try await bench.gid("aria2.addUri", [[.string(url)], options])
        for _ in 1...3 {
            _ = try await bench.call("aria2.pause", [.string(gid)])
            _ = try await bench.call("aria2.unpause", [.string(gid)])
        }
        try await bench.finish(gid)
        let status = try await bench.result("aria2.tellStatus", [.string(gid)])
        #expect(status["status"] == "complete", "\(status.text)")
        let removed = try await bench.gid("aria2.addUri", [[.string(url + "?again")], options])
        _ = try await bench.call("aria2.remove", [.string(removed)])
        #expect(bench.origin.log.records.isEmpty)
        await bench.close()
        #expect(FileSystem.difference(of: bench.root + "/f", from: payload) == nil)
        #expect(FileSystem.names(in: bench.root) == [".pawl", "f"])
    }

    @Test func `without a digest an existing file is left alone`() async throws {
        let bench = try await ServiceBench()
        let url = bench.origin.serve("/f", payload)
        try place(bench, wrong: [5])
        let gid = try await bench.gid("aria2.addUri", [[.string(url)], ["check-integrity": "true"]])
        try await bench.finish(gid)
        #expect(FileSystem.difference(of: bench.root + "/f", from: payload) != nil)
        #expect(FileSystem.names(in: bench.root).count == 3)
        await bench.close()
    }
}
