/// Which columns fit into a width, and how wide name and bar are.
struct ColumnLayout: Hashable {
    enum Column: Hashable {
        case percent
        case finePercent
        case size
        case speed
        case timeLeft
        case connections

        /// Columns of the widest text.
        var width: Int {
            switch self {
            case .percent: 6
            case .finePercent: 7
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

    private static let shortestName = 10
    private static let shortestBar = 8
    private static let longestBar = 40

    /// Divides a width; the bar gets the columns that the longest name does not need.
    init(width: Int, names: [String]) {
        // The last column stays free: terminals differ in their behaviour after writing to it.
        var left = max(1, width - 1) - ColumnLayout.shortestName
        func take(_ columns: Int) -> Bool {
            guard left >= columns + 1 else { return false }
            left -= columns + 1
            return true
        }
        // In the order of importance: the first are dropped last.
        var chosen: Set<Column> = []
        let percent = width >= 100 ? Column.finePercent : Column.percent
        for column in [percent, .speed, .timeLeft] where take(column.width) { chosen.insert(column) }
        let hasBar = chosen.contains(.timeLeft) && take(ColumnLayout.shortestBar)
        for column in [Column.size, .connections] where hasBar && take(column.width) { chosen.insert(column) }

        columns = [percent, .size, .speed, .timeLeft, .connections].filter(chosen.contains)
        guard hasBar else {
            name = chosen.isEmpty ? max(1, width - 1) : ColumnLayout.shortestName + left
            return
        }
        let longest = names.reduce(0) { max($0, TerminalText.width($1)) }
        // At most two thirds of the spare columns go to the name, unless the bar cannot use them.
        name = ColumnLayout.shortestName + min(max(0, longest - ColumnLayout.shortestName), left * 2 / 3)
        left -= name - ColumnLayout.shortestName
        let growth = min(left, ColumnLayout.longestBar - ColumnLayout.shortestBar)
        bar = ColumnLayout.shortestBar + growth
        let spare = left - growth
        name += min(spare, max(0, longest - name))
    }
}
