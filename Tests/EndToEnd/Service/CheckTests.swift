import Glibc
import PawlBase
import PawlIntegrity
import PawlTestKit
import Testing

/// `pawl check` and Metalinks with many pieces, with the real program at both ends.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `Checks of finished files` {
    private static let length: Int64 = 600_000
    private static let pieceLength = 65_536
    private let house: ServiceHouse
    private let content = Payload(seed: 85, length: length)

    init() throws { house = try ServiceHouse.serving() }

    private var path: String { house.folder.path("root/f") }

    private func damage() throws {
        let file = unsafe open(path, O_RDWR)
        defer { close(file) }
        try #require(unsafe pwrite(file, [0, 1, 2, 3], 4, 200_000) == 4)
    }

    private func metalink(_ content: Payload, pieces length: Int, _ url: String) throws -> String {
        let bytes = content.bytes(in: ByteRange(0, content.length))
        let digests = stride(from: 0, to: bytes.count, by: length).map { start in
            let digest = MessageDigest5.digest(Array(bytes[start..<min(bytes.count, start + length)]))
            return "<hash>\(Hexadecimal.text(digest))</hash>"
        }
        let text = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><size>\(bytes.count)</size>
            <pieces length="\(length)" type="md5">\(digests.joined())</pieces><url>\(url)</url></file></metalink>
            """
        let path = house.folder.path("f.meta4")
        try FileSystem.write(Array(text.utf8), to: path)
        return path
    }

    @Test func `a right file, a wrong one, and one that is repaired`() throws {
        let url = house.origin.serve("/f", content)
        let id = try house.add("--metalink", try metalink(content, pieces: Self.pieceLength, url))
        #expect(try house.run("wait", id).exit == .code(0))
        let right = try house.run("check", id)
        #expect(right.exit == .code(0), "\(right.errors)")
        #expect(right.output == "\(path): right; compared with 10 pieces\n")
        try damage()
        let wrong = try house.run("check", id)
        #expect(wrong.exit == .code(32))
        #expect(
            wrong.output
                == "\(path): wrong, 'pawl check --repair \(id.prefix(6))' fetches it again; compared with 1 of 10 pieces differ\n"
        )
        house.origin.waitUntilQuiet("/f")
        let before = house.origin.log.bodySent("/f")
        let repair = try house.run("check", "--repair", id)
        #expect(repair.exit == .code(32))
        #expect(repair.output == "\(path): wrong, fetching it again; compared with 1 of 10 pieces differ\n")
        #expect(try house.run("wait", id).exit == .code(0))
        #expect(house.difference("f", from: content) == nil)
        house.origin.waitUntilQuiet("/f")
        #expect(house.origin.log.bodySent("/f") - before <= 2 * Int64(Self.pieceLength))
        let again = try house.ask("check", "--repair", id)
        #expect(again.first?["right"] == .bool(true) && again.first?["repairing"] == .bool(false))
    }

    @Test func `a checksum is named with its level; without one, and without a download, the codes differ`() throws {
        let url = house.origin.serve("/f", content)
        let sum = Hexadecimal.text(MessageDigest5.digest(content.bytes(in: ByteRange(0, Self.length))))
        let id = try house.add("--checksum", "md5=\(sum)", url)
        #expect(try house.run("wait", id).exit == .code(0))
        #expect(try house.run("check", id).output == "\(path): right; compared with md5 (given)\n")
        try damage()
        let wrong = try house.run("check", id)
        #expect(wrong.exit == .code(32) && wrong.output.hasSuffix("compared with md5 (given) differs\n"))
        let bare = try house.add(house.origin.serve("/g", content))
        #expect(try house.run("wait", bare).exit == .code(0))
        let unknown = try house.run("check", bare)
        #expect(unknown.exit == .code(3) && unknown.errors.contains("no digest of it is known"))
        #expect(try house.run("check", "zz").exit != .code(0))
        let paused = try house.add("--paused", house.origin.url("/h"))
        let early = try house.run("check", paused)
        #expect(early.exit == .code(28) && early.errors.contains("it has not finished"))
        // A wrong file decides the exit code, also after one that could not be checked.
        #expect(try house.run("check", bare, id).exit == .code(32))
    }

    @Test func `a Metalink with more pieces than a message of a port may hold is added`() throws {
        let many = Payload(seed: 86, length: 900_000)
        let url = house.origin.serve("/f", many)
        let id = try house.add("--metalink", try metalink(many, pieces: 9, url))
        let waited = try house.run("wait", id)
        #expect(waited.exit == .code(0), "\(waited.errors)")
        #expect(house.difference("f", from: many) == nil)
        #expect(try house.run("check", id).output.hasSuffix("compared with 100000 pieces\n"))
    }
}
