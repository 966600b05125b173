/// Which columns fit into a width, and how wide name and bar are.
package struct ColumnLayout: Hashable {
    enum Column: Hashable {
        case percent
        case size
        case speed
        case timeLeft
        case connections

        var title: String {
            switch self {
            case .percent: "DONE"
            case .size: "SIZE"
            case .speed: "SPEED"
            case .timeLeft: "LEFT"
            case .connections: ""
            }
        }

        /// Columns of the widest text.
        var width: Int {
            switch self {
            case .percent: 6
            case .size: 13
            case .speed: 10
            case .timeLeft: 7
            case .connections: 3
            }
        }
    }

    /// Columns for the name.
    private(set) var name: Int
    /// Columns for the bar, `nil` if it does not fit.
    private(set) var bar: Int?
    /// The columns after the bar, from left to right.
    private(set) var columns: [Column]

    /// A longer name keeps at least this many columns before anything but percentage and speed is shown.
    private static let shortestName = 20
    private static let shortestBar = 8
    private static let longestBar = 40

    /// Divides a width; the bar gets the columns that the longest name does not need.
    ///
    /// `prefix`: columns at the beginning of each name that are not part of it. Such names are those of a list, in which
    /// most rows are at rest: a bar gets only what no name needs.
    init(width: Int, names: [String], prefix: Int = 0) {
        let longest = names.reduce(0) { max($0, TerminalText.width($1)) }
        let shortest = min(ColumnLayout.shortestName + prefix, max(longest, 4))
        // The last column stays free: terminals differ in their behaviour after writing to it.
        let available = max(1, width - 1)
        var left = available - shortest
        func take(_ columns: Int) -> Bool {
            guard left >= columns + 1 else { return false }
            left -= columns + 1
            return true
        }
        // In the order of importance: the first are dropped last.
        var chosen: Set<Column> = []
        for column in [Column.percent, .speed, .timeLeft, .size] {
            guard take(column.width) else { break }
            chosen.insert(column)
        }
        let isList = prefix > 0
        let need = isList ? longest - shortest : 0
        let hasBar = chosen.contains(.size) && left > need + ColumnLayout.shortestBar && take(ColumnLayout.shortestBar)
        if chosen.contains(.timeLeft), left > need + Column.connections.width, take(Column.connections.width) {
            chosen.insert(.connections)
        }
        if chosen.isEmpty, available >= Column.percent.width + 5 {
            chosen = [.percent]
            left = available - Column.percent.width - 1 - shortest
        }

        columns = [Column.percent, .size, .speed, .timeLeft, .connections].filter(chosen.contains)
        guard hasBar else {
            name = chosen.isEmpty ? available : shortest + left
            return
        }
        // At most two thirds of the spare columns go to the name of a download, unless the bar cannot use them.
        name = shortest + min(max(0, longest - shortest), isList ? left : left * 2 / 3)
        left -= name - shortest
        let growth = min(left, ColumnLayout.longestBar - ColumnLayout.shortestBar)
        bar = ColumnLayout.shortestBar + growth
        let spare = left - growth
        name += min(spare, max(0, longest - name))
    }
}
