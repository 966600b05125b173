import PawlBase
import PawlTerminal

/// The screen of `list --watch`: which rows it shows, which one is selected, and what a key does.
struct WatchScreen: Sendable {
    /// What a key asks for.
    enum Action: Sendable, Hashable {
        case none
        case quit
        /// A method that takes ids.
        case call(Call)
    }

    struct Call: Sendable, Hashable {
        var method: String
        var parameters: JSON
        /// For messages.
        var verb: String
        var done: String
        var id: String
        var title: String
    }

    private struct Message: Sendable {
        var text: String
        var style = StyledLine.Style.plain
    }

    private var rows: [RemoteDownload] = []
    /// How many rows the queue has, if that is known.
    private var count: Int?
    /// The longest first.
    private var statuses: [String] = []
    private var selected: String?
    /// The first row on the screen.
    private var top = 0
    /// How many rows the last screen had room for.
    private var page = 1
    /// Whether the last row of all is selected, also when there are more.
    private var isAtEnd = false
    /// The download that is removed if the next key is y.
    private var question: String?
    private var message: Message?
    /// Why the rows are those of some time ago.
    var trouble: String?
    /// Whether there is a keyboard.
    var takesKeys = true

    /// How many rows a screen of so many lines needs at most.
    func wanted(height: Int) -> Int { isAtEnd ? Self.mostRows : min(top + 2 * max(1, height), Self.mostRows) }

    private static let mostRows = 10_000

    /// Takes the state of the queue: `more` is the number of rows behind these, `nil` if it is not known.
    mutating func take(_ rows: [RemoteDownload], more: Int?, statuses: [String]) {
        let index = self.index
        self.rows = rows
        self.statuses = statuses
        count = more.map { rows.count + max(0, $0) }
        // The one that takes the place of a row that has gone.
        if index == nil || !rows.contains(where: { $0.id == selected }) {
            selected = rows.isEmpty ? nil : rows[min(index ?? 0, rows.count - 1)].id
        }
        if isAtEnd { selected = rows.last?.id }
        if let asked = question, !rows.contains(where: { $0.id == asked }) { question = nil }
    }

    private var index: Int? { selected.flatMap { id in rows.firstIndex { $0.id == id } } }

    mutating func say(_ text: String, failed: Bool = false) {
        message = Message(text: text, style: failed ? .failed : .plain)
    }

    // MARK: keys

    /// Carries out keys that came together; what follows a question is no reply to it.
    mutating func press(_ keys: [TerminalKey]) -> [Action] {
        var actions: [Action] = []
        for key in keys {
            let hadQuestion = question != nil
            let action = press(key)
            if action != .none { actions.append(action) }
            if question != nil, !hadQuestion { break }
        }
        return actions
    }

    private mutating func press(_ key: TerminalKey) -> Action {
        if let asked = question.flatMap({ id in rows.first { $0.id == id } }) {
            question = nil
            message = nil
            guard key == .character("y") || key == .character("Y") else { return .none }
            return call("pawl.remove", [.strings([asked.id]), ["keepFile": .bool(true)]], "remove", "removed", asked)
        }
        message = nil
        switch key {
        case .character("q"), .character("Q"): return .quit
        case .up, .character("k"): move(by: -1)
        case .down, .character("j"): move(by: 1)
        case .pageUp: move(by: -page)
        case .pageDown, .character(" "): move(by: page)
        case .home, .character("g"): move(by: -rows.count)
        case .end, .character("G"):
            move(by: rows.count)
            isAtEnd = true
        case .character("p"): return steer("pause", "paused")
        case .character("r"): return steer("resume", "resumed")
        case .character("x"): question = selected
        case .character, .enter, .escape: break
        }
        return .none
    }

    private mutating func move(by step: Int) {
        isAtEnd = false
        guard let index else { return }
        selected = rows[min(max(0, index + step), rows.count - 1)].id
    }

    private mutating func steer(_ verb: String, _ done: String) -> Action {
        guard let index else { return .none }
        return call("pawl.\(verb)", [.strings([rows[index].id])], verb, done, rows[index])
    }

    private mutating func call(
        _ method: String, _ parameters: JSON, _ verb: String, _ done: String, _ download: RemoteDownload
    ) -> Action {
        // Carried out minutes later, it would be a surprise.
        guard trouble == nil else {
            say("cannot \(verb) \(download.title): the service does not respond", failed: true)
            return .none
        }
        return .call(
            Call(
                method: method, parameters: parameters, verb: verb, done: done, id: download.id, title: download.title))
    }

    // MARK: the screen

