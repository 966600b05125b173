import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlSystem
import PawlTestKit
import Testing

@testable import PawlDisk

/// The engine on real threads, with this machine's disk and network, against an origin on loopback.
final class LiveStage: Sendable {
    static let length: Int64 = 4 * .mebi
    /// Only keeps a failing test from hanging; instrumented programs on busy machines are slow.
    private static let patience = Duration.seconds(240)

    let origin: OriginServer
    let folder: TemporaryFolder
    let scheduler: DownloadScheduler
    var engine: Engine { scheduler.engine }
    private let disk: FileDisk
    private let received = Monitor<[DownloadID: [StatusUpdate]]>([:])
    private let written = Monitor<[DownloadID: Int64]>([:])

    init(origin: OriginServer, folder: TemporaryFolder, loops: Int, jobs: Int) throws {
        self.origin = origin
        self.folder = folder
        let ports = Ports.system { _ in }
        disk = try #require(ports.disk as? FileDisk)
        scheduler = DownloadScheduler(ports: ports, loops: loops, jobs: jobs, rate: nil) {
            [received] report in received.with { $0[report.id, default: []].append(report.update) }
        }
    }

    // MARK: downloads

    static func payload(_ name: String) -> Payload {
        Payload(seed: name.utf8.reduce(17) { $0 &* 131 &+ UInt64($1) }, length: length)
    }

    func address(_ name: String) -> WebAddress {
        WebAddress(scheme: .http, host: "127.0.0.1", port: origin.port, path: "/" + name, query: nil)
    }

    func add(_ name: String, connections: Int = 1) -> DownloadID {
        var job = Job(
            plan: DownloadPlan(sources: [address(name)]), settings: TransferSettings(TransferSettings.Values()),
            folder: folder.path)
        job.fileName = name
        job.plan.ramp = .fixed(connections)
        job.plan.retry = RetryPolicy(retries: 20, delay: .milliseconds(20))
        let (id, box) = scheduler.add(job)
        box.watch { [written] reading in written.with { $0[id] = max($0[id] ?? 0, reading.written) } }
        return id
    }

    /// Waits until that much of its content is in the file.
    func waitForBytes(_ count: Int64, of id: DownloadID) {
        let came: Void? = written.wait(atMost: Self.patience) { $0[id] ?? 0 >= count ? () : nil }
        #expect(came != nil, "\(id) does not move: \(updates(id))")
    }

    /// Waits until the events of a download satisfy `condition`.
    func wait(_ id: DownloadID, until condition: ([StatusUpdate]) -> Bool) {
        let came: Void? = received.wait(atMost: Self.patience) { condition($0[id, default: []]) ? () : nil }
        #expect(came != nil, "\(id): \(updates(id))")
    }

    /// Inspects it, and returns with the result: its loop has processed all earlier commands.
    func look(at id: DownloadID) -> Inspection? {
        let inspection = Monitor<Inspection??>(nil)
        engine.look(at: id) { look in inspection.with { $0 = .some(look) } }
        let look = inspection.wait(atMost: Self.patience) { $0 }
        #expect(look != nil, "no reply for \(id)")
        return look ?? nil
    }

    // MARK: the end

    /// Shuts down from `threads` threads at once, and returns when each was notified of the end.
    func close(from threads: Int = 1) {
        let closings = Monitor(0)
        let workers = (0..<threads).map { _ in
            SystemThread.start { [engine] in engine.shutDown { closings.with { $0 += 1 } } }
        }
        for worker in workers { worker.join() }
        let areTold: Void? = closings.wait(atMost: Self.patience) { $0 == threads ? () : nil }
        #expect(areTold != nil, "it does not close")
        checkLaws()
    }

    /// The invariants of a closed engine, whatever it was commanded before.
    private func checkLaws() {
        // A thread of the disk closes a file after it has reported what it did.
        for queue in [disk.syncers, disk.hashers] { queue.rest().pass() }
        let open = FileSystem.names(in: "/proc/self/fd").compactMap { FileSystem.link("/proc/self/fd/\($0)") }
        #expect(!open.isEmpty)
        #expect(open.filter { $0.hasPrefix(folder.path + "/") } == [], "a file is left open")
        #expect(origin.wait(atMost: Self.patience) { $0.open == 0 }, "a connection is left")
        for (id, notices) in received.read({ $0 }) {
            let ends = notices.indices.filter { notices[$0].isFinalWord }
            #expect(ends.count <= 1, "\(id): \(notices)")
            if let end = ends.first { #expect(notices[end...].allSatisfy { $0.isOfTheEnd }, "\(id): \(notices)") }
        }
    }

    // MARK: events

    func updates(_ id: DownloadID) -> [StatusUpdate] { received.read { $0[id, default: []] } }

    func count(_ condition: (StatusUpdate) -> Bool) -> Int {
        received.read { $0.values.reduce(0) { $0 + $1.count(where: condition) } }
    }
}

extension StatusUpdate {
    /// No event comes after this.
    var isFinalWord: Bool { self == .phase(.finished) || self == .phase(.removed) }

    var isOfTheEnd: Bool {
        if case .finished = self { return true }
        return isFinalWord
    }
}
