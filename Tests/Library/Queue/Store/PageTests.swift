import Testing

@testable import PawlBase
@testable import PawlQueue
@testable import PawlStore

/// Pages compared with a plain model: all records, filtered and sorted in memory.
@Suite struct PageTests {
    private static let names = ["Alpha", "beta", "BETA", "Ärger", nil, "zeta"]

    private static func records(_ count: Int) -> [QueueRecord] {
        (0..<count).map { number in
            record(number + 1) {
                $0.state = DownloadState.allStored[number * 7 % 5]
                $0.group = ["", "films", "music"][number % 3]
                $0.priority = number * 5 % 4 - 2
                $0.position = Double(number * 11 % 17)
                $0.name = names[number % names.count]
                $0.addedAt = UnixTime(seconds: Int64(number * 13 % 19))
                $0.endedAt = number % 4 == 0 ? nil : UnixTime(seconds: Int64(number * 3 % 23))
                $0.written = Int64(number)
                $0.total = number % 5 == 0 ? nil : Int64(2 * number)
            }
        }
    }

    private static let orderings: [QueueOrdering] = [
        .turn, .added(newestFirst: false), .added(newestFirst: true), .ended(newestFirst: false),
        .ended(newestFirst: true), .name,
    ]

    private static let filters: [QueueFilter] = [
        QueueFilter(), QueueFilter(states: [.waiting, .paused]), QueueFilter(states: [.failed]),
        QueueFilter(states: []), QueueFilter(group: "films"), QueueFilter(states: [.finished], group: ""),
        QueueFilter(text: "BeTa"), QueueFilter(text: "ÄRG"), QueueFilter(text: "FILES/1"), QueueFilter(text: "%"),
        QueueFilter(states: [.waiting, .removed], group: "music", text: "a"), QueueFilter(group: "nobody"),
    ]

    private func matches(_ record: QueueRecord, _ filter: QueueFilter) -> Bool {
        let texts = record.sources + [record.name ?? ""]
        return filter.states?.contains(record.state) ?? true && (filter.group.map { $0 == record.group } ?? true)
            && (filter.text.map { text in texts.contains { $0.lowercased().contains(text.lowercased()) } } ?? true)
    }

    /// Whether one sorts before the other, with equal ones left in order.
    private func precedes(_ left: QueueRecord, _ right: QueueRecord, _ ordering: QueueOrdering) -> Bool {
        func ended(_ record: QueueRecord) -> Int64 { record.endedAt?.seconds ?? .min }
        func name(_ record: QueueRecord) -> [UInt8] {
            Array((record.name ?? "").utf8.map { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 })
        }
        switch ordering {
        case .turn: return (-left.priority, left.position) < (-right.priority, right.position)
        case .added(false): return left.addedAt < right.addedAt
        case .added(true): return left.addedAt > right.addedAt
        case .ended(false): return ended(left) < ended(right)
        case .ended(true): return ended(left) > ended(right)
        case .name: return name(left).lexicographicallyPrecedes(name(right))
        }
    }

    @Test(arguments: ["海贼王", "海贼王 1", "%e6%b5%b7", "first part", "FIRST%20PART"])
    func `text is found in a URL as it stands and decoded`(text: String) throws {
        let queue = try QueueBench().open()
        var record = Self.records(1)[0]
        record.sources = ["http://h/%E6%B5%B7%E8%B4%BC%E7%8E%8B%201%20First%20part.mkv"]
        record.name = nil
        try queue.apply([.put(record)])
        #expect(try queue.totals(matching: QueueFilter(text: text)).count == 1)
        #expect(try queue.totals(matching: QueueFilter(text: "second part")).count == 0)
    }

    @Test(arguments: orderings) func `every page of every filter matches the model`(_ ordering: QueueOrdering) throws {
        let queue = try QueueBench().open()
        let all = Self.records(120)
        try queue.apply(all.map { .put($0) })
        let isBackward = ordering == .added(newestFirst: true) || ordering == .ended(newestFirst: true)
        for filter in Self.filters {
            let found = isBackward ? all.reversed() : all
            let wanted = found.filter { matches($0, filter) }.sorted { precedes($0, $1, ordering) }
            for (offset, limit) in [(0, 1000), (0, 7), (7, 7), (100, 100), (500, 5), (-1, 3), (0, 0), (0, -1)] {
                let page = try queue.records(matching: filter, by: ordering, offset: offset, limit: limit)
                #expect(page == Array(wanted.dropFirst(max(0, offset)).prefix(max(0, limit))), "\(filter)")
            }
        }
    }

