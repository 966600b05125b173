import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// The journal that a kill or a power cut has left beside a file that is recognized without a claim of its name.
@Suite struct LeftoverTests {
    /// What is beside the file of 3000 bytes, or is wrong with it.
    enum Difference: CaseIterable {
        case changed, otherFile, partFile, foreignJournal, severalNames, emptyJournal, damagedJournal, missingFile
    }

    /// A part file with all bytes, noted as complete, and its journal.
    private func complete(_ folder: TestFolder, done: Int64 = 3000) throws -> FilePartial {
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(3000), at: 0)
        try partial.beginJournal(
            folder.facts("x.bin", total: 3000), done: ByteRangeSet([ByteRange(0, done)]))
        if done == 3000 {
            OwnerAttribute.complete(
                OwnerAttribute.value(of: "https://a.example/x"), part: RequestedRange.whole.mark, length: 3000,
                on: partial.openFile)
        }
        return partial
    }

    private func move(_ name: String, to newName: String, in folder: TestFolder) {
        #expect(unsafe rename("\(folder.path)/\(name)", "\(folder.path)/\(newName)") == 0)
    }

    private func tidy(_ folder: TestFolder) throws -> [String] {
        folder.restart()
        folder.disk.tidy("x.bin", in: folder.path)
        return folder.names
    }

    @Test(arguments: [true, false]) func `the journal of a published file is removed, and the file stays`(
        marks: Bool
    ) throws {
        let folder = TestFolder { $0.marks = marks }
        try complete(folder).release()
        move("x.bin.part", to: "x.bin", in: folder)
        #expect(try tidy(folder) == ["x.bin"])
        #expect(try folder.bytes(of: "x.bin") == payload(3000))
        // From now on it is an ordinary file.
        #expect(try folder.fresh("x.bin").name == "x (1).bin")
    }

    @Test(arguments: [true, false]) func `the journal of a file that lacks bytes stays`(marks: Bool) throws {
        let folder = TestFolder { $0.marks = marks }
        try complete(folder, done: 2999).release()
        // Its user has renamed the part file.
        move("x.bin.part", to: "x.bin", in: folder)
        #expect(try tidy(folder) == ["x.bin", "x.bin.pawl"])
    }

    @Test func `the journal of a file that another process is publishing stays`() throws {
        let folder = TestFolder()
        let partial = try complete(folder)
        move("x.bin.part", to: "x.bin", in: folder)
        #expect(try tidy(folder) == ["x.bin", "x.bin.pawl"])
        withExtendedLifetime(partial) {}
    }

    @Test(arguments: Difference.allCases) func `what is not certainly left over stays`(difference: Difference) throws {
        let folder = TestFolder()
        try complete(folder).release()
        move("x.bin.part", to: "x.bin", in: folder)
        var left = ["x.bin", "x.bin.pawl"]
        switch difference {
        case .changed: #expect(unsafe truncate("\(folder.path)/x.bin", 2000) == 0)
        case .otherFile:
            unsafe unlink("\(folder.path)/x.bin")
            try folder.put(payload(3000), in: "x.bin")
        case .partFile:
            try folder.put(payload(10), in: "x.bin.part")
            left = ["x.bin", "x.bin.part", "x.bin.pawl"]
        case .foreignJournal:
            unsafe unlink("\(folder.path)/x.bin.pawl")
            try folder.put(payload(200), in: "x.bin.pawl")
        // A link of another tool's, such as a backup's, is no reason to keep it.
        case .severalNames:
            #expect(unsafe link("\(folder.path)/x.bin", "\(folder.path)/y.bin") == 0)
            left = ["x.bin", "y.bin"]
        // What a power cut leaves of a journal.
        case .emptyJournal:
            try folder.put([], in: "x.bin.pawl")
            left = ["x.bin"]
        case .damagedJournal:
            let journal = try folder.bytes(of: "x.bin.pawl")
            try folder.put(journal.prefix(16) + [UInt8](repeating: 0, count: journal.count - 16), in: "x.bin.pawl")
            left = ["x.bin"]
        case .missingFile:
            unsafe unlink("\(folder.path)/x.bin")
            left = ["x.bin.pawl"]
        }
        #expect(try tidy(folder) == left)
    }
}
