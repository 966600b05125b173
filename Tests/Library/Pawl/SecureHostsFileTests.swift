import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlEngine

/// The hosts that require TLS are kept in the state folder.
@Suite struct SecureHostsFileTests {
    private func address(_ text: String) throws -> WebAddress { try WebAddress.parse(text).address }

    private func notes(in folder: TemporaryFolder) throws -> any HostNotes {
        try #require(Ports.system { _ in }.remembering(in: folder.path).hostNotes)
    }

    @Test func `a host's HSTS applies at once, and an existing file of curl's is read`() throws {
        let folder = try TemporaryFolder()
        try FileSystem.write(
            Array(".kept.example \"unlimited\"\nold.example \"20000101 00:00:00\"\n".utf8), to: folder.path("hsts"))
        let notes = try notes(in: folder)
        #expect(notes.secured(try address("http://a.kept.example/f")).text == "https://a.kept.example/f")
        #expect(notes.secured(try address("http://old.example/f")).text == "http://old.example/f")
        notes.note(transportSecurity: "max-age=1000", of: "new.example")
        #expect(notes.secured(try address("http://new.example/f")).text == "https://new.example/f")
    }

    @Test func `a file that is a link is not followed`() throws {
        let folder = try TemporaryFolder()
        try FileSystem.write(Array("a.example \"unlimited\"\n".utf8), to: folder.path("other"))
        _ = try PawlProcess.run("/bin/ln", ["-s", "other", folder.path("hsts")])
        let notes = try notes(in: folder)
        #expect(notes.secured(try address("http://a.example/f")).scheme == .http)
    }
}
