import Glibc
import Pawl
import PawlCore

/// Tells a person or a program what happens, in the manner that the options and the terminal call for.
struct ProgressReporter: ~Copyable {
    private enum OutputMode {
        /// Bars that are redrawn, lines that stay scroll up.
        case display
        /// One line a change.
        case lines
        /// JSON on standard output.
        case json
        /// Errors only.
        case quiet
    }

    private let mode: OutputMode
    private let cursor: CursorGuard
    private let glyphs: ProgressRenderer.Glyphs
    private let files: Int
    private var output = OutputFile(descriptor: STDOUT_FILENO)
    private var errors = OutputFile(descriptor: STDERR_FILENO)
    private var painter = FramePainter()
    /// Lines that wait for the next redraw.
    private var permanent: [String] = []
    private var tick = 0
    private var nextShow = milliseconds()
    /// Ctrl-Z stopped the process from here, so that its going on brings no news.
    private var wasStoppedHere = false

    init(_ options: GetOptions, terminal: TerminalState, cursor: CursorGuard, files: Int) {
        self.cursor = cursor
        self.files = files
        glyphs = terminal.takesUnicode ? .unicode : .plain
        // Bars and the file's bytes on one terminal would spoil each other.
        let isShared = options.stream == .standardOutput && isatty(STDOUT_FILENO) == 1
        mode =
            options.isJSON
            ? .json : options.isQuiet || isShared ? .quiet : terminal.takesCodes ? .display : .lines
    }

    /// Whether bars are drawn, so that changes of the terminal matter.
    var hasDisplay: Bool { mode == .display }

    /// Time between two shows: a redraw, or JSON's progress.
    private var interval: Int64? {
        switch mode {
        case .display: 200
        case .json: 1000
        case .lines, .quiet: nil
        }
    }

    /// How long nothing need be shown, in milliseconds; `nil` without end.
    func untilNext() -> Int32? {
        interval.map { _ in Int32(clamping: max(0, nextShow - milliseconds())) }
    }

    mutating func tell(_ report: Report) {
        let isFailure = if case .failed = report.kind { true } else { false }
        switch mode {
        case .display:
            if isWorthKeeping(report) { permanent.append(PlainText.line(report)) }
        case .lines:
            errors.appendLine(PlainText.line(report))
        case .json:
            output.appendLine(JSONLines.line(report))
            if isFailure { errors.appendLine(PlainText.line(report)) }
        case .quiet:
            if isFailure { errors.appendLine(PlainText.line(report)) }
        }
    }

    /// Writes what was told, and shows where the downloads stand when it is time.
    ///
    /// The downloader does not know of `left` more files yet.
    mutating func show(_ ledger: borrowing RunLedger, left: Int, downloads: [UInt64: Download]) {
        let now = milliseconds()
        if let interval, now >= nextShow {
            nextShow = now + interval
            let running = running(ledger, downloads)
            if mode == .json { for row in running { output.appendLine(JSONLines.progress(row.snapshot)) } }
            if mode == .display { draw(ledger, running, left: left) }
        }
        output.flush()
        errors.flush()
    }

    /// The terminal was resized.
    mutating func redrawSoon() { nextShow = milliseconds() }

    /// Leaves the terminal in good order and stops the process, as Ctrl-Z asks; returns when it goes on.
    mutating func stop() {
        leaveDisplay()
        errors.flush()
        wasStoppedHere = true
        raise(SIGSTOP)
        redrawSoon()
    }

    /// The process goes on after it was stopped, perhaps from outside and without warning.
    mutating func goOn() {
        if !wasStoppedHere { leaveDisplay() }
        wasStoppedHere = false
        redrawSoon()
    }

    /// Lets what is drawn stand where it is; the next frame goes below.
    private mutating func leaveDisplay() {
        errors.append(painter.leave())
        errors.append(cursor.showingCode())
    }

    /// The last words.
    mutating func end(_ ledger: borrowing RunLedger, unfinished: Int, seconds: Double, exitCode: UInt8) {
        switch mode {
        case .display:
            errors.append(painter.paint(permanent: permanent, frame: [], width: TerminalState.size().columns))
            errors.append(cursor.showingCode())
            fallthrough
        case .lines:
            if files > 1 {
                errors.appendLine(PlainText.summary(ledger, unfinished: unfinished, seconds: seconds))
            }
        case .json:
            output.appendLine(
                JSONLines.summary(ledger, unfinished: unfinished, seconds: seconds, exitCode: exitCode)
            )
        case .quiet:
            break
        }
        if unfinished > 0 {
            errors.appendLine(
                "pawl: interrupted: everything received is kept; run the same command again to continue"
            )
        }
        output.flush()
        errors.flush()
    }

    /// With bars, a start is seen and need not be said.
    private func isWorthKeeping(_ report: Report) -> Bool {
        switch report.kind {
        case .started(_, let resumedAt): resumedAt > 0
        case .notice, .retry, .waitingForNetwork, .paused, .finished, .failed: true
        case .verifying: false
        }
    }

    private struct Running {
        var snapshot: DownloadSnapshot
        var isRetrying: Bool
    }

    /// Those that are past waiting, in the order in which they were added.
    private func running(_ ledger: borrowing RunLedger, _ downloads: [UInt64: Download]) -> [Running] {
        ledger.active.sorted { $0.key < $1.key }.compactMap { id, entry in
            guard let snapshot = downloads[id]?.snapshot, snapshot.state != .waiting else { return nil }
            return Running(snapshot: snapshot, isRetrying: entry.isRetrying)
        }
    }

    private mutating func draw(_ ledger: borrowing RunLedger, _ running: [Running], left: Int) {
        // A shell's background job must not scribble over what its user is doing.
        guard TerminalState.isInForeground() else { return }
        let size = TerminalState.size()
        let renderer = ProgressRenderer(glyphs: glyphs, width: size.columns, height: size.rows)
        let waiting = left + ledger.active.count - running.count
        let totals =
            files > 1
            ? ProgressTotals(ledger, running.map(\.snapshot), files: files, hasUnknown: waiting > 0) : nil
        let rows = running.map { ProgressRow($0.snapshot, isRetrying: $0.isRetrying) }
        let frame = renderer.lines(rows, totals: totals, tick: tick)
        tick += 1
        errors.append(cursor.hidingCode())
        errors.append(painter.paint(permanent: permanent, frame: frame, width: size.columns))
        permanent.removeAll()
    }
}

extension ProgressTotals {
    /// The sum of all; its size is not known while there are files of which nothing is known yet.
    fileprivate init(
        _ ledger: borrowing RunLedger,
        _ running: [DownloadSnapshot],
        files: Int,
        hasUnknown: Bool
    ) {
        let written = running.reduce(ledger.finishedBytes) { $0.addingClamped($1.written) }
        var total: Int64? = hasUnknown ? nil : ledger.finishedBytes
        for snapshot in running {
            total = total.flatMap { sum in snapshot.total.map { sum.addingClamped($0) } }
        }
        let smoothed = running.reduce(0) { $0 + $1.smoothedSpeed }
        let timeLeft = total.flatMap { smoothed > 0 ? Double(max(0, $0 - written)) / Double(smoothed) : nil }
        self.init(
            files: files,
            finished: ledger.finished,
            failed: ledger.failed,
            written: written,
            total: total,
            speed: running.reduce(0) { $0 + $1.speed },
            timeLeft: timeLeft
        )
    }
}
