import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlQueue
@testable import PawlStore

/// Records are read back as written, in the requested order.
@Suite struct RecordTests {
    private func full(_ number: Int) -> QueueRecord {
        record(number) {
            $0.sources = ["https://user:word@a.example/x?token=1", "ftp://b.example/ü", ""]
            $0.options = #"{"headers":["A: b"]}"#
            $0.group = "films"
            $0.priority = -3
            $0.position = 0.1
            $0.state = .failed
            $0.folder = "a/b"
            $0.name = "Ärger\u{0}.bin"
            $0.contentType = "video/mp4"
            $0.written = 1 << 40
            $0.total = .max
            $0.startedAt = UnixTime(seconds: -5)
            $0.endedAt = UnixTime(seconds: 1 << 40)
            $0.errorCode = 9
            $0.error = "disk full"
            $0.taskDescription = "episode 1"
        }
    }

    @Test func `D12 name, type, URL, progress, state, dates and error are restored by another run`() throws {
        let bench = try QueueBench()
        let records = [record(1), full(2), full(3)]
        let first = try bench.open()
        try first.apply(records.map { .put($0) })
        first.close()
        let second = try bench.open()
        for record in records { #expect(try second.record(record.id) == record) }
        #expect(bench.said.isEmpty)
    }

    @Test func `numbers that somebody else wrote into the database are clamped to valid ones`() throws {
        let bench = try QueueBench()
        let queue = try bench.open()
        var odd = record(1)
        odd.written = .min
        odd.total = .min
        odd.position = .infinity
        odd.addedAt = UnixTime(seconds: .max)
        try queue.apply([.put(odd)])
        let found = try #require(try queue.record(odd.id))
        #expect(found.written == 0)
        #expect(found.total == 0)
        #expect(found.position == 0)
        #expect(try queue.entries().allSatisfy { $0.position == 0 })
    }

    @Test func `a download without a URL is damage`() throws {
        let bench = try QueueBench()
        let queue = try bench.open()
        var odd = record(1)
        odd.sources = []
        try queue.apply([.put(odd)])
        #expect(throws: Failure.self) { try queue.record(odd.id) }
        #expect(bench.said.count == 1)
    }

    @Test func `D12 storing a record again updates it, its sources too`() throws {
        let queue = try QueueBench().open()
        try queue.apply([.put(full(1)), .put(record(2))])
        var changed = record(1)
        changed.id = full(1).id
        changed.sources = ["https://c.example/1", "https://c.example/2"]
        try queue.apply([.put(changed)])
        #expect(try queue.record(changed.id) == changed)
        #expect(try queue.records(of: "ftp://b.example/ü").isEmpty)
        #expect(try queue.records(matching: QueueFilter(), by: .turn, offset: 0, limit: 9).count == 2)
    }

    @Test func `a part file's name is known to be another's, in its folder and while it is unfinished`() throws {
        let queue = try QueueBench().open()
        func named(_ number: Int, _ name: String, _ state: DownloadState, _ folder: String = "") -> QueueChange {
            .put(
                record(number) {
                    $0.name = name
                    $0.state = state
                    $0.folder = folder
                })
        }
        try queue.apply([
            named(1, "a", .waiting), named(2, "b", .paused, "films"), named(3, "c", .failed), named(4, "d", .finished),
            named(5, "e", .removed), .put(record(6)),
        ])
        let other = record(9).id
        for (name, folder, isOthers) in [
            ("a", "", true), ("A", "", false), ("a", "films", false), ("b", "films", true), ("c", "", true),
            ("d", "", false), ("e", "", false), ("", "", false),
        ] {
            #expect(
                try queue.isName(name, in: folder, ofOtherThan: other, in: [.waiting, .paused, .failed]) == isOthers,
                "\(name) in \(folder)")
        }
        #expect(try queue.isName("d", in: "", ofOtherThan: other, in: [.finished]))
        #expect(try queue.isName("a", in: "", ofOtherThan: record(1).id, in: [.waiting]) == false)
    }

