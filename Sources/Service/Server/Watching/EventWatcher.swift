import Glibc
import Pawl
import PawlBase
import PawlSystem

/// Writes events to the log, and runs hooks and the webhook.
struct EventWatcher {
    private let manager: DownloadManager
    private let log: ServiceLog?
    private let hooks: Hooks
    private let outbox: Outbox?
    private let runner: HookRunner
    private let sender: WebhookSender?
    /// The running downloads, according to the events.
    private var running: Set<Download.ID>
    /// Ends that were found in the queue, by the second, and whose events may still come.
    private var found: [Download.ID: Int64] = [:]

    init(_ manager: DownloadManager, _ configuration: ServiceConfiguration, running: [Download.ID]) {
        self.manager = manager
        self.running = Set(running)
        log = configuration.log
        hooks = configuration.hooks
        runner = HookRunner(log: configuration.log)
        sender = configuration.hooks.webhook.map {
            WebhookSender($0, allowsPrivate: configuration.hooks.allowsPrivateWebhook, log: configuration.log)
        }
        let path = manager.root + "/.pawl/outbox"
        if hooks.isEmpty {
            // Events from now on are not to be delivered later.
            Outbox.remove(at: path)
            outbox = nil
        } else {
            outbox = Outbox(path: path, now: Int64(time(nil)), log: configuration.log)
        }
    }

    /// Delivers events left when the service ended, and ends that could not be recorded.
    mutating func begin() async {
        for entry in outbox?.undelivered ?? [] { deliver(entry) }
        await deliverMissed()
    }

    /// Ends the delivery, and waits until `deadline` for running hooks; undelivered events are delivered at the next start.
    func close(by deadline: ContinuousClock.Instant) async {
        sender?.close()
        await runner.close(within: max(.zero, deadline - .now))
    }

    mutating func hear(_ event: DownloadEvent) async {
        log?.note(event)
        guard !hooks.isEmpty else { return }
        if case .missed = event.kind { await deliverMissed() }
        if let occasion = Hooks.Occasion.met(by: event, &running) {
            await meet(occasion, event.id, try? await manager.snapshot(of: event.id))
        }
    }

    /// Downloads that ended after the last recorded end, according to the queue.
    private mutating func deliverMissed() async {
        guard let mark = outbox?.ended else { return }
        var missed: [DownloadSnapshot] = []
        let filter = DownloadFilter([.finished, .failed])
        let order = DownloadOrdering.ended(newestFirst: true)
        var page = (try? await manager.downloads(matching: filter, by: order)) ?? []
        while let last = page.last {
            let late = page.prefix { ($0.endedAt ?? 0) >= mark.at }
            missed += late.filter { !mark.knows($0.id.description, at: $0.endedAt ?? 0) }
            guard late.count == page.count else { break }
            page = (try? await manager.downloads(matching: filter, by: order, after: last.id)) ?? []
        }
        for snapshot in missed.reversed() {
            await meet(snapshot.state == .finished ? .complete : .error, snapshot.id, snapshot)
            found[snapshot.id] = snapshot.endedAt
        }
    }

    private mutating func meet(_ occasion: Hooks.Occasion, _ id: Download.ID, _ snapshot: DownloadSnapshot?) async {
        if occasion.isEnd, let second = found.removeValue(forKey: id), second == snapshot?.endedAt { return }
        let path = snapshot?.name.map {
            [manager.root, snapshot?.folder ?? "", $0].filter { !$0.isEmpty }.joined(separator: "/")
        }
        var members = [
            JSON.Member("event", .string(occasion.rawValue)), JSON.Member("id", .string(id.description)),
            JSON.Member("path", path.map { .string($0) } ?? .null),
        ]
        if let snapshot { members.append(JSON.Member("download", ServiceJSON.json(snapshot))) }
        let entry = outbox?.add(.object(members), pending: hooks.listeners(to: occasion))
        if let entry { deliver(entry) }
    }

    /// The number of files and the path for a hook: of a finished download only its own file, since what has the path may be
    /// another one by now.
    private static func file(
        _ path: String?, of id: String, isFinished: Bool, _ manager: DownloadManager, _ log: ServiceLog?
    ) async -> [String] {
        guard let path else { return ["0", ""] }
        guard isFinished, let number = Download.ID(id), case .missing? = try? await manager.location(of: number) else {
            return ["1", path]
        }
        log?.note(.notTheFile("cannot give to the hook", at: path))
        return ["0", ""]
    }

    private func deliver(_ entry: Outbox.Entry) {
        for listener in entry.pending {
            let done: @Sendable () -> Void = { [outbox] in outbox?.settle(entry.number, for: listener) }
            switch listener {
            case .program:
                let occasion = entry.message["event"]?.string.flatMap(Hooks.Occasion.init(rawValue:))
                guard let program = occasion.flatMap({ hooks.programs[$0] }), let id = entry.message["id"]?.string
                else {
                    // No hook is configured for it any more.
                    done()
                    continue
                }
                let path = entry.message["path"]?.string
                let isFinished = occasion == .complete
                runner.run([program, id], done: done) { [manager, log] in
                    SystemThread.wait { await Self.file(path, of: id, isFinished: isFinished, manager, log) }
                }
            case .webhook:
                guard let sender else {
                    done()
                    continue
                }
                sender.send(entry.message.utf8, done: done)
            }
        }
    }
}
