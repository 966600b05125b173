import Glibc
import PawlGet
import PawlTerminal

/// One progress bar on standard error, for work on files that are there.
struct ProgressDisplay: ~Copyable {
    private let isShown: Bool
    private let glyphs: ProgressRenderer.Glyphs
    private var errors = OutputFile(descriptor: STDERR_FILENO)
    private var painter = FramePainter()
    private var tick = 0
    private var nextShow: Int64 = 0
    private let start = milliseconds()

    init(isShown: Bool) {
        let terminal = TerminalState.standardError()
        self.isShown = isShown && terminal.takesCodes
        glyphs = terminal.takesUnicode ? .unicode : .plain
    }

    /// Redraws the bar, at most five times a second.
    mutating func show(_ name: String, _ done: Int64, of total: Int64, status: String) {
        let now = milliseconds()
        guard isShown, now >= nextShow, TerminalState.isInForeground() else { return }
        nextShow = now + 200
        let size = TerminalState.size()
        let seconds = Double(now - start) / 1000
        let speed = seconds > 0 ? Double(done) / seconds : 0
        let row = ProgressRow(
            name: TerminalText.harmless(name), written: done, total: total, speed: Int64(speed),
            timeLeft: speed > 0 ? Double(max(0, total - done)) / speed : nil, connections: 0,
            status: speed > 0 ? nil : status)
        let frame = ProgressRenderer(glyphs: glyphs, width: size.columns, height: size.rows).lines(
            [row], totals: nil, tick: tick)
        tick += 1
        errors.append(painter.paint(permanent: [], frame: frame, width: size.columns))
        errors.flush()
    }

    /// Removes the bar, so that other lines can be printed.
    mutating func clear() {
        guard tick > 0 else { return }
        errors.append(painter.paint(permanent: [], frame: [], width: TerminalState.size().columns))
        errors.flush()
        nextShow = 0
    }

    mutating func end() { clear() }
}