    @Test func `D11 D16 a download is found by any of its URLs, by its ID, and an unknown one is not`() throws {
        let queue = try QueueBench().open()
        let (one, other) = (full(1), full(2))
        try queue.apply([.put(one), .put(other), .put(record(3))])
        #expect(try queue.records(of: "ftp://b.example/ü") == [one, other])
        #expect(try queue.records(of: record(3).sources[0]) == [record(3)])
        #expect(try queue.records(of: "https://a.example/X?token=1").isEmpty)
        #expect(try queue.record(QueueID(rawValue: 77)) == nil)
    }

    @Test func `D13 the download root may move, and no absolute path is in the database`() throws {
        let bench = try QueueBench()
        let queue = try bench.open()
        try queue.apply([.put(full(1))])
        queue.close()
        let bytes = try #require(FileSystem.contents(bench.path))
        #expect(!Folded.finds(bench.folder.path, in: bytes))
        let moved = try TemporaryFolder()
        try FileSystem.write(bytes, to: moved.path("queue.sqlite"))
        let again = try QueueDatabase(at: moved.path("queue.sqlite")) { _ in }
        #expect(try again.record(full(1).id) == full(1))
    }

    @Test func `D14 an erased record is gone with its sources, and erasing an unknown one does nothing`() throws {
        let queue = try QueueBench().open()
        try queue.apply([.put(full(1)), .put(record(2)), .erase(full(1).id), .erase(QueueID(rawValue: 77))])
        #expect(try queue.record(full(1).id) == nil)
        #expect(try queue.records(of: "ftp://b.example/ü").isEmpty)
        let left = try queue.use("") { (connection) throws(DatabaseError) in
            try connection.rows("SELECT count(*) FROM sources") { $0.integer(0) }
        }
        #expect(left == [1])
    }

    @Test func `progress changes two fields and nothing else`() throws {
        let queue = try QueueBench().open()
        try queue.apply([.put(full(1))])
        try queue.apply([
            .progress(full(1).id, written: 5, total: nil), .progress(QueueID(rawValue: 7), written: 1, total: 1),
        ])
        var wanted = full(1)
        wanted.written = 5
        wanted.total = nil
        #expect(try queue.record(wanted.id) == wanted)
    }

    @Test func `only a call that only changes progress does not wait for the disk`() throws {
        let queue = try QueueBench().open()
        let progress = QueueChange.progress(record(1).id, written: 1, total: nil)
        func level() throws -> [Int64] {
            try queue.use("") { (connection) throws(DatabaseError) in
                try connection.rows("PRAGMA synchronous") { $0.integer(0) }
            }
        }
        try queue.apply([.put(record(1)), progress])
        #expect(try level() == [2])
        try queue.apply([progress, progress])
        #expect(try level() == [1])
        try queue.apply([.value("a", nil)])
        #expect(try level() == [2])
    }

