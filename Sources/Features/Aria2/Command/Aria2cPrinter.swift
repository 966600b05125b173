import Glibc
import PawlBase
import PawlGet
import PawlServer
import PawlTerminal

/// Prints notices, readout and results where aria2c does, and writes its log.
struct Aria2cPrinter: ~Copyable {
    enum Level: Int, Comparable {
        case debug, info, notice, warn, error

        init?(_ word: String?) {
            let words = ["debug": Level.debug, "info": .info, "notice": .notice, "warn": .warn, "error": .error]
            guard let word, let level = words[word] else { return nil }
            self = level
        }

        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        var word: String { ["DEBUG", "INFO", "NOTICE", "WARN", "ERROR"][rawValue] }
        var color: String { ["1;37", "1;36", "1;32", "1;33", "1;31"][rawValue] }
    }

    private var output: OutputFile
    private var log: OutputFile?
    private let isQuiet: Bool
    private let isTerminal: Bool
    private let isColored: Bool
    private let isHumanReadable: Bool
    private let isTruncated: Bool
    private let showsReadout: Bool
    private let download: String
    private let summaryInterval: Int64
    private let level: Level
    private let logLevel: Level
    private var nextSummary: Int64

    init(_ options: Aria2cOptions) throws(Failure) {
        let descriptor = options.flag("stderr") ? STDERR_FILENO : STDOUT_FILENO
        output = OutputFile(descriptor: descriptor)
        isQuiet = options.flag("quiet")
        isTerminal = isatty(descriptor) == 1
        isColored = options["enable-color"] != "false"
        isHumanReadable = options["human-readable"] != "false"
        isTruncated = options["truncate-console-readout"] != "false"
        showsReadout = options["show-console-readout"] != "false"
        download = options["download-result"] ?? "default"
        summaryInterval = options.number("summary-interval") ?? 60
        level = Level(options["console-log-level"]) ?? .notice
        logLevel = Level(options["log-level"]) ?? .debug
        nextSummary = milliseconds() + summaryInterval * 1000
        guard let path = options["log"], !path.isEmpty else { return }
        do throws(Failure) {
            let file = path == "-" ? STDOUT_FILENO : try ServiceLog.descriptor(of: path, permissions: 0o666)
            log = OutputFile(descriptor: file)
        } catch {
            // aria2's exit code.
            throw Failure(.unknown, "cannot open", at: path, because: error.why)
        }
    }

    mutating func note(_ level: Level, _ text: String, more: [String] = []) {
        let lines = ([text] + more).map { TerminalText.harmless($0) }.joined(separator: "\n")
        if level >= logLevel {
            log?.append("\(TimeText.local("%Y-%m-%d %H:%M:%S")).000000 [\(level.word)] [Pawl] \(lines)\n")
            log?.flush()
        }
        guard level >= self.level, !isQuiet else { return }
        let word = isColored ? "\u{1B}[\(level.color)m\(level.word)\u{1B}[0m" : level.word
        output.append("\n\(TimeText.local("%m/%d %H:%M:%S")) [\(word)] \(lines)\n")
        output.flush()
    }

    /// Text without a level, such as a list of files.
    mutating func say(_ text: String) {
        guard !isQuiet else { return }
        output.append(text)
        output.flush()
    }

    /// Once a second.
    mutating func show(_ rows: [Aria2cText.Progress]) {
        guard !isQuiet else { return }
        let columns = isTerminal ? max(0, TerminalState.size().columns - 1) : 79
        if isTerminal { output.append("\r" + String(repeating: " ", count: columns) + "\r") }
        let rows = rows.map { row in
            var row = row
            row.path = TerminalText.harmless(row.path)
            return row
        }
        if summaryInterval > 0, milliseconds() >= nextSummary, !rows.isEmpty {
            nextSummary = milliseconds() + summaryInterval * 1000
            let now = TimeText.local("%a %b %e %H:%M:%S %Y")
            output.append(Aria2cText.summary(rows, now: now, columns: columns, isHumanReadable: isHumanReadable))
        }
        if showsReadout {
            let text = Aria2cText.readout(rows, isHumanReadable: isHumanReadable)
            output.append(isTerminal ? (isTruncated ? String(text.prefix(columns)) : text) : text + "\n")
        }
        output.flush()
    }

    mutating func end(_ results: [Aria2cText.Result], isUnfinished: Bool) {
        guard !isQuiet, download != "hide" else { return }
        let clean = results.map { result in
            var result = result
            result.place = TerminalText.harmless(result.place)
            return result
        }
        output.append(Aria2cText.results(clean, isFull: download == "full", isColored: isColored && isTerminal))
        if isUnfinished { output.append(Aria2cText.advice) }
        output.flush()
    }
}
