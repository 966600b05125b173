public import Pawl
import PawlBase
import PawlHTTP
import Synchronization

/// Answers the requests of a `Downloader`, a `DownloadManager` or a `DownloadSession` in a test: no socket, no server, no name is looked up.
///
/// ```swift
/// let origin = StubOrigin(["/film.mp4": [.ok(film).cut(after: 1_000_000), .status(503), .ok(film)]])
/// var configuration = Downloader.Configuration()
/// configuration.transport = origin.transport
/// let file = try await Downloader(configuration).download("https://example.org/film.mp4")
/// ```
///
/// It stands for every host and port. What is downloaded, resumed, verified and written is what the library does with a real
/// server: only the connections are missing, and with them TLS, proxies, FTP and SFTP, whose requests fail. Hubs,
/// registries and object stores are asked for their listings over the network all the same.
public final class StubOrigin: Sendable {
    /// Answers a request.
    public typealias Responder = @Sendable (StubRequest) -> StubResponse

    private struct State {
        var requests: [StubRequest] = []
        var counts: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let respond: Responder

    /// Answers each request with what `respond` returns.
    ///
    /// It is called on a thread that transfers data, and must return at once; ``StubResponse/held(after:until:)`` and
    /// ``StubResponse/stalled(after:)`` make a client wait.
    public init(_ respond: @escaping Responder) { self.respond = respond }

    /// Answers the requests for each path with its responses in their order, and from then on with the last; others with 404.
    ///
    /// A path that has a query in the table stands for requests with that query, one without for all others.
    public convenience init(_ responses: [String: [StubResponse]]) {
        self.init { request in
            let known = responses[request.target] ?? responses[request.path] ?? []
            return known.dropFirst(request.number - 1).first ?? known.last ?? .status(404)
        }
    }

    /// What `transport` of a configuration takes, in the time of the system.
    public var transport: DownloadTransport { DownloadTransport(servers: StubServers(self, clock: nil), of: self) }

    /// The same in the time of `clock`: retries, timeouts and slow responses wait until a test moves it.
    public func transport(clock: ManualClock) -> DownloadTransport {
        DownloadTransport(
            servers: StubServers(self, clock: clock), of: self, time: (clock, ManualPollers(clock)))
    }

    /// The requests so far, in the order in which they came.
    public var requests: [StubRequest] { state.withLock { $0.requests } }

    /// The requests for this path so far.
    public func requests(for path: String) -> [StubRequest] { requests.filter { $0.path == path } }

    func response(to head: [UInt8], _ request: TransferRequest) -> StubResponse {
        let target = request.address.query.map { "\(request.address.path)?\($0)" } ?? request.address.path
        let known = state.withLock { state in
            state.counts[target, default: 0] += 1
            let known = StubRequest(
                head, request.address, method: request.method, body: request.body, number: state.counts[target] ?? 1)
            state.requests.append(known)
            return known
        }
        return respond(known)
    }
}

/// A request to a ``StubOrigin``.
public struct StubRequest: Sendable, Hashable {
    /// The URL, with its query.
    public let url: String
    /// Its host's name, in lower case.
    public let host: String
    /// Its path, percent-encoded as in the URL.
    public let path: String
    /// Its query without the question mark; `nil` if it has none.
    public let query: String?
    /// `GET`, or another method of HTTP.
    public let method: String
    /// The header fields as they would be sent, logins and cookies included.
    public let headers: [DownloadResponse.Field]
    /// The body; empty for GET.
    public let body: [UInt8]
    /// 1 for the first request for this path and query, and so on.
    public let number: Int

    /// The path, and the query if there is one.
    public var target: String { query.map { "\(path)?\($0)" } ?? path }

    /// The value of a header field, case-insensitive; `nil` if it is missing.
    public func value(of name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Creates a request, for tests of a responder.
    ///
    /// `url` has a path, and a host as in `https://example.org/film.mp4`; of what is no URL both are empty.
    public init(
        url: String, method: String = "GET", headers: [DownloadResponse.Field] = [], body: [UInt8] = [], number: Int = 1
    ) {
        let address = try? WebAddress.parse(url).address
        self.url = url
        (host, path, query) = (address?.host ?? "", address?.path ?? "", address?.query)
        (self.method, self.headers, self.body, self.number) = (method, headers, body, number)
    }

    init(_ head: [UInt8], _ address: WebAddress, method: String, body: [UInt8], number: Int) {
        url = address.text
        host = address.host
        path = address.path
        query = address.query
        self.method = method
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").dropFirst()
        headers = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return DownloadResponse.Field(name: String(line[..<colon]), value: String(value))
        }
        self.body = body
        self.number = number
    }
}
