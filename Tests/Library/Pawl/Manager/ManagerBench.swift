import Pawl
import PawlBase
import PawlTestKit

/// An origin, a root and a queue that outlives its managers.
final class ManagerBench: Sendable {
    let origin: OriginServer
    let root: TemporaryFolder
    let store = MemoryQueueStore()

    init() throws {
        origin = try OriginServer()
        root = try TemporaryFolder()
    }

    deinit { origin.stop() }

    func open(
        _ configuration: DownloadManager.Configuration = DownloadManager.Configuration(),
        delegate: (any DownloadDelegate)? = nil, root path: String? = nil
    ) async throws -> DownloadManager {
        let store = store
        return try await DownloadManager(root: path ?? root.path, configuration, delegate: delegate) { _ in
            .success(store)
        }
    }

    func slots(_ count: Int) -> DownloadManager.Configuration {
        var configuration = DownloadManager.Configuration()
        configuration.maximumConcurrentDownloads = count
        return configuration
    }

    /// A request that fails soon, over one connection: others would bypass a stall.
    func request(_ url: String, _ change: (inout DownloadRequest) -> Void = { _ in }) -> DownloadRequest {
        var request = DownloadRequest(url)
        request.options.connections = 1
        request.options.retries = 1
        request.options.retryDelay = .milliseconds(10)
        // It stalls until the test has reached this point, however slow the machine is.
        request.options.timeout = .seconds(3600)
        change(&request)
        return request
    }

    /// Content of that size that stalls near its end until it is released.
    func serveStalling(_ path: String, seed: UInt64) -> (url: String, payload: Payload) {
        let payload = Payload(seed: seed, length: 3_000_000)
        return (origin.serve(path, payload) { $0.cut = .stall(from: 2_000_000) }, payload)
    }
}

extension Download {
    /// Waits for a state.
    @discardableResult func reaches(_ state: DownloadState) async -> DownloadSnapshot? {
        for await snapshot in updates where snapshot.state == state { return snapshot }
        return nil
    }

    func reaches(bytes: Int64) async { for await snapshot in updates where snapshot.written >= bytes { return } }
}
