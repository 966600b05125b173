import Pawl
import PawlBase
import PawlWeb
import Synchronization

/// Asks a server for a file's name and size without adding a download: a download of its own, in a folder that is removed
/// again, which ends with the header section of the response.
final class DownloadCheck: Sendable {
    private let configuration: DownloadManager.Configuration
    private let running = Mutex(0)
    /// More would be a way to make the service send many requests.
    private static let most = 4

    /// `configuration` is that of the service's own downloads.
    init(_ configuration: DownloadManager.Configuration) {
        var own = DownloadManager.Configuration()
        own.deniesPrivateAddresses = configuration.deniesPrivateAddresses
        own.stateFolder = configuration.stateFolder
        own.staysInRoot = true
        self.configuration = own
    }

    private static let beginning = "check-"

    /// Removes what checks left that a kill ended; before the first check.
    static func sweep(below root: String) {
        let folder = "\(root)/.pawl"
        for name in FolderTree.names(in: folder) where name.hasPrefix(beginning) {
            FolderTree.remove("\(folder)/\(name)")
        }
    }

    /// `{name, total, type, ranges}`, each `null` if the server does not say; throws the failure of the request.
    func check(_ request: DownloadRequest, below root: String) async throws -> JSON {
        let isAllowed = running.withLock { running in
            guard running < DownloadCheck.most else { return false }
            running += 1
            return true
        }
        guard isAllowed else { throw RPCError("too many checks are running") }
        defer { running.withLock { $0 -= 1 } }
        var request = request
        request.start = .now
        request.options.retries = 0
        request.options.connections = 1
        request.options.timeout = min(request.options.timeout, .seconds(15))
        request.options.folder = "."
        request.options.checksum = nil
        let folder = "\(root)/.pawl/\(DownloadCheck.beginning)\(UInt64.random(in: .min ... .max))"
        let listener = Listener()
        let manager = try await DownloadManager(root: folder, configuration, delegate: listener)
        let result = await DownloadCheck.run(request, on: manager, listener)
        await manager.shutDown()
        FolderTree.remove(folder)
        return try result.get()
    }

    private static func run(
        _ request: DownloadRequest, on manager: DownloadManager, _ listener: Listener
    ) async -> Result<JSON, PawlError> {
        do throws(PawlError) {
            let download = try await manager.add(request)
            for await event in listener.events {
                if case .failed(let error) = event { throw error }
                if case .started(let response) = event {
                    return .success(json(try await manager.snapshot(of: download.id), response))
                }
            }
            throw PawlError(Failure(.unfinished, "cannot check", at: "the URL", because: "the service stops"))
        } catch { return .failure(error) }
    }

    private static func json(_ snapshot: DownloadSnapshot?, _ response: DownloadResponse?) -> JSON {
        let takesRanges: Bool? =
            response?.status == 206 ? true : response?.value(of: "accept-ranges").map { $0.lowercased() == "bytes" }
        return [
            "name": snapshot?.name.map { .string($0) } ?? .null, "total": snapshot?.total.map { .number($0) } ?? .null,
            "type": snapshot?.contentType.map { .string($0) } ?? .null,
            "ranges": takesRanges.map { .bool($0) } ?? .null,
        ]
    }

    private final class Listener: DownloadDelegate {
        enum Event: Sendable {
            case started(DownloadResponse?)
            case failed(PawlError)
        }

        let events: AsyncStream<Event>
        private let sender: AsyncStream<Event>.Continuation

        init() { (events, sender) = AsyncStream.makeStream() }

        func download(_ id: Download.ID, didStart total: Int64?, at offset: Int64, response: DownloadResponse?) {
            sender.yield(.started(response))
        }

        func download(_ id: Download.ID, didComplete error: PawlError?) {
            // Without an error it has started before.
            if let error { sender.yield(.failed(error)) }
            sender.finish()
        }
    }
}
