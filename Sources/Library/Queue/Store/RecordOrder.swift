import PawlQueue

/// A row's position in an order: its number and the values of the columns that order it.
struct RecordKey: Hashable {
    package var number: Int64
    var values: [DatabaseValue]
}

/// The order of a page: some columns, and the number where those are equal.
struct RecordOrder {
    struct Condition: Hashable {
        /// Empty, or begins with AND.
        var sql: String
        var values: [DatabaseValue]
    }

    private struct Column {
        let name: String
        var isDescending = false
        /// The smallest value of a column that may be NULL.
        var least: DatabaseValue?
        var collation = ""

        var expression: String { name + collation }

        /// The conditions for the values after `value`; NULL is the smallest.
        func conditions(behind value: DatabaseValue) -> [Condition] {
            switch (value, isDescending) {
            // Written as a range: an index does not serve IS NOT NULL.
            case (.null, false): least.map { [Condition(sql: " AND \(expression) >= ?", values: [$0])] } ?? []
            case (.null, true): []
            case (_, false): [Condition(sql: " AND \(expression) > ?", values: [value])]
            case (_, true):
                [Condition(sql: " AND \(expression) < ?", values: [value])]
                    + (least != nil ? [Condition(sql: " AND \(name) IS NULL", values: [])] : [])
            }
        }

        func condition(equal value: DatabaseValue) -> Condition {
            value == .null
                ? Condition(sql: " AND \(name) IS NULL", values: [])
                : Condition(sql: " AND \(expression) = ?", values: [value])
        }
    }

    private let columns: [Column]
    private let number: Column

    init(_ ordering: QueueOrdering) {
        switch ordering {
        case .turn:
            columns = [Column(name: "priority", isDescending: true), Column(name: "position")]
            number = Column(name: "number")
        case .added(let newestFirst):
            columns = [Column(name: "added", isDescending: newestFirst)]
            number = Column(name: "number", isDescending: newestFirst)
        case .ended(let newestFirst):
            columns = [Column(name: "ended", isDescending: newestFirst, least: .integer(.min))]
            number = Column(name: "number", isDescending: newestFirst)
        case .name:
            columns = [Column(name: "name", least: .text(""), collation: " COLLATE NOCASE")]
            number = Column(name: "number")
        }
    }

    /// The columns besides the number, as a query selects them.
    var selection: [String] { columns.map { $0.collation.isEmpty ? $0.name : "\($0.expression) AS \($0.name)" } }

    /// The terms of ORDER BY.
    var text: String {
        (columns + [number]).map { $0.isDescending ? "\($0.name) DESC" : $0.name }.joined(separator: ", ")
    }

    /// The query for a download's key by its id.
    var question: String { "SELECT number, \(columns.map(\.name).joined(separator: ", ")) FROM downloads WHERE id = ?" }

    func key(_ row: Statement) -> RecordKey {
        let values = columns.indices.map { row.value(Int32($0) + 1) }
        return RecordKey(number: row.integer(0), values: values)
    }

    /// All rows after one, as disjoint ranges of the index that has this order.
    func ranges(behind key: RecordKey) -> [Condition] {
        var found: [Condition] = []
        var equal = Condition(sql: "", values: [])
        for (column, value) in zip(columns + [number], key.values + [.integer(key.number)]) {
            for behind in column.conditions(behind: value) {
                found.append(Condition(sql: equal.sql + behind.sql, values: equal.values + behind.values))
            }
            let same = column.condition(equal: value)
            equal = Condition(sql: equal.sql + same.sql, values: equal.values + same.values)
        }
        return found
    }
}
