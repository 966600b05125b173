import Glibc
import PawlCore
import PawlEngine
import PawlTestKit
import Testing

@testable import PawlDisk

/// A device, a pipe or a socket under a requested name.
@Suite struct SpecialFileTests {
    private func claim(_ folder: String, _ name: String, isChosen: Bool, _ policy: IfExists) throws -> String
    {
        let disk = FileDisk(FileDisk.Environment { _ in })
        let facts = JournalFacts(sources: ["https://a.example/x"], name: name)
        var wish = Claim(folder: folder, name: name, ifExists: policy, facts: facts)
        wish.isChosen = isChosen
        switch try disk.claim(wish, adopts: { _ in false }) {
        case .fresh(let partial), .found(let partial, _), .existing(let partial, _):
            defer { partial.discard() }
            return partial.name
        case .skipped(let path): return path
        }
    }

    @Test(arguments: IfExists.allCases)
    func `no file is created beside it, and the reason is reported`(policy: IfExists) throws {
        let folder = TestFolder()
        unsafe mkfifo("\(folder.path)/pipe", 0o666)
        unsafe symlink("/dev/null", "\(folder.path)/link")
        for name in ["pipe", "link"] {
            let failure = #expect(throws: Failure.self) {
                try claim(folder.path, name, isChosen: true, policy)
            }
            #expect(failure?.code == .cannotCreate)
            #expect(failure?.description.contains("device") == true)
        }
        let null = #expect(throws: Failure.self) { try claim("/dev", "null", isChosen: true, policy) }
        #expect(null?.code == .cannotCreate)
        #expect(folder.names == ["link", "pipe"])
    }

    @Test func `a server-suggested name is changed as it is for any existing file`() throws {
        let folder = TestFolder()
        unsafe mkfifo("\(folder.path)/pipe", 0o666)
        #expect(try claim(folder.path, "pipe", isChosen: false, .rename) == "pipe (1)")
    }
}
