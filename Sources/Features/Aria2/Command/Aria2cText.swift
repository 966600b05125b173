/// What aria2c prints, as values: wrappers parse it.
package enum Aria2cText {
    /// How a download ended, as its line in the results says it.
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        case complete = "OK"
        case failed = "ERR"
        case inProgress = "INPR"

        fileprivate var legend: String {
            switch self {
            case .complete: "(OK):download completed."
            case .failed: "(ERR):error occurred."
            case .inProgress: "(INPR):download in-progress."
            }
        }

        fileprivate var color: String {
            switch self {
            case .complete: "32"
            case .failed: "31"
            case .inProgress: "34"
            }
        }
    }

    /// A line of the results.
    package struct Result: Hashable, Sendable {
        /// 16 hexadecimal digits.
        package var gid: String
        package var outcome: Outcome
        /// Bytes per second; `nil` if no time was spent.
        package var speed: Int64?
        /// `nil` while the size is unknown.
        package var percent: Int64?
        /// The file's path, else its first URL.
        package var place: String

        package init(gid: String, outcome: Outcome, speed: Int64?, percent: Int64?, place: String) {
            self.gid = gid
            self.outcome = outcome
            self.speed = speed
            self.percent = percent
            self.place = place
        }
    }

    /// A running download.
    package struct Progress: Hashable, Sendable {
        package var gid: String
        package var written: Int64
        /// 0 while unknown.
        package var total: Int64
        /// How many bytes of its file were compared with their digests, while that runs.
        package var checked: Int64?
        package var connections: Int
        package var speed: Int64
        package var path: String

        package init(
            gid: String, written: Int64, total: Int64, checked: Int64? = nil, connections: Int, speed: Int64,
            path: String
        ) {
            self.gid = gid
            self.written = written
            self.total = total
            self.checked = checked
            self.connections = connections
            self.speed = speed
            self.path = path
        }

        fileprivate func sizes(_ format: (Int64) -> String) -> String {
            sizes(checked == nil ? written : total, format)
        }

        fileprivate func sizes(_ part: Int64, _ format: (Int64) -> String) -> String {
            let percent = total > 0 ? "(\(Aria2cText.percent(part, of: total))%)" : ""
            return "\(format(part))B/\(format(total))B\(percent)"
        }

        /// What follows the sizes while the file is compared.
        fileprivate func checksum(_ format: (Int64) -> String) -> String {
            checked.map { " [Checksum:#\(gid.prefix(6)) \(sizes(min($0, total), format))]" } ?? ""
        }
    }

    static func percent(_ part: Int64, of total: Int64) -> Int64 {
        Int64(Double(max(0, min(part, total))) * 100 / Double(max(1, total)))
    }

    /// `1.5Ki`, `97Ki`, `0.9Mi`: without the unit's B.
    package static func size(_ bytes: Int64) -> String {
        let units = ["", "Ki", "Mi", "Gi"]
        let amount = max(0, bytes)
        let largest = amount < 1 << 10 ? 0 : amount < 1 << 20 ? 1 : amount < 1 << 30 ? 2 : 3
        let unit = largest + 1 < units.count && amount >> (10 * largest) >= 922 ? largest + 1 : largest
        let whole = amount >> (10 * unit)
        let tenth = whole < 10 && unit > 0 ? ".\((amount >> (10 * (unit - 1)) & 1023) * 10 / 1024)" : ""
        return "\(grouped(whole))\(tenth)\(units[unit])"
    }

    /// `1h2m3s`.
    package static func duration(_ seconds: Int64) -> String {
        let (hours, minutes) = (seconds / 3600, seconds % 3600 / 60)
        return (hours > 0 ? "\(hours)h" : "") + (minutes > 0 ? "\(minutes)m" : "") + "\(seconds % 60)s"
    }

    /// With commas between thousands.
    package static func grouped(_ number: Int64) -> String {
        var groups: [String] = []
        var rest = String(number)[...]
        while rest.count > 3 {
            groups.insert(String(rest.suffix(3)), at: 0)
            rest = rest.dropLast(3)
        }
        return ([String(rest)] + groups).joined(separator: ",")
    }

    /// The line that a terminal shows, for one download or several.
    package static func readout(_ rows: [Progress], isHumanReadable: Bool) -> String {
        let format = formatter(isHumanReadable)
        guard let first = rows.first else { return "" }
        let checksum = rows.first { $0.checked != nil }?.checksum(format) ?? ""
        if rows.count == 1 { return line(first, format) + checksum }
        let speed = rows.reduce(0) { $0 + $1.speed }
        let shown = rows.prefix(5).map { "[#\($0.gid.prefix(6)) \($0.sizes(format))]" }.joined()
        return "[DL:\(format(speed))B]" + shown + (rows.count > 5 ? "(+\(rows.count - 5))" : "") + checksum
    }

    private static func formatter(_ isHumanReadable: Bool) -> (Int64) -> String {
        guard isHumanReadable else { return { number in "\(number)" } }
        return { number in size(number) }
    }

    private static func line(_ row: Progress, _ format: (Int64) -> String) -> String {
        let start = "[#\(row.gid.prefix(6)) \(row.sizes(format)) CN:\(row.connections)"
        guard row.checked == nil else { return start + "]" }
        let left = row.speed > 0 && row.total > 0 ? (row.total - row.written) / row.speed : 0
        return start + " DL:\(format(row.speed))B" + (left > 0 ? " ETA:\(duration(left))" : "") + "]"
    }

    /// The block that is printed every `--summary-interval`; `now` is as by asctime(3).
    package static func summary(_ rows: [Progress], now: String, columns: Int, isHumanReadable: Bool) -> String {
        let format = formatter(isHumanReadable)
        let blocks = rows.map { row in
            "\(line(row, format))\nFILE: \(row.path)\n\(String(repeating: "-", count: columns))\n"
        }
        return " *** Download Progress Summary as of \(now) *** \n" + String(repeating: "=", count: columns) + "\n"
            + blocks.joined() + "\n"
    }

    /// The results at the end.
    package static func results(_ results: [Result], isFull: Bool, isColored: Bool) -> String {
        var text = "\nDownload Results:\ngid   |stat|avg speed  |\(isFull ? "  %|" : "")path/URI\n"
        text += "======+====+===========+" + (isFull ? "===+" : "")
        text += String(repeating: "=", count: isFull ? 51 : 55) + "\n"
        for result in results {
            let word = result.outcome.rawValue
            let padding = String(repeating: " ", count: 4 - word.count)
            let stat = (isColored ? "\u{1B}[1;\(result.outcome.color)m\(word)\u{1B}[0m" : word) + padding
            let speed = result.speed.map { size($0) + "B/s" } ?? "n/a"
            let percent = result.percent.map { "\($0)" } ?? "-"
            text += "\(result.gid.prefix(6))|\(stat)|\(right(speed, 11))|"
            text += (isFull ? right(percent, 3) + "|" : "") + result.place + "\n"
        }
        let seen = Outcome.allCases.filter { outcome in results.contains { $0.outcome == outcome } }
        guard !seen.isEmpty else { return text }
        text += "\nStatus Legend:\n" + seen.map(\.legend).joined() + "\n"
        return text
    }

    /// What follows the results if not everything is complete.
    package static let advice = """

        aria2 will resume download if the transfer is restarted.
        If there are any errors, then see the log file. See '-l' option in help/man page for details.

        """

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// The files of a Metalink as `--show-files` prints them.
    package static func files(_ files: [(path: String, length: Int64?)]) -> String {
        var text = "Files:\nidx|path/length\n===+" + String(repeating: "=", count: 75) + "\n"
        for (index, file) in files.enumerated() {
            let length = file.length ?? 0
            text += "\(right(String(index + 1), 3))|\(file.path)\n"
            text += "   |\(size(length))B (\(grouped(length)))\n---+\(String(repeating: "-", count: 75))\n"
        }
        return text + "\n"
    }
}
