import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlSystem
import PawlTerminal

/// `pawl list --watch`: the queue on the whole screen, redrawn twice a second, with keys; without a terminal a line for each
/// change.
struct WatchSession: ~Copyable {
    private let options: VerbOptions
    private let client: ServiceClient
    private let hasDisplay: Bool
    private let glyphs: ProgressRenderer.Glyphs
    private let takesColor: Bool
    private let signals = Mailbox<Int32>()
    private let poller = EpollPoller(clock: SystemClock())
    private let source: PollSource
    private let cursor = CursorGuard(fullScreen: true)
    private var stream: ServiceStream
    private var screen = WatchScreen()
    private var keys = KeyReader()
    /// Whether the terminal sends keys one by one.
    private var readsKeys = false
    private var names: [String: String] = [:]
    /// What ended meanwhile, for the screen that was there before.
    private var ended: [String] = []
    private var tick = 0
    /// The state of the queue that has been asked for, what was asked, and since when.
    private var look: ServiceRequest?
    private var query: WatchQuery?
    private var lookedAt: Int64 = 0
    /// Whether the state of the queue is known, and the events before.
    private var isKnown = false
    private var early: [JSON] = []
    /// What a key has asked for, and the keys behind it.
    private var order: ServiceRequest?
    private var orders: [WatchScreen.Call] = []
    private var output = OutputFile(descriptor: STDOUT_FILENO)
    private var errors = OutputFile(descriptor: STDERR_FILENO)

