import Glibc
import Pawl
import PawlBase
import PawlTerminal

/// Reports progress to a user or a program, in the form that the options and the terminal require.
package struct ProgressReporter: ~Copyable {
    private enum OutputMode {
        /// Progress bars, redrawn; permanent lines scroll up above them.
        case display
        /// One line per change, and for each tenth or minute of progress.
        case lines
        /// JSON on standard output.
        case json
        /// Errors, and waits of a minute or more.
        case quiet
    }

    private let mode: OutputMode
    private let cursor: CursorGuard
    private let glyphs: ProgressRenderer.Glyphs
    /// How many files are known, of the listed ones those to download.
    var files: Int
    private let isStream: Bool
    private let takesColor: Bool
    private var output = OutputFile(descriptor: STDOUT_FILENO)
    private var errors = OutputFile(descriptor: STDERR_FILENO)
    private var painter: FramePainter
    private var steps = ProgressSteps()
    /// Permanent lines to print at the next redraw.
    private var permanent: [String] = []
    private var tick = 0
    private var nextShow = milliseconds()
    /// Whether Ctrl-Z stopped the process from here, so that SIGCONT needs no further handling.
    private var wasStoppedHere = false

    init(_ options: GetOptions, terminal: TerminalState, cursor: CursorGuard, files: Int) {
        self.cursor = cursor
        self.files = files
        isStream = options.stream != nil
        takesColor = terminal.takesColor
        glyphs = terminal.takesUnicode ? .unicode : .plain
        painter = FramePainter(terminal)
        // Progress bars and the file's bytes cannot share a terminal.
        let isShared = options.stream == .standardOutput && isatty(STDOUT_FILENO) == 1
        mode =
            if options.isJSON { .json } else if options.isQuiet || isShared { .quiet } else {
                switch options.progress {
                case .plain: .lines
                // `none` is quiet.
                case .bar, .json, .some(.none), nil: terminal.takesCodes ? .display : .lines
                }
            }
    }

    /// Whether progress bars are drawn, so that terminal signals matter.
    var hasDisplay: Bool { mode == .display }

    /// Milliseconds between two redraws, between progress events of JSON, or between looks for what is worth a line.
    private var interval: Int64 {
        switch mode {
        case .display: 200
        case .json, .lines, .quiet: 1000
        }
    }

    /// How long it is until the next redraw.
    func untilNext() -> Interval { .milliseconds(max(0, nextShow - milliseconds())) }

    mutating func notify(_ report: Report) {
        // Of a folder there may be thousands.
        if case .unchanged = report.kind, mode != .json { return }
        let isFailure = if case .failed = report.kind { true } else { false }
        switch mode {
        case .display:
            if isWorthKeeping(report) {
                let columns = TerminalState.size().columns
                let line = PlainText.line(report, width: columns)
                permanent += report.isSentence ? TerminalText.folded(line, to: columns - 1) : [line]
            }
        case .lines: errors.appendLine(PlainText.line(report))
        case .json:
            output.appendLine(JSONLines.line(report))
            if isFailure { errors.appendLine(PlainText.line(report)) }
        case .quiet:
            let isLongWait =
                if case .retry(let error, let delay) = report.kind {
                    error.retryAfter != nil && delay >= Self.longestSilence
                } else { false }
            if isFailure || isLongWait { errors.appendLine(PlainText.line(report)) }
        }
    }

    /// Seconds that are waited at a server's request without a word.
    private static let longestSilence = 60.0

    /// Prints what was sent or received, in every mode.
    mutating func show(_ trace: TransferTrace) {
        for line in TraceLines.lines(trace) {
            if mode == .display { permanent.append(line) } else { errors.appendLine(line) }
        }
    }

    /// Writes the reported lines, and shows the progress of the downloads when it is due.
    ///
    /// `left` is the number of files not yet added to the downloader; `showsRunning`: how many run is not what the user
    /// has given.
    mutating func show(
        _ ledger: borrowing RunLedger, left: Int, downloads: [UInt64: Download], showsRunning: Bool
    ) {
        let now = milliseconds()
        if now >= nextShow {
            nextShow = now + interval
            let running = running(ledger, downloads)
            if mode == .json { for row in running { output.appendLine(JSONLines.progress(row)) } }
            if mode == .display { draw(ledger, running, left: left, showsRunning: showsRunning) }
            for snapshot in running where mode == .lines || mode == .quiet {
                let line =
                    mode == .lines
                    ? steps.line(of: snapshot, at: now) : steps.wait(of: snapshot, atLeast: Self.longestSilence)
                if let line { errors.appendLine(line) }
            }
        }
        output.flush()
        errors.flush()
    }

    /// The terminal was resized.
    mutating func redrawSoon() { nextShow = milliseconds() }

    /// Restores the terminal and stops the process on Ctrl-Z; returns when it is continued.
    mutating func stop() {
        leaveDisplay(isEchoed: true)
        errors.flush()
        wasStoppedHere = true
        raise(SIGSTOP)
        redrawSoon()
    }

    /// The process was continued after a stop, possibly by a SIGSTOP from outside.
    package mutating func resume() {
        if !wasStoppedHere { leaveDisplay() }
        wasStoppedHere = false
        redrawSoon()
    }

    /// Leaves the drawn frame in place; the next one goes below.
    private mutating func leaveDisplay(isEchoed: Bool = false) {
        errors.append(painter.leave(isEchoed: isEchoed))
        errors.append(cursor.showingCode())
    }

    /// Prints the summary.
    mutating func end(_ ledger: borrowing RunLedger, unfinished: Int, seconds: Double, jobs: Int, exitCode: UInt8) {
        switch mode {
        case .display:
            let size = TerminalState.size()
            errors.append(painter.paint(permanent: permanent, frame: [], width: size.columns))
            errors.append(cursor.showingCode())
            fallthrough
        case .lines:
            if files > 1 {
                var line = StyledLine()
                let text = PlainText.summary(ledger, unfinished: unfinished, seconds: seconds)
                line.append(text, marking: ledger.failed > 0 ? "\(ledger.failed) failed" : nil)
                errors.appendLine(line.escaped(inColor: mode == .display && takesColor))
            }
        case .json:
            output.appendLine(
                JSONLines.summary(ledger, unfinished: unfinished, seconds: seconds, jobs: jobs, exitCode: exitCode))
        case .quiet: break
        }
        if unfinished > 0 {
            errors.appendLine(
                isStream
                    ? "pawl: interrupted: the output is incomplete and cannot be resumed"
                    : "pawl: interrupted: all received data is kept; run the same command again to resume")
        }
        output.flush()
        errors.flush()
    }

    /// The width to which a terminal may shrink without old rows staying above the display, if there are enough rows for
    /// its lines to wrap.
    private static let narrowest = 60

    /// A progress bar already shows that a download has started.
    private func isWorthKeeping(_ report: Report) -> Bool {
        switch report.kind {
        case .started(_, let resumedAt): resumedAt > 0
        case .notice, .paused, .finished, .failed, .listed, .removed: true
        // The row shows it, for as long as it lasts.
        case .retry, .waitingForNetwork, .waitingForDisk, .verifying, .unchanged: false
        }
    }

    /// The downloads that hold a slot, in the order in which they were added.
    private func running(_ ledger: borrowing RunLedger, _ downloads: [UInt64: Download]) -> [DownloadSnapshot] {
        ledger.active.sorted { $0.key < $1.key }.compactMap { id, _ in
            guard let snapshot = downloads[id]?.snapshot, snapshot.state != .waiting else { return nil }
            return snapshot
        }
    }

    private mutating func draw(
        _ ledger: borrowing RunLedger, _ running: [DownloadSnapshot], left: Int, showsRunning: Bool
    ) {
        // A background job of a shell must not draw over other output.
        guard TerminalState.isInForeground() else { return }
        let size = TerminalState.size()
        let renderer = ProgressRenderer(glyphs: glyphs, width: size.columns, height: size.rows)
        let waiting = left + ledger.active.count - running.count
        var totals = files > 1 ? ProgressTotals(ledger, running, files: files, waiting: waiting) : nil
        if showsRunning { totals?.running = running.count }
        let rows = running.map { ProgressRow($0) }
        let frame = renderer.lines(rows, totals: totals, tick: tick)
        tick += 1
        errors.append(cursor.hidingCode())
        errors.append(
            painter.paint(
                permanent: permanent, frame: frame, width: size.columns,
                screen: files > 1 ? FramePainter.Screen(rows: size.rows, narrowest: ProgressReporter.narrowest) : nil))
        permanent.removeAll()
    }
}

