import PawlBase
import PawlTerminal

/// What `list --watch` shows of the queue: collections, then running downloads, those that wait or are paused, failed ones.
struct WatchQuery: Sendable {
    private let options: VerbOptions
    private let limit: Int

    /// `limit`: how many rows are wanted.
    init(_ options: VerbOptions, limit: Int) {
        self.options = options
        self.limit = limit
    }

    /// Downloads of a collection have no rows: as many more are asked for.
    private static let hidden = 500

    private func list(_ states: [String]) -> (method: String, parameters: JSON) {
        var wanted = options
        if wanted.states.isEmpty { wanted.states = states }
        return ("pawl.list", [wanted.filter(limit: min(limit + Self.hidden, 10_000))])
    }

    private var lists: [(method: String, parameters: JSON)] {
        options.states.isEmpty ? [list(["queued", "paused"]), list(["failed"])] : [list([])]
    }

    var calls: [(method: String, parameters: JSON)] {
        [("pawl.status", []), ("pawl.running", []), ("pawl.collections", [])] + lists
    }

    struct Outcome: Sendable {
        var rows: [RemoteDownload] = []
        /// How many rows there are behind them; `nil` if that is not known.
        var more: Int?
        /// The numbers of the queue, the longest text first.
        var statuses: [String]
    }

    /// Reads the results of the calls.
    func outcome(_ results: [JSON]) -> Outcome? {
        guard results.count == calls.count else { return nil }
        func rows(_ json: JSON) -> [RemoteDownload] {
            (json.array ?? []).filter { options.includes($0) && options.isRow($0) }.compactMap(RemoteDownload.init)
        }
        var running = rows(results[1])
        if let group = options.group { running.removeAll { !$0.group.hasSameBytes(as: group) } }
        if let text = options.text?.lowercased() {
            running.removeAll { !($0.title + $0.source).lowercased().contains(text) }
        }
        var collections: [RemoteDownload] = []
        if options.group == nil {
            collections = (results[2].array ?? []).filter(options.includesCollection).compactMap(RemoteDownload.init)
            if options.states.isEmpty { collections.removeAll { $0.state == "finished" } }
        }
        let listed = results.dropFirst(3)
        var known = Set(running.map(\.id))
        let rest = listed.flatMap(rows).filter { known.insert($0.id).inserted }
        let all = collections + running + rest
        let isWhole = listed.allSatisfy { ($0.array?.count ?? 0) < min(limit + Self.hidden, 10_000) }
        return Outcome(
            rows: Array(all.prefix(limit)), more: isWhole ? all.count - min(limit, all.count) : nil,
            statuses: Self.statuses(results[0]))
    }

    private static func statuses(_ status: JSON) -> [String] {
        func number(_ name: String) -> Int64 { status[name]?.integer ?? 0 }
        let figures = ["paused", "failed"].map { "\(number($0)) \($0)" }
        let failed = number("failed") > 0 ? [figures[1]] : []
        let speed = NumberFormat.speed(number("speed"))
        let pause = status.timetablePause.map { [$0] } ?? []
        return [
            pause + [status.activity] + figures + [speed], [status.activity] + figures + [speed],
            [status.activity] + failed + [speed], [status.activity] + failed,
            ["\(number("running")) running"] + failed,
        ].map { $0.joined(separator: ", ") }
    }
}
