#if Features
package import PawlBase
package import PawlCollections
import PawlCore
import PawlDisk
import PawlEngine
import PawlJournal
import Synchronization

/// Requests the pages of a listing as downloads into memory: with their logins, proxies, retries and limits.
package final class DownloadedPages: PageFetching {
    /// Caddy answers in JSON if that is accepted, with exact sizes and times.
    private static let accept = "Accept: text/html, application/json;q=0.9, */*;q=0.5"

    private let downloader: Downloader
    private let options: DownloadOptions

    /// `options`: those of the files; what is for one file only is not used.
    package init(_ options: DownloadOptions, _ configuration: Downloader.Configuration) {
        var configuration = configuration
        (configuration.adaptsConcurrentDownloads, configuration.threads) = (true, 1)
        configuration.sharesConnections = true
        configuration.reportsEveryState = false
        downloader = Downloader(configuration)
        var own = options
        (own.fileName, own.checksum, own.expectedLength, own.range) = (nil, nil, nil, nil)
        (own.mirrors, own.verification, own.existingFile) = ([], .off, .rename)
        (own.storesAttributes, own.connections, own.naming) = (false, 1, .server)
        if !own.headers.contains(where: { $0.utf8.prefix(7).isCaseInsensitively("accept:") }) {
            own.headers.append(Self.accept)
        }
        self.options = own
    }

    package func fetch(
        _ request: PageRequest, onChange: @escaping @Sendable () -> Void
    ) throws(Failure) -> any PageTransfer {
        let page = DownloadedPage(onChange)
        var hooks = DownloadHooks()
        if request.address.isWeb {
            hooks.validateResponse = { received in
                page.begin(received)
                return .allow
            }
        }
        var own = options
        if request.isTrial { own.retries = 0 }
        do throws(PawlError) {
            let download = try downloader.add(
                request.address.text, options: own, hooks: hooks, takesEverySuccess: request.listing == .properties,
                listing: request.listing
            ) { _ in page.body.destination }
            page.start(download) { [downloader] in downloader.forget(download) }
            return page
        } catch { throw error.failure }
    }
}

extension DownloadOptions {
    /// How a listing uses the sums files of its tree: where signatures count, each download looks for them itself.
    package var sumsUse: TreeLister.Options.SumsUse {
        guard openPGPKeyring == nil, minisignKey == nil else { return .none }
        return switch verification {
        case .sidecar: .optional
        case .required: .required
        case .auto, .signed, .off: .none
        }
    }
}

/// A page as a download into memory.
private final class DownloadedPage: PageTransfer {
    private struct State {
        var head: PageHead?
        var download: Download?
        var stop: (@Sendable () -> Void)?
    }

    let body: BodySink
    private let state = Mutex(State())
    private let onChange: @Sendable () -> Void

    init(_ onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
        body = BodySink(makeHasher: ContentDigest.hasher, onBytes: onChange)
    }

    func start(_ download: Download, onStop: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.download = download
            state.stop = onStop
        }
        download.onEnd(onChange)
        download.resume()
    }

    /// Also called for the responses of refusals, before they are repeated.
    func begin(_ received: ReceivedResponse) {
        guard 200..<300 ~= received.response.status,
            let address = try? WebAddress.parse(received.url).address
        else { return }
        let response = received.response
        let head = PageHead(
            address: address, contentType: response.contentType, isMultistatus: response.status == 207)
        state.withLock { $0.head = head }
        onChange()
    }

    var head: PageHead? { state.withLock(\.head) }

    var end: Result<Void, Failure>? {
        switch state.withLock(\.download)?.outcome {
        case nil: nil
        case .success: .success(())
        case .failure(let error): .failure(error.failure)
        }
    }

    func take() -> [UInt8]? {
        guard let chunk = body.take() else { return nil }
        return chunk
    }

    func cancel() {
        let stop = state.withLock { state in
            defer { state.stop = nil }
            return state.stop
        }
        body.close()
        stop?()
    }
}

extension DownloadOptions {
    /// Takes what a listing says of a file below a folder; returns the file that it replaces.
    ///
    /// Throws code 28 where a symbolic link leads out of the folder.
    package mutating func take(_ planned: PlannedEntry, below given: String) throws(PawlError) -> FileStamp? {
        let (folder, path) = planned.entry.location(in: given)
        let parents = path.pathParts().dropLast().joined(separator: "/")
        do throws(Failure) {
            if let obstacle = PlaceObstacle(of: planned.entry, below: given) { throw obstacle.failure }
            if !parents.isEmpty { try RootedFiles.check(parents, below: folder) }
        } catch { throw PawlError(error) }
        self.folder = folder
        return try take(planned, at: path)
    }

    /// Takes what a listing says of the file at `path`, `nil` for one that is placed already; returns the file that it replaces.
    package mutating func take(_ planned: PlannedEntry, at path: String?) throws(PawlError) -> FileStamp? {
        let entry = planned.entry
        if let path { try place(at: path) }
        mirrors = entry.mirrors
        checksum = entry.checksum
        if !entry.mayHaveSums { verification = .auto }
        if entry.proof != .facts { expectedLength = entry.size }
        if entry.replaces { existingFile = .overwrite }
        switch planned.state {
        case .missing, .unchanged: return nil
        case .outdated(let stamp), .perhapsOutdated(let stamp):
            existingFile = .overwrite
            return stamp
        }
    }
}
#endif
