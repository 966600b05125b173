import Pawl
import PawlCore

/// Notes what happens in the log, and does what is to be done on each occasion.
struct EventWatcher {
    private let manager: DownloadManager
    private let log: ServiceLog?
    private let hooks: Hooks
    private let runner: HookRunner
    private let sender: WebhookSender?
    /// What runs, as far as events told.
    private var running: Set<Download.ID>

    init(_ manager: DownloadManager, _ configuration: ServiceConfiguration, running: [Download.ID]) {
        self.manager = manager
        self.running = Set(running)
        log = configuration.log
        hooks = configuration.hooks
        runner = HookRunner(log: configuration.log)
        sender = configuration.hooks.webhook.map {
            WebhookSender($0, log: configuration.log, keptAt: manager.root + "/.pawl/letters")
        }
    }

    /// Nothing happens any more.
    func close() { sender?.close() }

    mutating func hear(_ event: DownloadEvent) async {
        log?.note(event)
        guard !hooks.isEmpty else { return }
        for word in EventLines.words(for: event, &running) {
            guard let occasion = Hooks.Occasion(word: word) else { continue }
            await meet(occasion, event.id)
        }
    }

    private func meet(_ occasion: Hooks.Occasion, _ id: Download.ID) async {
        let snapshot = try? await manager.snapshot(of: id)
        let name = snapshot?.name
        let path = name.map {
            [manager.root, snapshot?.folder ?? "", $0].filter { !$0.isEmpty }.joined(separator: "/")
        }
        if let program = hooks.programs[occasion] {
            runner.run([program, id.description, path == nil ? "0" : "1", path ?? ""])
        }
        guard let sender else { return }
        var members = [
            JSON.Member("event", .string(occasion.rawValue)), JSON.Member("id", .string(id.description)),
            JSON.Member("path", path.map { .string($0) } ?? .null),
        ]
        if let snapshot { members.append(JSON.Member("download", ServiceEvent.json(snapshot))) }
        sender.send(JSON.object(members).utf8)
    }
}
