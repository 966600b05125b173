import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlGet

@Suite struct GetOptionsTests {
    private func place(folder: String?, output: String?) throws -> [String?] {
        var options = GetOptions()
        options.folder = folder
        options.output = output
        let resolved = try options.resolved()
        return [resolved.folder, resolved.fileName]
    }

    @Test func `the folder part of the output is the folder`() throws {
        #expect(try place(folder: nil, output: nil) == [".", nil])
        #expect(try place(folder: "d", output: nil) == ["d", nil])
        #expect(try place(folder: nil, output: "f") == [".", "f"])
        #expect(try place(folder: nil, output: "a/b/f") == ["a/b", "f"])
        #expect(try place(folder: nil, output: "/f") == ["/", "f"])
        #expect(try place(folder: nil, output: "/a/f") == ["/a", "f"])
        #expect(try place(folder: "d", output: "a/f") == ["d/a", "f"])
        #expect(try place(folder: "d/", output: "f") == ["d", "f"])
        #expect(try place(folder: "d", output: "/a/f") == ["/a", "f"])
    }

    @Test(arguments: ["a/", "/", ".", "..", "a/.."]) func `an output that is a folder is refused`(output: String) {
        #expect(throws: Failure.self) { try place(folder: nil, output: output) }
    }

    @Test func `files given by options are listed, the user's own netrc is not`() {
        var options = GetOptions()
        #expect(options.filesToRead.isEmpty)
        options.download.netrc = ""
        options.download.key = "k"
        options.download.cookieFile = "jar"
        #expect(options.filesToRead.map(\.option) == ["load-cookies", "key"])
    }
}
