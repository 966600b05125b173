import Glibc
import PawlBase
import PawlGet
import PawlSystem
import PawlTerminal

/// `pawl list --watch`: running and waiting downloads, redrawn twice a second, with events as lines above.
struct WatchSession: ~Copyable {
    private let options: VerbOptions
    private let client: ServiceClient
    private let hasDisplay: Bool
    private let glyphs: ProgressRenderer.Glyphs
    private let signals = Mailbox<Int32>()
    private let poller = EpollPoller(clock: SystemClock())
    private let cursor = CursorGuard()
    private var stream: ServiceStream
    private var painter: FramePainter
    private var names: [String: String] = [:]
    private var permanent: [String] = []
    private var tick = 0
    private var output = OutputFile(descriptor: STDOUT_FILENO)
    private var errors = OutputFile(descriptor: STDERR_FILENO)

    private static let interval: Int64 = 500

    static func run(_ options: VerbOptions) throws(Failure) -> Int32 {
        let client = try options.client()
        let session = WatchSession(options, client, try client.events())
        return try session.run()
    }

    private init(
        _ options: VerbOptions, _ client: ServiceClient, _ stream: consuming ServiceStream
    ) {
        self.options = options
        self.client = client
        self.stream = stream
        let terminal = TerminalState.standardError()
        hasDisplay = terminal.takesCodes && !options.isJSON
        glyphs = terminal.takesUnicode ? .unicode : .plain
        painter = FramePainter(terminal)
        SignalWatch.start(hasDisplay: hasDisplay, cursor: cursor) { [signals] in signals.post($0) }
    }

    /// Returns 0 on Ctrl-C, and 7 when the service stops.
    private consuming func run() throws(Failure) -> Int32 {
        var nextShow = milliseconds()
        let source = poller.makeSource()
        guard poller.watch(stream.descriptor, for: .reading, key: 0, of: source) else {
            throw Failure(.inputOutput, "cannot start", at: "pawl", because: SystemError.last.text)
        }
        // Only its end: the reader of a pipe has closed it. A file has none.
        _ = poller.watch(STDOUT_FILENO, for: .changes, key: 1, of: source)
        signals.attach(wake: poller.wake)
        if !options.isJSON { try look(andDraw: hasDisplay) }
        while true {
            var (hasEvents, isUnread) = (false, false)
            let deadline = hasDisplay ? Instant(nanoseconds: nextShow * 1_000_000) : nil
            signals.wait { poller.wait(until: deadline) }
            poller.takeEvents(of: source) { event in
                if event.key == 0 { hasEvents = true } else { isUnread = WholeWrite.isUnread(STDOUT_FILENO) }
            }
            for number in signals.take() {
                if [SIGINT, SIGTERM, SIGHUP].contains(number) { return leave(0) }
                if number == SIGTSTP { stop() }
                nextShow = 0
            }
            if isUnread { return leave(0) }
            if hasEvents {
                guard let events = try stream.arrived() else { return leave(7) }
                for event in events { hear(event) }
            }
            if hasDisplay, milliseconds() >= nextShow {
                nextShow = milliseconds() + WatchSession.interval
                do throws(Failure) { try look(andDraw: true) } catch {
                    _ = leave(7)
                    throw error
                }
            }
            output.flush()
            errors.flush()
        }
    }

    private mutating func hear(_ event: JSON) {
        if options.isJSON { return output.appendLine(event.text) }
        guard let report = Report(event: event, names: &names) else { return }
        if hasDisplay {
            if case .started = report.kind { return }
            permanent.append(PlainText.line(report))
        } else {
            output.appendLine(PlainText.line(report))
        }
    }

    /// Fetches the current state.
    private mutating func look(andDraw draws: Bool) throws(Failure) {
        let size = TerminalState.size()
        let results = try client.call([
            ("pawl.running", []), ("pawl.list", [options.filter(limit: max(size.rows, 24))]), ("pawl.status", []),
        ])
        guard results.count == 3 else { return }
        let listed = (results[1].array ?? []).filter(options.includes).compactMap(RemoteDownload.init)
        var running = (results[0].array ?? []).filter(options.includes).compactMap(RemoteDownload.init)
        if let group = options.group { running.removeAll { $0.group != group } }
        // Ended downloads are shown only if a state was requested.
        let rest = listed.filter { download in
            (!download.hasEnded || !options.states.isEmpty) && !running.contains { $0.id == download.id }
        }
        for download in running + rest { names[download.id] = download.title }
        guard draws, TerminalState.isInForeground() else { return }
        draw(running + rest, more: results[2], size)
    }

    private mutating func draw(_ shown: [RemoteDownload], more status: JSON, _ size: (columns: Int, rows: Int)) {
        var renderer = ProgressRenderer(
            glyphs: glyphs, width: size.columns, height: size.rows - 1, narrowest: ProgressReporter.narrowest)
        let digits = ShortIDs.digits(shown.map(\.id))
        renderer.prefix = digits + 1
        var frame = renderer.lines(shown.map { ProgressRow($0, digits: digits) }, totals: nil, tick: tick)
        var last = StyledLine()
        let figures = ["paused", "failed"].map { "\(status[$0]?.integer ?? 0) \($0)" }
        let text = ([status.activity] + figures + [NumberFormat.speed(status["speed"]?.integer ?? 0)]).joined(
            separator: ", ")
        last.append(TerminalText.shortened(text, to: max(1, size.columns - 1), ellipsis: glyphs.ellipsis), .faint)
        frame.append(last)
        tick += 1
        errors.append(cursor.hidingCode())
        errors.append(
            painter.paint(
                permanent: permanent, frame: frame, width: size.columns,
                screen: FramePainter.Screen(rows: size.rows, narrowest: ProgressReporter.narrowest)))
        permanent.removeAll()
        errors.flush()
    }

    private mutating func stop() {
        errors.append(painter.leave(isEchoed: true))
        errors.append(cursor.showingCode())
        errors.flush()
        raise(SIGSTOP)
    }

    private mutating func leave(_ code: Int32) -> Int32 {
        errors.append(painter.leave(isEchoed: true))
        errors.append(cursor.showingCode())
        if code != 0 { errors.appendLine("pawl: the service has stopped; 'pawl serve' resumes its downloads") }
        output.flush()
        errors.flush()
        return code
    }
}
