import CCurl
import PawlBase

/// The state that a transport keeps between requests: idle handles, the options they share, and the origins' cookies.
final class EasyHandlePool {
    /// The exchanges whose sinks stopped at the header section; emptied after each round.
    let stopped = StoppedList()

    private var idle: [Exchange] = []
    let settings = ConnectionSettingsCache()
    private let onCookies: CookieReceiver?
    private var originStates: [OriginState.Key: OriginState] = [:]
    private var requestCount: UInt64 = 0
    /// Whether any origin has set cookies.
    private var holdsCookies = false

    private enum Limit {
        static let idle = 32
        static let originStates = 256
    }

    /// `onCookies` receives the cookies of each origin when it is forgotten.
    init(onCookies: CookieReceiver?) { self.onCookies = onCookies }

    /// A handle ready for the request; throws why the request is impossible.
    func exchange(
        for request: TransferRequest, as id: TransferID, sink: any TransferSink
    ) throws(TransferFault) -> Exchange {
        requestCount += 1
        try refuseFolder(request.address)
        let settings = try settings.settings(for: request)
        let state = try originState(for: request)
        let idle = takeIdle(like: settings.key)
        let exchange = if let idle { idle } else { try Exchange(stopped: stopped) }
        try exchange.prepare(request, as: id, sink: sink, settings: settings, originState: state)
        return exchange
    }

    /// Whether the request's origin has set cookies in responses that libcurl did not read.
    func hasCookies(for request: TransferRequest) -> Bool {
        holdsCookies && originStates[OriginState.Key(request)]?.holdsCookies ?? false
    }

    /// Stores the cookies of a response that libcurl did not read where libcurl finds them.
    func remember(_ cookies: [String], from request: TransferRequest) {
        guard let state = try? originState(for: request) else { return }
        state.remember(cookies, from: request.address)
        holdsCookies = true
    }

    func takeBack(_ exchange: Exchange) {
        exchange.retire()
        if exchange.isReusable, idle.count < Limit.idle { idle.append(exchange) }
    }

    func empty() {
        stopped.exchanges = []
        idle = []
    }

    /// An idle handle, preferably one that carried a request with the same key.
    private func takeIdle(like key: ConnectionSettings.Key) -> Exchange? {
        guard let index = idle.lastIndex(where: { $0.settings?.key == key }) else { return idle.popLast() }
        return idle.remove(at: index)
    }

    private func originState(for request: TransferRequest) throws(TransferFault) -> OriginState? {
        switch request.address.scheme {
        case .http, .https: break
        case .ftp, .ftps, .sftp, .located: return nil
        }
        let key = OriginState.Key(request)
        if let known = originStates[key] {
            known.lastUse = requestCount
            return known
        }
        if originStates.count >= Limit.originStates { forgetOldOrigins() }
        let state = try OriginState(for: request, onEnd: onCookies)
        state.lastUse = requestCount
        originStates[key] = state
        return state
    }

    private func forgetOldOrigins() {
        let oldest = originStates.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(Limit.originStates / 2)
        for (key, _) in oldest { originStates[key] = nil }
    }

    /// Rejects what is not a file's content: libcurl would fetch a folder's listing, or convert line ends in a text
    /// transfer (RFC 1738 §3.2.2).
    private func refuseFolder(_ address: WebAddress) throws(TransferFault) {
        switch address.scheme {
        case .http, .https: return
        case .ftp, .ftps:
            let path = address.path.lowercased()
            if path.hasSuffix(";type=a") || path.hasSuffix(";type=d") {
                throw TransferFault(
                    .other,
                    LocalizableMessage("fault-ftp-type", "only binary transfers are supported, not ;type=a or ;type=d"))
            }
        case .sftp, .located: break
        }
        if address.path.hasSuffix("/") {
            throw TransferFault(
                .notFound, LocalizableMessage("fault-path-is-folder", "the path names a folder, not a file"))
        }
    }
}