    /// The lines of the whole screen, at most `height`; `tick` counts redraws.
    mutating func lines(width: Int, height: Int, glyphs: ProgressRenderer.Glyphs, tick: Int) -> [StyledLine] {
        func line(_ text: String, _ style: StyledLine.Style) -> StyledLine {
            var line = StyledLine()
            line.append(TerminalText.shortened(text, to: max(1, width - 1), ellipsis: glyphs.ellipsis), style)
            return line
        }
        func fitting(_ texts: [String], _ style: StyledLine.Style) -> StyledLine {
            line(texts.first { TerminalText.width($0) < width } ?? texts.last ?? "", style)
        }
        // Where there is no room, rows are worth more than titles and keys.
        let isLow = height < 8
        let foot = isLow ? 0 : footLines(height)
        page = max(1, height - (isLow ? 2 : 3 + foot))
        scroll()
        // The last row of the list says what does not fit.
        let isWhole = top == 0 && (count ?? .max) <= page
        let shown = rows.dropFirst(top).prefix(isWhole ? page : max(1, page - 1))
        let digits = ShortIDs.digits(rows.map(\.id))
        var renderer = ProgressRenderer(glyphs: glyphs, width: max(1, width - 2), height: height)
        renderer.prefix = digits + 1
        let items = shown.map { ProgressRow($0, digits: digits) }
        let layout = renderer.layout(items.map(\.name))
        var lines = [trouble.map { line($0, .failed) } ?? fitting(statuses, .strong)]
        if !isLow { lines.append(renderer.head(layout).after("  ")) }
        for (row, text) in zip(shown, renderer.lines(items, layout, tick: tick)) {
            lines.append(text.after(row.id == selected && takesKeys ? "> " : "  ", .strong))
        }
        if rows.isEmpty, trouble == nil { lines.append(line("  nothing is queued or running", .faint)) }
        if !isWhole, let rest = rest(behind: top + shown.count) { lines.append(line("  \(rest)", .faint)) }
        let end = height - (isLow ? 1 : 1 + foot)
        while lines.count < end { lines.append(StyledLine()) }
        let asked = question.flatMap { id in rows.first { $0.id == id } }
        let word = asked.map { line(Self.question($0), .waiting) } ?? message.map { line($0.text, $0.style) }
        if isLow {
            lines.append(word ?? fitting(keys, .faint))
        } else {
            let said = word.map { [$0] } ?? reason(width - 1, foot, glyphs.ellipsis).map { line($0, .faint) }
            lines += said + Array(repeating: StyledLine(), count: foot - said.count) + [fitting(keys, .faint)]
        }
        return Array(lines.suffix(max(1, height)))
    }

    /// Lines for a message, or for why the selected download has failed.
    private func footLines(_ height: Int) -> Int {
        takesKeys && height >= 12 && rows.contains { $0.error != nil } ? Self.reasonLines : 1
    }

    private static let reasonLines = 2

    /// Why the selected download has failed, or what it waits for, in at most `count` lines.
    private func reason(_ columns: Int, _ count: Int, _ ellipsis: String) -> [String] {
        guard takesKeys, let index else { return [] }
        let state = rows[index].stateText
        let waiting = state.isWaiting ? state.notes.first : nil
        guard let text = rows[index].error.map({ TerminalText.harmless($0.reason) }) ?? waiting else { return [] }
        let lines = TerminalText.wrapped(text, to: max(1, columns))
        guard lines.count > count else { return lines }
        let rest = lines[(count - 1)...].joined(separator: " ")
        return lines.prefix(count - 1) + [TerminalText.cut(rest, to: max(1, columns), ellipsis: ellipsis)]
    }

    private var keys: [String] {
        let keys = "p pause  r resume  x remove  q quit"
        return takesKeys ? ["\(keys)  arrows select", keys] : ["Ctrl-C ends"]
    }

    private static func question(_ download: RemoteDownload) -> String {
        RemovalQuestion([download], deletesFiles: false)?.text
            ?? "remove \(download.title) from the list? [y/N] "
    }

    private mutating func scroll() {
        let index = index ?? 0
        // One row of them says what does not fit.
        let room = max(1, page - 1)
        if index < top { top = index }
        if index >= top + room, (count ?? .max) > page || top > 0 { top = index - room + 1 }
        top = max(0, min(top, rows.count - room))
        if (count ?? .max) <= page { top = 0 }
    }

    private func rest(behind end: Int) -> String? {
        let above = top > 0 ? "\(top) above" : nil
        let more: String?
        if let count { more = count > end ? "and \(count - end) more" : nil } else { more = "and more" }
        let parts = [above, more].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
