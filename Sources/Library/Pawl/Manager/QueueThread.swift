#if Queue
package import PawlBase
package import PawlEngine
package import PawlQueue
import Synchronization

/// A queue on a thread of its own: what ``DownloadManager`` does without `async`, also in simulated worlds.
package final class QueueThread: Sendable {
    let thread = WorkMailbox<QueueKeeper>()
    let broadcaster: EventBroadcaster
    let settingsCache: TransferSettingsCache
    let commonRate: CommonRate
    private let owner: ManagerOwner

    /// Opens a queue on a thread of `ports`, which calls `onOpen` once it is open, or cannot be opened.
    package init(
        root: String, _ configuration: DownloadManager.Configuration, delegate: (any DownloadDelegate)? = nil,
        ports: (_ notice: @escaping @Sendable (String) -> Void) -> Ports,
        store: @escaping @Sendable (_ notice: @escaping @Sendable (String) -> Void) -> Result<any QueueStore, Failure>,
        onOpen: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        let opening = OpeningNotices()
        let notice: @Sendable (String) -> Void = { [weak thread] text in
            if opening.keep(text) { return }
            thread?.post { $0.notice(LocalizableMessage(untranslated: text)) }
        }
        let ports = ports(notice).remembering(in: configuration.stateFolder)
        let dispatcher = DelegateDispatcher(delegate, ports: ports)
        broadcaster = EventBroadcaster(
            bufferSize: configuration.eventBuffer, dispatcher: dispatcher, observers: configuration.observers)
        owner = ManagerOwner(thread)
        settingsCache = TransferSettingsCache(deniesPrivateAddresses: configuration.deniesPrivateAddresses)
        commonRate = configuration.commonRate ?? CommonRate()
        let body: @Sendable () -> Void = { [thread, owner, broadcaster, commonRate] in
            do throws(Failure) {
                let keeper = QueueKeeper(
                    root: root, configuration: configuration, ports: ports, store: try store(notice).get(),
                    commonRate: commonRate, thread: thread, broadcaster: broadcaster)
                keeper.owner = owner
                try keeper.load(configuration)
                broadcaster.broadcast(opening.end().map { .notice(LocalizableMessage(untranslated: $0)) })
                keeper.completions.append { failure in onOpen(failure.map { .failure($0) } ?? .success(())) }
                keeper.settle()
                thread.run(keeper, at: ports.pollers.makePoller())
            } catch {
                dispatcher.close()
                onOpen(.failure(error))
            }
        }
        do throws(Failure) { try ports.threads.launch("pawl-queue", body) } catch {
            dispatcher.close()
            onOpen(.failure(error))
        }
    }

    /// Runs `body` on the queue's thread; `completion` is called there when its step is over.
    ///
    /// It gets a failure when the queue is closed, when a removal failed, or when the queue cannot write what this step or an
    /// earlier one changed; else the result, which has the failure of `body` itself. A query (`changes` is `false`, default
    /// `true`) must not change anything, and needs no write.
    package func step<Value: Sendable, Problem: Error>(
        changes: Bool = true, _ body: @escaping @Sendable (QueueStep) throws(Problem) -> Value,
        completion: @escaping @Sendable (Result<Result<Value, Problem>, Failure>) -> Void
    ) { thread.step(changes: changes, body, completion: completion) }

    /// The events from now on, in a buffer of their own.
    package func listen() -> EventSubscriber { broadcaster.listen() }

    /// Stops all downloads cleanly, writes pending changes and closes the queue.
    package func shutDown(_ completion: @escaping @Sendable () -> Void) {
        let isHeard = thread.post { $0.shutDown(completion) }
        if !isHeard { completion() }
    }
}

/// What is told while a queue is opened: it is an event before its owner can listen twice.
private final class OpeningNotices: Sendable {
    /// `nil` once the queue is open.
    private let texts = Mutex<[String]?>([])

    /// Whether the queue is still being opened.
    func keep(_ text: String) -> Bool { texts.withLock { $0?.append(text) != nil } }

    func end() -> [String] {
        texts.withLock { texts in
            defer { texts = nil }
            return texts ?? []
        }
    }
}
#endif