extension ProgressTotals {
    /// The sum over all files; its size is unknown while the size of any file is, and then its time is an estimate.
    ///
    /// `waiting`: how many files have not begun.
    fileprivate init(_ ledger: borrowing RunLedger, _ running: [DownloadSnapshot], files: Int, waiting: Int) {
        let written = running.reduce(ledger.finishedBytes) { $0.addingClamped($1.written) }
        let known = running.compactMap(\.total).reduce(ledger.finishedBytes) { $0.addingClamped($1) }
        let knownFiles = ledger.finished + running.count { $0.total != nil }
        let unknownFiles = waiting + running.count { $0.total == nil }
        let speed = running.reduce(0) { $0 + $1.speed }
        let smoothed = running.reduce(0) { $0 + $1.smoothedSpeed }
        var left: Double?
        if knownFiles > 0, smoothed > 0 {
            let rest = Double(known) * (1 + Double(unknownFiles) / Double(knownFiles)) - Double(written)
            left = max(0, rest) / Double(smoothed)
        }
        self.init(
            files: files, finished: ledger.finished, failed: ledger.failed, written: written,
            total: unknownFiles == 0 ? known : nil, speed: speed, timeLeft: left)
        isTimeEstimated = unknownFiles > 0
    }
}

extension Report {
    /// Whether its line may be long; what a terminal has wrapped of others it joins when it becomes wider.
    fileprivate var isSentence: Bool {
        switch kind {
        case .failed, .notice, .retry: true
        case .started, .waitingForNetwork, .waitingForDisk, .verifying, .paused, .finished, .unchanged, .listed,
            .removed:
            false
        }
    }
}
