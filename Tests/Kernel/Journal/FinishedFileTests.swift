import PawlBase
import PawlJournal
import Testing

/// What proves that a file is the one that a download has finished.
@Suite struct FinishedFileTests {
    private static let source = "https://a.example/f"
    private static let second: Int64 = 1_000_000_000
    private let stamp = FileStamp(device: 1, inode: 7, length: 10, modified: 5 * second + 3, birth: 4 * second)

    private func mark(_ source: String, _ found: FileStamp) -> CompletionMark {
        CompletionMark(.unproven(source: source), length: found.length, modified: found.modified, isTold: true)
    }

    private func presence(
        _ file: FinishedFile, _ mark: CompletionMark? = nil, _ change: (inout FileStamp) -> Void = { _ in }
    ) -> FinishedFile.Presence {
        var found = stamp
        change(&found)
        return file.presence(of: found) { mark }
    }

    private func file(_ stamp: FileStamp?, endedAt: Int64? = nil) -> FinishedFile {
        FinishedFile(stamp: stamp, length: 10, sources: [Self.source], endedAt: endedAt.map { UnixTime(seconds: $0) })
    }

    @Test func `the file itself is recognized by its number and its creation, on a device of any number`() {
        #expect(presence(file(stamp)) == .there)
        #expect(presence(file(stamp)) { ($0.device, $0.modified) = (2, 99) } == .there)
        #expect(presence(file(stamp)) { $0.length = 11 } == .changed)
        var other = file(stamp)
        other.sharesName = { true }
        #expect(presence(other) == .there)
    }

    @Test func `another file that has got the number of a deleted one is another file`() {
        #expect(presence(file(stamp)) { ($0.birth, $0.modified) = (6 * Self.second, 9 * Self.second) } == .other)
        #expect(presence(file(stamp)) { ($0.birth, $0.modified) = (0, 9 * Self.second) } == .other)
    }

    @Test func `a copy counts by size and time, whose parts of a second may be lost, or by its mark`() {
        let inode = { (found: inout FileStamp) in (found.inode, found.birth) = (8, 6 * Self.second) }
        #expect(presence(file(stamp), nil, inode) == .there)
        #expect(
            presence(file(stamp)) {
                inode(&$0)
                $0.modified = 5 * Self.second
            } == .there)
        #expect(
            presence(file(stamp)) {
                inode(&$0)
                $0.modified = 5 * Self.second + 4
            } == .other)
        #expect(
            presence(file(stamp)) {
                inode(&$0)
                $0.length = 11
            } == .other)
        var found = stamp
        inode(&found)
        found.modified = 77
        #expect(file(stamp).presence(of: found) { mark(Self.source, found) } == .there)
        #expect(file(stamp).presence(of: found) { mark("https://b.example/f", found) } == .other)
        // Of the same size and time, and another download's.
        #expect(presence(file(stamp), mark("https://b.example/f", stamp), inode) == .other)
        var shared = file(stamp)
        shared.sharesName = { true }
        #expect(presence(shared, mark(Self.source, stamp), inode) == .other)
        #expect(presence(shared, nil, inode) == .other)
    }

    @Test func `a record of an earlier version has a file of its size that was not written after its end`() {
        #expect(presence(file(nil, endedAt: 6)) == .there)
        #expect(presence(file(nil, endedAt: 2)) == .other)
        #expect(presence(file(nil, endedAt: 2), mark(Self.source, stamp)) == .there)
        #expect(presence(file(nil, endedAt: 6), mark("https://b.example/f", stamp)) == .other)
        #expect(presence(file(nil, endedAt: 6)) { $0.length = 11 } == .other)
        var shared = file(nil, endedAt: 6)
        shared.sharesName = { true }
        #expect(presence(shared) == .other)
        #expect(presence(shared, mark(Self.source, stamp)) == .there)
    }

    @Test func `a stamp is stored as text, also that of an earlier version`() {
        #expect(FileStamp(text: stamp.text) == stamp)
        #expect(FileStamp(text: "1 7 10 5") == FileStamp(device: 1, inode: 7, length: 10, modified: 5))
        for text in ["", "1 2 3", "1 2 3 4 5 6", "a 2 3 4", "1 2 3 4 x", "1 2 3 ", "1 2 3 --4", "1 2 3 -", "1  2 3 4"] {
            #expect(FileStamp(text: text) == nil)
        }
    }
}
