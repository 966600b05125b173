package import PawlBase
package import PawlQueue

extension QueueDatabase {
    package func record(_ id: QueueID) throws(Failure) -> QueueRecord? {
        try read { (connection) throws(DatabaseError) in
            try connection.records("WHERE id = ?", [.integer(id.stored)]).first
        }
    }

    package func records(of source: String) throws(Failure) -> [QueueRecord] {
        try read { (connection) throws(DatabaseError) in
            try connection.records(
                "WHERE number IN (SELECT download FROM sources WHERE address = ?) ORDER BY number", [.text(source)])
        }
    }

    package func records(
        matching filter: QueueFilter, by ordering: QueueOrdering, after id: QueueID?, offset: Int, limit: Int
    ) throws(Failure) -> [QueueRecord]? {
        let query = RecordQuery(filter: filter)
        guard !query.states.isEmpty, limit > 0 else { return [] }
        return try read { (connection) throws(DatabaseError) in
            var key: RecordKey?
            if let id {
                let order = RecordOrder(ordering)
                key = try connection.rows(order.question, [.integer(id.stored)]) { order.key($0) }.first
                guard key != nil else { return nil }
            }
            let page = query.page(by: ordering, after: key, offset: max(0, offset), limit: limit)
            var found: [QueueRecord] = []
            for number in try connection.rows(page.sql, page.values, { $0.integer(0) }) {
                found += try connection.records("WHERE number = ?", [.integer(number)])
            }
            return found
        }
    }

    package func totals(matching filter: QueueFilter) throws(Failure) -> QueueTotals {
        let query = RecordQuery(filter: filter)
        return try read { (connection) throws(DatabaseError) in
            var sum = QueueTotals()
            for state in query.states {
                let part = query.totals(of: state)
                for row in try connection.rows(part.sql, part.values, { $0.totals }) { sum.add(row) }
            }
            return sum
        }
    }

    package func isName(
        _ name: String, in folder: String, ofOtherThan id: QueueID, in states: Set<DownloadState>
    ) throws(Failure) -> Bool {
        // Compared as the index on names does, then exactly.
        let sql = """
            SELECT 1 FROM downloads WHERE state IN (\(states.map { _ in "?" }.joined(separator: ", "))) AND name = ? COLLATE NOCASE AND name = ?
            AND folder = ? AND id <> ? LIMIT 1
            """
        let states = states.map { DatabaseValue.integer(Int64($0.stored)) }
        return try read { (connection) throws(DatabaseError) in
            try !connection.rows(
                sql, states + [.text(name), .text(name), .text(folder), .integer(id.stored)], { $0.integer(0) }
            ).isEmpty
        }
    }

    package func groups() throws(Failure) -> [(name: String, count: Int)] {
        try read { (connection) throws(DatabaseError) in
            try connection.rows(
                "SELECT family, count(*) FROM downloads WHERE family > '' AND state <> ? GROUP BY family",
                [.integer(Int64(DownloadState.removed.stored))]
            ) { (name: $0.text(0), count: Int($0.integer(1))) }
        }
    }

    package func ids(prefix: String, limit: Int) throws(Failure) -> [QueueID] {
        guard let range = QueueID.stored(prefix: prefix) else { return [] }
        return try read { (connection) throws(DatabaseError) in
            try connection.rows(
                "SELECT id FROM downloads WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
                [.integer(range.lowerBound), .integer(range.upperBound), .integer(Int64(max(0, limit)))]
            ) { QueueID(stored: $0.integer(0)) }
        }
    }

    package func entries() throws(Failure) -> [QueueEntry] {
        let waiting = RecordQuery(filter: QueueFilter(states: [.waiting, .paused]))
        let page = waiting.page(with: ["id", "state", "family"], by: .turn, offset: 0, limit: -1)
        return try read { (connection) throws(DatabaseError) in
            // One string per group, not per entry.
            var groups: [Bytewise<String>: String] = [:]
            return try connection.rows(page.sql, page.values) { (row) throws(DatabaseError) in
                let group = row.text(3)
                let known = groups[Bytewise(group)] ?? group
                groups[Bytewise(known)] = known
                return QueueEntry(
                    id: QueueID(stored: row.integer(1)), state: try RecordRow.state(row.integer(2)),
                    priority: Int(row.integer(4)), position: row.position(5), group: known)
            }
        }
    }

    package func value(_ name: String) throws(Failure) -> String? {
        try read { (connection) throws(DatabaseError) in
            try connection.rows("SELECT value FROM settings WHERE name = ?", [.text(name)]) { $0.text(0) }.first
        }
    }

    private func read<Value: Sendable>(
        _ body: @Sendable (DatabaseConnection) throws(DatabaseError) -> Value
    ) throws(Failure) -> Value { try use("cannot read the queue", body) }
}

extension DatabaseConnection {
    /// URLs of a download, the given one first.
    func sources(of number: Int64) throws(DatabaseError) -> [String] {
        try rows("SELECT address FROM sources WHERE download = ? ORDER BY place", [.integer(number)]) { $0.text(0) }
    }

    fileprivate func records(_ condition: String, _ values: [DatabaseValue]) throws(DatabaseError) -> [QueueRecord] {
        try rows("\(RecordRow.select) \(condition)", values) { (row) throws(DatabaseError) in
            try RecordRow.record(row, sources: sources(of: row.integer(0)))
        }
    }
}

extension Statement {
    fileprivate var totals: QueueTotals {
        var totals = QueueTotals()
        totals.count = Int(integer(0))
        // SQLite's conversion from a float saturates.
        totals.written = integer(1)
        totals.total = integer(2)
        totals.unknownTotals = Int(integer(3))
        return totals
    }
}

extension QueueTotals {
    fileprivate mutating func add(_ other: QueueTotals) {
        count += other.count
        written = written.addingClamped(other.written)
        total = total.addingClamped(other.total)
        unknownTotals += other.unknownTotals
    }
}

extension QueueID {
    /// The range of the ids that begin with these hexadecimal digits.
    ///
    /// With one digit or more the sign is the same for all of them, so one range holds them; without digits it is the
    /// range of all.
    fileprivate static func stored(prefix: String) -> ClosedRange<Int64>? {
        guard prefix.utf8.count <= 16 else { return nil }
        if prefix.isEmpty { return .min ... .max }
        guard let digits = UInt64(prefix, radix: 16), prefix.utf8.first != UInt8(ascii: "+") else { return nil }
        let free = UInt64(4 * (16 - prefix.utf8.count))
        let first = digits << free
        let last = first | ((1 << free) - 1)
        return Int64(bitPattern: first)...Int64(bitPattern: last)
    }
}
