package import PawlBase
package import PawlHTTP

/// What carries the requests of a ``Downloader``, a ``DownloadManager`` or a session: the network, or in tests the stub origins of the
/// product `PawlTesting`.
///
/// Two are equal if they are the same network, origin and time.
public struct DownloadTransport: Sendable, Hashable {
    /// Stand for all servers; `nil` for those of the network.
    package var servers: (any RequestServerMaker)?
    /// Its time; `nil` for that of the system.
    package var time: (clock: any Clock, pollers: any PollerMaker)?

    /// The origin that the servers belong to, and its clock.
    private let identity: [ObjectIdentifier]

    private init() { identity = [] }

    package init(
        servers: any RequestServerMaker, of origin: AnyObject,
        time: (clock: any Clock & AnyObject, pollers: any PollerMaker)? = nil
    ) {
        self.servers = servers
        self.time = time.map { ($0.clock, $0.pollers) }
        identity = [ObjectIdentifier(origin)] + (time.map { [ObjectIdentifier($0.clock)] } ?? [])
    }

    /// Whether both are the same.
    public static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }

    /// Hashes what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    /// This machine's network, the default.
    public static let network = DownloadTransport()
}

/// Reports a network where none is used.
final class AssumedNetwork: Reachability {
    var isOnline: Bool { true }
    func start(_ handler: @escaping @Sendable (Bool) -> Void) {}
    func stop() {}
}
