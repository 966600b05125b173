import PawlCore
import PawlEngine

/// Makes the questions for pages and sums.
///
/// A page is asked of each state by itself and merged: each of those walks an index in its order, so that only the rows
/// of the page and those before it are looked at, however long the queue is.
struct RecordQuery {
    let filter: QueueFilter

    /// Of a page's rows the number, these columns and what orders them; of all rows when `limit` is negative.
    func page(
        with columns: [String] = [],
        by ordering: QueueOrdering,
        offset: Int,
        limit: Int
    ) -> (sql: String, values: [DatabaseValue]) {
        let keys = Self.keys(of: ordering)
        var values: [DatabaseValue] = []
        let selection = (["number"] + columns + keys.columns).joined(separator: ", ")
        let parts = states.map { state in
            let (condition, needed) = condition(of: state)
            values += needed
            return "SELECT \(selection) FROM downloads WHERE \(condition)"
        }
        let sql = "\(parts.joined(separator: " UNION ALL ")) ORDER BY \(keys.order) LIMIT ? OFFSET ?"
        return (sql, values + [.integer(Int64(limit)), .integer(Int64(offset))])
    }

    /// Count, bytes written, bytes expected and how many expect nobody knows what.
    ///
    /// `total` sums as a float, which no server's claim makes overflow.
    func totals(of state: QueueState) -> (sql: String, values: [DatabaseValue]) {
        let (condition, values) = condition(of: state)
        let sql = "SELECT count(*), total(written), total(total), count(*) - count(total) FROM downloads"
        return ("\(sql) WHERE \(condition)", values)
    }

    /// In one order, so that few different questions are prepared.
    var states: [QueueState] {
        QueueState.allCases.filter { filter.states?.contains($0) ?? true }
    }

    private func condition(of state: QueueState) -> (sql: String, values: [DatabaseValue]) {
        var sql = "state = ?"
        var values = [DatabaseValue.integer(Int64(state.rawValue))]
        if let group = filter.group {
            sql += " AND family = ?"
            values.append(.text(group))
        }
        if let text = filter.text, !text.isEmpty {
            sql += """
                 AND (holds(name, ?) OR EXISTS (
                SELECT 1 FROM sources WHERE download = number AND holds(address, ?)))
                """
            values += [.text(text.lowercased()), .text(text.lowercased())]
        }
        return (sql, values)
    }

    private static func keys(of ordering: QueueOrdering) -> (columns: [String], order: String) {
        switch ordering {
        case .turn: (["priority", "position"], "priority DESC, position, number")
        case .added(newestFirst: false): (["added"], "added, number")
        case .added(newestFirst: true): (["added"], "added DESC, number DESC")
        case .ended(newestFirst: false): (["ended"], "ended, number")
        case .ended(newestFirst: true): (["ended"], "ended DESC, number DESC")
        case .name: (["name COLLATE NOCASE AS name"], "name, number")
        }
    }
}
