import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Synchronization

/// A whole download: from responses that a server makes up to the file on a disk in memory.
///
/// Whatever the server sends, the download ends, keeps the laws of the disk, and publishes nothing of another digest than the given
/// one. If no response contradicts its content, what is published is one version of it.
enum TransferLaws {
    private static let folder = "/downloads"

    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let choices = input.byte()
        let server = ScriptedServer(input)
        let world = World(seed: 1, keepsLog: false)
        var ports = world.ports
        ports.transports = ScriptedTransports(server: server, timeline: world.timeline)
        let ends = Mutex<[String?]>([])
        let scheduler = DownloadScheduler(ports: ports, loops: 1, jobs: 1, rate: nil) { report in
            switch report.update {
            case .finished: ends.withLock { $0.append(report.path) }
            case .failed: ends.withLock { $0.append(nil) }
            case .phase, .started, .notice, .retrying: break
            }
        }
        world.disk.set(isVolatile: choices & 8 != 0)
        let (id, _) = scheduler.add(job(choices, server))
        scheduler.resume(id)
        world.timeline.whenAllStandsStill { scheduler.engine.shutDown {} }
        world.threads.run()
        let isOverdue = world.timeline.isOverdue
        world.timeline.close()
        try hold(!isOverdue, "it does not end")
        try hold(world.disk.openPartials == 0, "a file is left open")
        if let violation = world.disk.violations.first { throw BrokenLaw(description: violation.description) }
        let results = ends.withLock { $0 }
        try hold(results.count == 1, "it ended \(results.count) times")
        try check(world.disk, results[0], hasDigest: choices & 1 != 0, server)
    }

    private static func job(_ choices: UInt8, _ server: ScriptedServer) -> Job {
        let address = WebAddress(scheme: .http, host: "files.test", port: 80, path: "/f.bin", query: nil)
        var job = Job(
            plan: DownloadPlan(sources: [address]), settings: TransferSettings(TransferSettings.Values()),
            folder: folder)
        job.fileName = "f.bin"
        job.plan.ramp = .fixed(choices & 2 != 0 ? 3 : 1)
        job.plan.retry = RetryPolicy(retries: 3, delay: .milliseconds(20))
        job.plan.timeout = .seconds(3)
        if choices & 1 != 0 {
            job.plan.checksums = [Checksum(algorithm: .md5, digest: MessageDigest5.digest(server.versions[0]))]
        }
        return job
    }

    private static func check(
        _ disk: FakeDisk, _ path: String?, hasDigest: Bool, _ server: ScriptedServer
    ) throws(BrokenLaw) {
        let files = disk.listing.filter { !$0.hasSuffix(".part") && !$0.hasSuffix(".part+journal") }
        try hold(files == [path].compactMap(\.self), "finished \(path ?? "nothing"), there is \(files)")
        guard let path else { return }
        let bytes = disk.finished(path)?.bytes ?? []
        if hasDigest { try hold(bytes == server.versions[0], "a file of another digest has its name") }
        try hold(
            server.hasLied || server.versions.contains(bytes),
            "the server has not lied, and \(bytes.count) bytes are no version of the content")
    }
}
