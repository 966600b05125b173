import PawlCore
import PawlEngine

/// Makes the questions for pages and sums.
///
/// A page is asked of each state by itself and merged: each of those walks an index in its order, so that only the rows
/// of the page and those before it are looked at, however long the queue is.
struct RecordQuery {
    let filter: QueueFilter

    /// Of a page's rows the number, these columns and what orders them; of all rows when `limit` is negative.
    ///
    /// After a row, each state has as many parts as there are ranges of the index behind that row: none of the rows before
    /// it is looked at.
    func page(
        with columns: [String] = [],
        by ordering: QueueOrdering,
        after row: RecordKey? = nil,
        offset: Int,
        limit: Int
    ) -> (sql: String, values: [DatabaseValue]) {
        let order = RecordOrder(ordering)
        let ranges = row.map { order.ranges(behind: $0) } ?? [RecordOrder.Condition(sql: "", values: [])]
        var values: [DatabaseValue] = []
        let selection = (["number"] + columns + order.selection).joined(separator: ", ")
        let parts = states.flatMap { state in
            let (condition, needed) = condition(of: state)
            return ranges.map { range in
                values += needed + range.values
                return "SELECT \(selection) FROM downloads WHERE \(condition)\(range.sql)"
            }
        }
        let sql = "\(parts.joined(separator: " UNION ALL ")) ORDER BY \(order.text) LIMIT ? OFFSET ?"
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
}
