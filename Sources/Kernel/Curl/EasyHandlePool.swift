import PawlBase

/// The state that a transport keeps between requests: idle handles, and the options they share.
final class EasyHandlePool {
    private var idle: [Exchange] = []
    private let settings = ConnectionSettingsCache()

    private static let limit = 32

    /// A handle ready for the request; throws why the request is impossible.
    func exchange(
        for request: TransferRequest, as id: TransferID, sink: any TransferSink
    ) throws(TransferFault) -> Exchange {
        try refuseImpossible(request.address, isListing: request.listing != nil)
        let settings = try settings.settings(for: request)
        let idle = takeIdle(like: settings.key)
        let exchange = if let idle { idle } else { try Exchange() }
        try exchange.prepare(request, as: id, sink: sink, settings: settings)
        return exchange
    }

    func takeBack(_ exchange: Exchange) {
        exchange.retire()
        if exchange.isReusable, idle.count < Self.limit { idle.append(exchange) }
    }

    func empty() { idle = [] }

    /// An idle handle, preferably one that carried a request with the same key.
    private func takeIdle(like key: ConnectionSettings.Key) -> Exchange? {
        guard let index = idle.lastIndex(where: { $0.settings?.key == key }) else { return idle.popLast() }
        return idle.remove(at: index)
    }

    /// Rejects what is not a file's content: libcurl would fetch a folder's listing, or convert line ends in a text
    /// transfer (RFC 1738 §3.2.2); and paths that are no argument of a command.
    private func refuseImpossible(_ address: WebAddress, isListing: Bool) throws(TransferFault) {
        if address.scheme != .sftp, PercentCoding.decoded(address.path.utf8).contains(where: { $0 < 0x20 }) {
            throw TransferFault(
                .notFound,
                LocalizableMessage("fault-ftp-control", "FTP cannot request a path with control characters"))
        }
        guard !isListing else { return }
        let path = address.path.lowercased()
        if address.scheme != .sftp, path.hasSuffix(";type=a") || path.hasSuffix(";type=d") {
            throw TransferFault(
                .other,
                LocalizableMessage("fault-ftp-type", "only binary transfers are supported, not ;type=a or ;type=d"))
        }
        if address.path.hasSuffix("/") { throw .pathOfFolder }
    }
}
