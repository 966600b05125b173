import Glibc
import Pawl
import PawlBase
import PawlWeb
import Synchronization

/// Keeps open pages up to date: first a full update, then changes, at most ten times a second.
///
/// One task makes all messages, one after another, so that none is older than the one before it.
final class PageFeed: Sendable {
    private struct State {
        var server: WebServer?
        var readers: Set<ConnectionID> = []
        var newcomers: Set<ConnectionID> = []
        var changed: Set<Download.ID> = []
        /// Collections that were added, have ended, or were removed.
        var changedCollections: Set<String> = []
        /// Fires once a second while a page is open.
        var ticker: Task<Void, Never>?
    }

    private struct Work {
        var server: WebServer
        var readers: Set<ConnectionID>
        var newcomers: Set<ConnectionID>
        var changed: Set<Download.ID>
        var collections: Set<String>
    }

    private let manager: DownloadManager
    private let collections: CollectionQueue
    private let decisions: DecisionLog
    private let speeds: SpeedSampler
    private let isLeaving: @Sendable (Download.ID) -> Bool
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation

    init(
        _ manager: DownloadManager, _ collections: CollectionQueue, _ decisions: DecisionLog, _ speeds: SpeedSampler,
        isLeaving: @escaping @Sendable (Download.ID) -> Bool
    ) {
        self.manager = manager
        self.collections = collections
        self.decisions = decisions
        self.speeds = speeds
        self.isLeaving = isLeaving
        (wakes, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func attach(_ server: WebServer) { state.withLock { $0.server = server } }

    func add(_ socket: ConnectionID) {
        state.withLock { state in
            state.newcomers.insert(socket)
            guard state.ticker == nil else { return }
            state.ticker = Task { [bell] in while (try? await Task.sleep(for: .seconds(1))) != nil { bell.yield() } }
        }
        bell.yield()
    }

    func remove(_ socket: ConnectionID) {
        state.withLock { state in
            state.newcomers.remove(socket)
            state.readers.remove(socket)
            guard state.readers.isEmpty, state.newcomers.isEmpty else { return }
            state.ticker?.cancel()
            state.ticker = nil
            state.changed = []
            state.changedCollections = []
        }
    }

    /// Closes every page's connection: browsers that are still logged in reconnect.
    func dismiss() {
        let (server, sockets) = state.withLock { ($0.server, $0.readers.union($0.newcomers)) }
        for socket in sockets { server?.end(socket) }
    }

    /// A download changed.
    func touch(_ id: Download.ID) {
        let isHeard = state.withLock { state in
            guard state.ticker != nil else { return false }
            state.changed.insert(id)
            return true
        }
        if isHeard { bell.yield() }
    }

    /// Events were lost: all pages get everything again.
    func startOver() {
        state.withLock { state in
            state.newcomers.formUnion(state.readers)
            state.readers = []
        }
        bell.yield()
    }

    /// A collection was added, has ended, or was paused, resumed or removed.
    func touch(collection id: String) {
        state.withLock { state in if state.ticker != nil { state.changedCollections.insert(id) } }
        bell.yield()
    }

    /// The limits of the downloads, or the paused groups, changed.
    func wake() { bell.yield() }

    /// What was confirmed has failed since: all pages show it.
    func tell(_ error: PawlError) {
        let (server, sockets) = state.withLock { ($0.server, $0.readers.union($0.newcomers)) }
        server?.push([PageFeed.message(["problem": .object(ServiceJSON.members(error))])], to: sockets)
    }

    func end() { bell.finish() }

    /// Sends until ``end()``.
    func run() async {
        for await _ in wakes {
            guard let work = takeWork() else { continue }
            do { try await serve(work) } catch {
                // The queue cannot be read: pages get everything that they missed when it can be.
                retry(work)
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func takeWork() -> Work? {
        state.withLock { state in
            guard let server = state.server, state.ticker != nil else { return nil }
            defer {
                state.readers.formUnion(state.newcomers)
                state.newcomers = []
                state.changed = []
                state.changedCollections = []
            }
            return Work(
                server: server, readers: state.readers, newcomers: state.newcomers, changed: state.changed,
                collections: state.changedCollections)
        }
    }

    private func retry(_ work: Work) {
        state.withLock { state in
            let newcomers = work.newcomers.intersection(state.readers)
            state.readers.subtract(newcomers)
            state.newcomers.formUnion(newcomers)
            state.changed.formUnion(work.changed)
            state.changedCollections.formUnion(work.collections)
        }
    }

    private func serve(_ work: Work) async throws {
        let status = try await status()
        if !work.readers.isEmpty {
            work.server.push([try await news(work.changed, work.collections, status: status)], to: work.readers)
        }
        guard !work.newcomers.isEmpty else { return }
        work.server.push(try await everything(status: status), to: work.newcomers)
    }

    /// Changed and running downloads.
    private func news(_ changed: Set<Download.ID>, _ touched: Set<String>, status: JSON) async throws -> [UInt8] {
        var rows = try await manager.running()
        let running = Set(rows.map(\.id))
        rows += try await manager.details(of: changed.filter { !running.contains($0) }).map(\.snapshot)
        rows.removeAll { isLeaving($0.id) || $0.state == .removed }
        let known = Set(rows.map(\.id))
        var gone = changed.filter { !known.contains($0) }.map(\.description)
        let all = try await collections.snapshots()
        gone += touched.filter { id in !all.contains { $0.collection.id == id } }
        let moving = all.filter { $0.collection.phase == .active || touched.contains($0.collection.id) }
        return PageFeed.message([
            "rows": .array(moving.map(PageRow.json) + rows.map(row)), "gone": .array(gone.map { .string($0) }),
            "status": status,
        ])
    }

    /// All downloads that have not ended, running ones first, and the latest that have; in several messages.
    private func everything(status: JSON) async throws -> [[UInt8]] {
        var rows = try await manager.running()
        let running = Set(rows.map(\.id))
        rows += try await manager.downloads(matching: DownloadFilter([.waiting, .paused])).filter {
            !running.contains($0.id)
        }
        rows += try await manager.downloads(
            matching: DownloadFilter([.finished, .failed]), by: .ended(newestFirst: true), limit: PageFeed.ended)
        rows.removeAll { isLeaving($0.id) }
        var messages = [PageFeed.message(["all": .bool(true), "status": status])]
        let all = try await collections.snapshots()
        if !all.isEmpty { messages.append(PageFeed.message(["rows": .array(all.map(PageRow.json))])) }
        var rest = rows[...]
        while !rest.isEmpty {
            // A window full first: on a slow connection it is shown while the others arrive.
            let portion = rest.prefix(messages.count > 1 ? PageFeed.portion : PageFeed.window)
            messages.append(PageFeed.message(["rows": .array(portion.map(row))]))
            rest = rest.dropFirst(portion.count)
        }
        messages.append(PageFeed.message(["ready": .bool(true)]))
        messages.append(PageFeed.message(["speeds": speeds.json()]))
        return messages
    }

    private func row(_ snapshot: DownloadSnapshot) -> JSON {
        PageRow.json(snapshot, retry: snapshot.retryIn == nil ? nil : decisions.lastRetry(of: snapshot.id))
    }

    private static let ended = 5000
    private static let portion = 500
    private static let window = 20

    private func status() async throws -> JSON {
        let bounds = try await manager.limits()
        return [
            "version": .string(PawlVersion.text), "root": .string(manager.root),
            "slots": .number(bounds.maximumConcurrentDownloads),
            "limit": bounds.rateLimit.map { .number($0) } ?? .null,
            "timetable": bounds.timetable.map { .string($0) } ?? .null, "isPaused": .bool(bounds.isPaused),
            "pausedUntil": bounds.pausedUntil.map { .number($0) } ?? .null,
            "free": freeBytes.map { .number($0) } ?? .null,
            "pausedGroups": .array(try await manager.pausedGroups().map { .string($0) }),
        ]
    }

    /// Free space on the disk of the download root.
    private var freeBytes: Int64? {
        var status = statvfs()
        guard unsafe statvfs(manager.root, &status) == 0 else { return nil }
        return Int64(status.f_bavail) * Int64(status.f_frsize)
    }

    private static func message(_ news: JSON) -> [UInt8] {
        (["jsonrpc": "2.0", "method": "pawl.live", "params": [news]] as JSON).utf8
    }
}

/// A download in the page's list: empty fields are omitted, since thousands are sent at once.
enum PageRow {
    static func json(_ snapshot: CollectionQueue.Snapshot) -> JSON {
        let toggle: DownloadToggle =
            switch snapshot.state {
            case .finished: .done
            case .paused, .failed: .continue
            case _: .pause
            }
        let members = (ServiceJSON.json(snapshot).members ?? []).filter { $0.value != .null }
        return .object(
            members + [JSON.Member("toggle", .string(toggle.rawValue)), JSON.Member("position", .number(-1))])
    }

    /// `retry` is the failure that it waits for the next attempt after.
    static func json(_ snapshot: DownloadSnapshot, retry: JSON? = nil) -> JSON {
        guard case .object(let members) = ServiceJSON.json(snapshot) else { return .null }
        let telling = members.filter { member in
            switch member.value {
            // Nothing in all is known, which is more than an unknown total.
            case .number("0"): member.name == "total"
            case .null, .string(""): false
            case .bool, .number, .string, .array, .object: true
            }
        }
        return .object(
            telling + [
                JSON.Member("toggle", .string(snapshot.toggle.rawValue)),
                JSON.Member("position", ServiceJSON.decimal(snapshot.position, places: 6)),
            ] + (retry.map { [JSON.Member("retry", $0)] } ?? []))
    }
}