    @Test(arguments: orderings) func `a page after a record matches the model, whatever that record is`(
        _ ordering: QueueOrdering
    ) throws {
        let queue = try QueueBench().open()
        let all = Self.records(120)
        try queue.apply(all.map { .put($0) })
        let isBackward = ordering == .added(newestFirst: true) || ordering == .ended(newestFirst: true)
        let sorted = (isBackward ? all.reversed() : all).sorted { precedes($0, $1, ordering) }
        for filter in Self.filters {
            for (index, record) in sorted.enumerated() {
                let wanted = sorted[(index + 1)...].filter { matches($0, filter) }
                for (offset, limit) in [(0, 1000), (0, 7), (3, 5)] {
                    let page = try queue.records(
                        matching: filter, by: ordering, after: record.id, offset: offset, limit: limit)
                    #expect(page == Array(wanted.dropFirst(offset).prefix(limit)), "\(filter) \(index)")
                }
            }
        }
        let unknown = QueueID(rawValue: 5)
        let page = try queue.records(matching: QueueFilter(), by: ordering, after: unknown, offset: 0, limit: 9)
        #expect(page == nil)
    }

    @Test(arguments: filters) func `totals are the sums of the model`(_ filter: QueueFilter) throws {
        let queue = try QueueBench().open()
        let all = Self.records(120)
        try queue.apply(all.map { .put($0) })
        let wanted = all.filter { matches($0, filter) }
        let totals = try queue.totals(matching: filter)
        #expect(totals.count == wanted.count)
        #expect(totals.written == wanted.reduce(0) { $0 + $1.written })
        #expect(totals.total == wanted.reduce(0) { $0 + ($1.total ?? 0) })
        #expect(totals.unknownTotals == wanted.count { $0.total == nil })
    }

    @Test func `totals that overflow are the largest number`() throws {
        let queue = try QueueBench().open()
        let states: [DownloadState] = [.waiting, .waiting, .paused]
        try queue.apply(
            states.enumerated().map { number, state in
                .put(
                    record(number + 1) {
                        $0.state = state
                        $0.total = .max
                    })
            })
        #expect(try queue.totals(matching: QueueFilter()).total == .max)
    }

    @Test func `entries are the waiting and paused ones, in queue order`() throws {
        let queue = try QueueBench().open()
        let all = Self.records(120)
        try queue.apply(all.map { .put($0) })
        let wanted = all.filter { $0.state == .waiting || $0.state == .paused }.sorted { precedes($0, $1, .turn) }.map {
            QueueEntry(id: $0.id, state: $0.state, priority: $0.priority, position: $0.position, group: $0.group)
        }
        #expect(try queue.entries() == wanted)
    }

    @Test(arguments: orderings) func `no page sorts or scans the whole queue`(_ ordering: QueueOrdering) throws {
        let queue = try QueueBench().open()
        let order = RecordOrder(ordering)
        let keys = [
            nil, RecordKey(number: 9, values: order.selection.map { _ in .integer(7) }),
            RecordKey(number: 9, values: order.selection.map { _ in .null }),
        ]
        let filters = [QueueFilter(), QueueFilter(states: [.waiting, .paused]), QueueFilter(states: [.failed])]
        for (filter, key) in filters.flatMap({ filter in keys.map { (filter, $0) } }) {
            let page = RecordQuery(filter: filter).page(by: ordering, after: key, offset: 0, limit: 100)
            let plan = try queue.use("") { (connection) throws(DatabaseError) in
                try connection.rows("EXPLAIN QUERY PLAN \(page.sql)", page.values) { $0.text(3) }
            }
            #expect(plan.contains { $0.contains("COVERING INDEX") }, "\(plan)")
            #expect(!plan.contains { $0.contains("B-TREE") || $0.hasPrefix("SCAN") }, "\(plan)")
        }
    }

    @Test func `a URL and an ID are found by an index`() throws {
        let queue = try QueueBench().open()
        for sql in [
            "SELECT 1 FROM downloads WHERE number IN (SELECT download FROM sources WHERE address = ?) ORDER BY number",
            "\(RecordRow.select) WHERE id = ?",
        ] {
            let plan = try queue.use("") { (connection) throws(DatabaseError) in
                try connection.rows("EXPLAIN QUERY PLAN \(sql)", [.null]) { $0.text(3) }
            }
            #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
        }
    }
}
