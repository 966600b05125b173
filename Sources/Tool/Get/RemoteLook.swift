package import Pawl
package import PawlBase
import PawlSystem
import Synchronization

/// A look at what a server has: one request, of whose content nothing is kept.
package struct RemoteLook: Sendable {
    /// What the first accepted response says.
    package struct Found: Sendable {
        var name: String
        /// `nil` if the server does not say.
        package var total: Int64?
        var acceptsRanges: Bool
    }

    /// `trace` receives every request and response, on another thread.
    package static func look(
        at source: String, _ options: DownloadOptions, of command: GetOptions = GetOptions(),
        trace: (@Sendable (TransferTrace) -> Void)? = nil
    ) -> Result<Found, PawlError> {
        let state = LookState()
        var configuration = command.connections
        configuration.reportsEveryState = false
        configuration.trace = { event in
            state.hear(event)
            trace?(event)
        }
        let downloader = Downloader(configuration) { state.hear($0, source, options) }
        do throws(PawlError) {
            let download = try downloader.add(source, options: options, to: .path("/dev/null"))
            download.resume()
        } catch { return .failure(error) }
        let result = state.result()
        downloader.shutDownAndWait()
        return result
    }

    /// The scheme of a URL that was given without one: `https`, or `http` when nothing responds there.
    package static func scheme(of source: String, _ options: DownloadOptions, of command: GetOptions) -> String {
        var options = options
        options.retries = 0
        options.connectTimeout = min(options.connectTimeout ?? options.timeout, longestWait)
        options.timeout = min(options.timeout, longestWait)
        guard case .failure(let error) = look(at: "https://" + source, options, of: command) else { return "https" }
        switch error.failure.code {
        case .network, .timeout: return "http"
        // What responds there does not speak TLS; a certificate that is not trusted is no reason to do without.
        case .insecure: return error.failure.cause?.tellsOfNoTLS == true ? "http" : "https"
        case _: return "https"
        }
    }

    private static let longestWait = Duration.seconds(10)
}

/// What the events of a look say, and who waits for it.
private final class LookState: Sendable {
    private struct Values {
        var address: WebAddress?
        var head: ResponseHead?
        var result: Result<RemoteLook.Found, PawlError>?
    }

    private let values = Mutex(Values())
    private let latch = Latch()

    func hear(_ trace: TransferTrace) {
        values.withLock { values in
            switch trace {
            case .request(_, let address): values.address = address
            case .response(let lines):
                values.head = ResponseHead(parsing: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
            case .verdict, .hostLimit, .failed: break
            }
        }
    }

    func hear(_ event: DownloadEvent, _ source: String, _ options: DownloadOptions) {
        let isOver = values.withLock { values in
            guard values.result == nil else { return false }
            switch event.kind {
            case .started(_, let total, _):
                let name =
                    options.fileName
                    ?? values.address.map { address in
                        NamingPolicy.choose(
                            NamingPolicy(options.naming), address: address, head: values.head,
                            given: [try? WebAddress.parse(source).address].compactMap(\.self), charsets: .system)
                    }
                values.result = .success(
                    RemoteLook.Found(
                        name: name ?? "", total: total,
                        acceptsRanges: values.head?.acceptRanges == .bytes || values.head?.status == 206))
            case .failed(let error): values.result = .failure(error)
            case .finished(let file):
                values.result = .success(
                    RemoteLook.Found(name: options.fileName ?? "", total: file.length, acceptsRanges: false))
            case .state, .notice, .retry, .added, .changed, .queueChanged, .missed: return false
            }
            return true
        }
        if isOver { latch.open() }
    }

    func result() -> Result<RemoteLook.Found, PawlError> {
        latch.pass()
        guard let result = values.withLock(\.result) else { preconditionFailure("the latch opens with a result") }
        return result
    }
}
