/// Work for a few threads, begun in the order in which it was submitted.
///
/// When the queue is released, what waits is still done, and its threads end.
package final class WorkQueue: Sendable {
    package typealias Job = @Sendable () -> Void

    /// When threads start and end, and what happens when the system refuses one.
    package enum Threads: Sendable {
        /// They start with the queue and end with it; a refused one starts as soon as the system allows it.
        case kept
        /// They start with the first jobs and end with the queue; without any, the submitting thread runs the jobs.
        case onDemand
        /// They start with jobs and end when none waits; a refused one starts as soon as the system allows it.
        case brief
    }

    private let core: Core

    /// From the load `room` on, of jobs that wait or run, there is no room; further ones are taken nevertheless.
    package init(_ name: String, _ kind: Threads, threads: Int = 1, stackSize: Int? = nil, room: Int = .max) {
        core = Core(name: name, kind: kind, threads: threads, stackSize: stackSize, room: room)
        if kind == .kept { core.startAll() }
    }

    deinit { core.state.with { $0.isReleased = true } }

    /// A closed queue drops the job.
    package func submit(load: Int = 1, _ job: @escaping Job) { core.submit(Item(job: job, load: load)) }

    package var hasRoom: Bool { core.state.read { $0.load < core.room || $0.isClosed } }

    /// The number of jobs that run.
    package var running: Int { core.state.read(\.running) }

    package var isClosed: Bool { core.state.read(\.isClosed) }

    /// Drops what waits, but for jobs that a thread without one is about to take: those count as begun.
    package func close() {
        // Released here, without the lock.
        let (dropped, rest) = core.state.with { state in
            state.isClosed = true
            return (state.dropWaiting(), state.isResting ? state.rest.take() : nil)
        }
        withExtendedLifetime(dropped) { rest?.open() }
    }

    /// A latch that opens when nothing waits or runs, and everything that the jobs retained is released.
    package func rest() -> Latch {
        core.state.with(waking: .none) { state in
            let latch = state.rest ?? Latch()
            if state.isResting { latch.open() } else { state.rest = latch }
            return latch
        }
    }
}

private struct Item: Sendable {
    let job: WorkQueue.Job
    let load: Int
}

/// What the threads share; it outlives the queue until the last job is done.
private struct Core: Sendable {
    let name: String
    let kind: WorkQueue.Threads
    let threads: Int
    let stackSize: Int?
    let room: Int
    let state = Monitor(State())

    func submit(_ item: Item) {
        let wantsThread = state.with(waking: .one) { state in
            guard !state.isClosed else { return false }
            state.items.append(item)
            state.load += item.load
            // A thread that was woken and has not run yet runs no job, so the jobs are compared.
            let wantsThread = state.waiting + state.running > state.threads && state.threads < threads
            if wantsThread { state.threads += 1 }
            return wantsThread
        }
        if wantsThread { start() }
    }

    func startAll() {
        state.with(waking: .none) { $0.threads = threads }
        for _ in 0..<threads { start() }
    }

    private func start() {
        guard kind == .onDemand else {
            return SystemThread.detached(name, blocksSignals: true) { run(waits: kind == .kept) }
        }
        let thread = SystemThread(name, stackSize: stackSize, blocksSignals: true) { run(waits: true) }
        if let thread { return thread.detach() }
        // Another thread runs the jobs; without one they are run here.
        let isAlone = state.with(waking: .none) { state in
            if state.threads == 1 { return true }
            state.threads -= 1
            return false
        }
        if isAlone { run(waits: false) }
    }

    private func run(waits: Bool) {
        while let load = runNext(waits: waits) { state.with(waking: .none) { $0.finish(load) }?.open() }
    }

    /// Runs and releases the next job; its load, or `nil` when the thread is to end.
    private func runNext(waits: Bool) -> Int? {
        let next: Item?? = state.wait(until: nil) { state in
            if let item = state.take() { return .some(item) }
            guard !waits || state.isReleased || state.isClosed else { return nil }
            state.threads -= 1
            return .some(nil)
        }
        guard let item = next ?? nil else { return nil }
        item.job()
        return item.load
    }
}

private struct State {
    var items: [Item?] = []
    /// The index of the first item that no thread has taken.
    var next = 0
    var load = 0
    var threads = 0
    var running = 0
    var isReleased = false
    var isClosed = false
    /// Opened when nothing is left.
    var rest: Latch?

    var waiting: Int { items.count - next }
    var isResting: Bool { waiting == 0 && running == 0 }

    mutating func take() -> Item? {
        guard next < items.count else { return nil }
        defer {
            if next * 2 >= items.count {
                items.removeFirst(next)
                next = 0
            }
        }
        running += 1
        next += 1
        return items[next - 1].take()
    }

    mutating func dropWaiting() -> [Item?] {
        let kept = min(items.count, next + threads - running)
        defer { items.removeSubrange(kept...) }
        return Array(items[kept...])
    }

    /// The latch to open.
    mutating func finish(_ load: Int) -> Latch? {
        running -= 1
        self.load -= load
        return isResting ? rest.take() : nil
    }
}