    @Test func `all changes of a call are made or none`() throws {
        let queue = try QueueBench().open()
        try queue.apply([.put(record(1))])
        let impossible = record(3) { $0.position = .nan }
        #expect(throws: Failure.self) {
            try queue.apply([.put(record(2)), .value("a", "b"), .erase(record(1).id), .put(impossible)])
        }
        #expect(try queue.record(record(1).id) == record(1))
        #expect(try queue.record(record(2).id) == nil)
        #expect(try queue.value("a") == nil)
        try queue.apply([.put(record(2))])
        #expect(try queue.record(record(2).id) == record(2))
    }

    @Test func `named values are stored, replaced and removed`() throws {
        let bench = try QueueBench()
        let queue = try bench.open()
        try queue.apply([.value("slots", "3"), .value("rate", ""), .value("old", "x")])
        try queue.apply([.value("slots", "5"), .value("old", nil)])
        queue.close()
        let again = try bench.open()
        #expect(try again.value("slots") == "5")
        #expect(try again.value("rate") == "")
        #expect(try again.value("old") == nil)
    }

    @Test func `IDs are found by a prefix of their digits`() throws {
        let queue = try QueueBench().open()
        let ids: [UInt64] = [1, 0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, 0xAB00_0000_0000_0001, .max]
        try queue.apply(
            ids.map { id in .put(QueueRecord(id: QueueID(rawValue: id), sources: [], addedAt: UnixTime(seconds: 0))) })
        func found(_ prefix: String, _ limit: Int = 9) throws -> [UInt64] {
            try queue.ids(prefix: prefix, limit: limit).map(\.rawValue)
        }
        #expect(try found("0") == [1])
        #expect(try found("7") == [0x7FFF_FFFF_FFFF_FFFF])
        #expect(try found("8") == [0x8000_0000_0000_0000])
        #expect(try found("ab") == [0xAB00_0000_0000_0001])
        #expect(try found("ffffffffffffffff") == [.max])
        #expect(try found("").count == 5)
        #expect(try found("", 2).count == 2)
        for nothing in ["ac", "+8", "-1", "x", "00000000000000001", "ab00000000000002"] {
            #expect(try found(nothing).isEmpty, "\(nothing)")
        }
    }

    @Test func `groups are counted, and all waiting downloads are paused in one change`() throws {
        let bench = try QueueBench()
        let queue = try bench.open()
        let states: [DownloadState] = [.waiting, .finished, .removed, .waiting, .paused]
        let groups = ["b", "a", "c", "a", ""]
        try queue.apply(
            states.indices.map { index in
                .put(
                    record(index) { record in
                        record.state = states[index]
                        record.group = groups[index]
                    })
            })
        let found = try queue.groups()
        #expect(found.map(\.name) == ["a", "b"] && found.map(\.count) == [2, 1])
        try queue.apply([.pauseWaiting])
        #expect(try queue.entries().map(\.state) == [.paused, .paused, .paused])
        #expect(try queue.totals(matching: QueueFilter(states: [.finished, .removed])).count == 2)
    }

    @Test(arguments: EquivalentNames.pairs) func `groups, names and URLs of other bytes are others`(
        left: String, right: String
    ) throws {
        let bench = try QueueBench()
        let queue = try bench.open()
        func put(_ number: Int, _ name: String) -> QueueChange {
            .put(
                record(number) {
                    ($0.group, $0.name, $0.folder) = (name, name, name)
                    $0.sources = ["s3://bucket/\(name)"]
                })
        }
        try queue.apply([put(0, left), put(1, right)])
        let groups = try queue.groups()
        #expect(groups.map(\.count) == [1, 1])
        #expect(Set(groups.map { Bytewise($0.name) }) == [Bytewise(left), Bytewise(right)])
        #expect(Set(try queue.entries().map { Bytewise($0.group) }).count == 2)
        #expect(try queue.records(of: "s3://bucket/\(left)").count == 1)
        // A record whose name changes only in its bytes is written.
        try queue.apply([put(0, right)])
        let written = try #require(try queue.record(record(0).id))
        #expect(written.name.hasSameBytes(as: right) && written.sources.hasSameBytes(as: ["s3://bucket/\(right)"]))
        #expect(written != record(0) { $0.name = left })
    }

    @Test func `after closing every call fails`() throws {
        let bench = try QueueBench()
        let queue = try bench.open()
        try queue.apply([.put(record(1))])
        queue.close()
        queue.close()
        let failure = #expect(throws: Failure.self) { try queue.record(record(1).id) }
        #expect(failure?.why == "it was closed")
        #expect(bench.files == ["queue.sqlite", "queue.sqlite.lock"])
    }
}

extension Folded {
    static func finds(_ text: String, in bytes: [UInt8]) -> Bool {
        let needle = Array(text.lowercased().utf8)
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe needle.withUnsafeBufferPointer { unsafe Folded.search(bytes, for: $0) }
        }
    }
}