    private static let interval: Int64 = 500
    /// The interval without a screen, where the queue is asked only to learn whether the service responds.
    private static let slowInterval: Int64 = 10_000
    /// After how many milliseconds without a reply the service does not respond.
    private static let patience: Int64 = 3000
    private static let mostEnded = 1000
    private static let streamKey: UInt64 = 0
    private static let readerKey: UInt64 = 1
    private static let keyboardKey: UInt64 = 2
    private static let lookKey: UInt64 = 3
    private static let orderKey: UInt64 = 4

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
        source = poller.makeSource()
        let terminal = TerminalState.standardError()
        hasDisplay = terminal.takesCodes && !options.isJSON
        takesColor = terminal.takesColor
        glyphs = terminal.takesUnicode ? .unicode : .plain
        screen.takesKeys = isatty(STDIN_FILENO) == 1
        SignalWatch.start(hasDisplay: hasDisplay, cursor: cursor) { [signals] in signals.post($0) }
    }

    /// Returns 0 on q and Ctrl-C, and 7 when the service stops.
    private consuming func run() throws(Failure) -> Int32 {
        guard poller.watch(stream.descriptor, for: .reading, key: Self.streamKey, of: source) else {
            throw Failure(.inputOutput, "cannot start", at: "pawl", because: SystemError.last.text)
        }
        // Only its end: the reader of a pipe has closed it. A file has none.
        _ = poller.watch(STDOUT_FILENO, for: .changes, key: Self.readerKey, of: source)
        signals.attach(wake: poller.wake)
        var nextShow = milliseconds()
        while true {
            var ready: Set<UInt64> = []
            signals.wait { poller.wait(until: Instant(nanoseconds: nextShow * 1_000_000)) }
            poller.takeEvents(of: source) { ready.insert($0.key) }
            for number in signals.take() {
                if [SIGINT, SIGTERM, SIGHUP].contains(number) { return leave(0) }
                if number == SIGTSTP { stop() }
                // Something else may have changed the terminal's mode since.
                if number == SIGCONT { leaveScreen() }
                nextShow = 0
            }
            if ready.contains(Self.readerKey), WholeWrite.isUnread(STDOUT_FILENO) { return leave(0) }
            if ready.contains(Self.keyboardKey) {
                guard let isPressed = readKeys() else { return leave(0) }
                // A selection may need more rows.
                if isPressed { nextShow = 0 }
            }
            if ready.contains(Self.streamKey) {
                guard let events = try stream.arrived() else { return leave(7) }
                for event in events { hear(event) }
            }
            do throws(Failure) {
                // In this order: after an order the queue is asked anew, and that is not what is ready.
                if ready.contains(Self.lookKey) { try takeState() }
                if ready.contains(Self.orderKey) { try takeReply() }
                if milliseconds() >= nextShow {
                    nextShow = milliseconds() + (hasDisplay ? Self.interval : Self.slowInterval)
                    try ask()
                }
            } catch {
                _ = leave(7)
                throw error
            }
            output.flush()
            errors.flush()
        }
    }

    private mutating func hear(_ event: JSON) {
        if options.isJSON { return output.appendLine(event.text) }
        // Their names come with the state of the queue.
        guard isKnown else { return early.append(event) }
        guard let report = Report(event: event, names: &names) else { return }
        guard hasDisplay else { return output.appendLine(PlainText.line(report)) }
        switch report.kind {
        case .finished(let file):
            let name = report.name ?? ProgressRow.lastComponent(of: file.path)
            screen.say(TerminalText.harmless("\(name): finished, \(NumberFormat.size(file.length))"))
            keep(PlainText.line(report, width: TerminalState.size().columns))
        case .failed:
            screen.say(PlainText.line(report), failed: true)
            keep(PlainText.line(report, width: TerminalState.size().columns))
        case .notice, .removed: screen.say(PlainText.line(report))
        case .started, .retry, .waitingForNetwork, .waitingForDisk, .verifying, .paused, .unchanged, .listed: break
        }
    }

    private mutating func keep(_ line: String) {
        ended.append(line)
        if ended.count > Self.mostEnded { ended.removeFirst() }
    }

    // MARK: the service

    /// Asks for the state of the queue, unless that has been done and there is no reply yet.
    private mutating func ask() throws(Failure) {
        guard look == nil else { return noteSilence() }
        let query = WatchQuery(options, limit: screen.wanted(height: TerminalState.size().rows))
        lookedAt = milliseconds()
        do throws(Failure) {
            let request = try client.request(query.calls, .none)
            guard poller.watch(request.descriptor, for: .reading, key: Self.lookKey, of: source) else { return }
            look = consume request
            self.query = query
        } catch { guard error.code == .timeout else { throw error } }
    }

    /// Takes in what has arrived of the state of the queue.
    private mutating func takeState() throws(Failure) {
        guard var request = look.take(), let query else { return }
        guard let reply = try request.receive() else {
            look = consume request
            return
        }
        poller.unwatch(request.descriptor)
        if screen.trouble != nil, !hasDisplay { printNotice("the service responds again") }
        screen.trouble = nil
        guard let found = query.outcome(ServiceRequest.results(of: reply)) else { return }
        for download in found.rows { names[download.id] = download.title }
        screen.take(found.rows, more: found.more, statuses: found.statuses)
        isKnown = true
        for event in early { hear(event) }
        early = []
        draw()
    }

    private mutating func noteSilence() {
        let silence = milliseconds() - lookedAt
        guard silence >= Self.patience else { return }
        let isNew = screen.trouble == nil
        screen.trouble = "the service has not responded for \(StateText.wait(Double(silence / 1000)))"
        if isNew, !hasDisplay { printNotice("the service does not respond") }
        draw()
    }

    private mutating func send() {
        guard order == nil, let call = orders.first else { return }
        do throws(Failure) {
            let request = try client.request(call.method, call.parameters, .none)
            guard poller.watch(request.descriptor, for: .reading, key: Self.orderKey, of: source) else { return }
            order = consume request
        } catch {
            orders.removeFirst()
            complain(error)
        }
    }

    private mutating func takeReply() throws(Failure) {
        guard var request = order.take(), let call = orders.first else { return }
        do throws(Failure) {
            guard let reply = try request.receive() else {
                order = consume request
                return
            }
            let result = try client.result(of: reply, to: call.verb, ShortIDs.text(call.id))
            let isChanged = result.members?.contains { $0.value.bool == true } == true
            screen.say(isChanged ? "\(call.done) \(call.title)" : "nothing to \(call.verb): \(call.title)")
        } catch { complain(error) }
        poller.unwatch(request.descriptor)
        orders.removeFirst()
        send()
        // A reply that is under way knows nothing of it.
        if let old = look.take() { poller.unwatch(old.descriptor) }
        try ask()
    }

    private mutating func complain(_ failure: Failure) {
        screen.say(TerminalText.harmless("pawl: \(failure.commandLineSentence)"), failed: true)
    }

    // MARK: the screen

    private mutating func draw() {
        // A background job of a shell must not draw over other output.
        guard hasDisplay, isKnown || screen.trouble != nil, TerminalState.isInForeground() else { return }
        let size = TerminalState.size()
        if !readsKeys, screen.takesKeys {
            // Ctrl-C and Ctrl-Z stay signals.
            readsKeys =
                TerminalMode.change(STDIN_FILENO) { $0.c_lflag &= ~tcflag_t(ECHO | ICANON) }
                && poller.watch(STDIN_FILENO, for: .reading, key: Self.keyboardKey, of: source)
        }
        errors.append(cursor.hidingCode())
        let lines = screen.lines(width: size.columns, height: size.rows, glyphs: glyphs, tick: tick)
        errors.append(FullScreen.drawing(lines, inColor: takesColor))
        tick += 1
        errors.flush()
    }

    // MARK: keys

    /// Returns whether anything was pressed; `nil` to end.
    private mutating func readKeys() -> Bool? {
        // What is typed for another job is not for this one.
        guard readsKeys, TerminalState.isInForeground() else { return false }
        var bytes = [UInt8](repeating: 0, count: 1024)
        guard let count = try? BoundedRead.some(STDIN_FILENO, into: &bytes), count > 0 else { return nil }
        for action in screen.press(keys.keys(bytes.prefix(count))) {
            switch action {
            case .none: break
            case .quit: return nil
            case .call(let call): orders.append(call)
            }
        }
        send()
        draw()
        return true
    }

    // MARK: leaving

    /// Gives the terminal back.
    private mutating func leaveScreen() {
        if readsKeys {
            poller.unwatch(STDIN_FILENO)
            TerminalMode.restore()
            readsKeys = false
        }
        errors.append(cursor.showingCode())
        errors.flush()
    }

    private mutating func stop() {
        leaveScreen()
        raise(SIGSTOP)
    }

    private mutating func leave(_ code: Int32) -> Int32 {
        leaveScreen()
        for line in ended.flatMap({ TerminalState.folded($0, for: STDERR_FILENO) }) { errors.appendLine(line) }
        if code != 0 { errors.appendLine("pawl: the service has stopped; 'pawl serve' resumes its downloads") }
        output.flush()
        errors.flush()
        return code
    }
}
