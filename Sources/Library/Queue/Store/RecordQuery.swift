import PawlBase
import PawlQueue

/// Makes the queries for pages and sums.
///
/// A page is queried for each state separately and merged: each part walks an index in its order, so that only the rows
/// of the page and those before it are read, however long the queue is.
struct RecordQuery {
    let filter: QueueFilter

    /// The number, these columns and the ordering columns of a page's rows; of all rows when `limit` is negative.
    ///
    /// After a row, each state has as many parts as there are ranges of the index after that row: no row before it is
    /// read.
    func page(
        with columns: [String] = [], by ordering: QueueOrdering, after row: RecordKey? = nil, offset: Int, limit: Int
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

    /// Count, bytes written, bytes expected and the number of downloads of unknown size.
    ///
    /// `total` sums as a float, which no size that a server reports overflows.
    func totals(of state: DownloadState) -> (sql: String, values: [DatabaseValue]) {
        let (condition, values) = condition(of: state)
        let sql = "SELECT count(*), total(written), total(total), count(*) - count(total) FROM downloads"
        return ("\(sql) WHERE \(condition)", values)
    }

    /// In a fixed order, so that few different statements are prepared.
    var states: [DownloadState] { DownloadState.allStored.filter { filter.states?.contains($0) ?? true } }

    private func condition(of state: DownloadState) -> (sql: String, values: [DatabaseValue]) {
        var sql = "state = ?"
        var values = [DatabaseValue.integer(Int64(state.stored))]
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
