import Glibc
import PawlCore
import PawlEngine
import Testing

@testable import PawlDisk

/// Places where no file can be made.
@Suite struct UnusableFolderTests {
    private func refusal(_ folder: String) -> Failure? {
        let disk = FileDisk { _ in }
        let facts = JournalFacts(sources: ["https://a.example/x"], name: "x")
        return #expect(throws: Failure.self) {
            try disk.claim(Claim(folder: folder, name: "x", ifExists: .rename, facts: facts)) { _ in false }
        }
    }

    @Test func `a file in place of a folder is named`() throws {
        let failure = try #require(refusal("/dev/null/x"))
        #expect(failure.code == .cannotMakeFolder)
        #expect(
            failure.description
                == "cannot make the folder /dev/null/x: /dev/null is not a folder; choose another folder"
        )
        #expect(refusal("/dev/null")?.why == "/dev/null is not a folder")
    }

    @Test(arguments: ["/proc", "/proc/none"])
    func `a file system that has only its own files is named as the cause`(path: String) throws {
        let failure = try #require(refusal(path))
        #expect(failure.why == "the file system takes no new files or folders there")
        #expect(failure.remedy.text == "choose another folder")
    }
}
