import PawlBase
import PawlJournal
import Synchronization

/// State shared by the loops of one engine: the lines of hosts, the common rate limit, the handler of events.
final class Shared: Sendable {
    let ports: Ports
    /// Whether phases that other events imply are reported.
    let reportsEveryPhase: Bool
    let onReport: @Sendable (EngineEvent) -> Void
    /// A download paused or failed, and is about to be released.
    let onRests: @Sendable (DownloadID) -> Void
    /// A download no longer needs the network.
    let onPublishing: @Sendable (DownloadID) -> Void
    /// A loop has released a download, however it ended.
    let onReleased: @Sendable (DownloadID) -> Void
    let digestFinder: (any DigestFinder)?

    let hosts: HostLines
    let line = Mutex(DescriptorQueue())
    /// Descriptors are scarce: idle connections are to be closed.
    let onScarcity: @Sendable () -> Void
    private let common: CommonRate
    private let transfers = Atomic<UInt64>(0)

    init(
        ports: Ports, common: CommonRate, reportsEveryPhase: Bool, onReport: @escaping @Sendable (EngineEvent) -> Void,
        onRests: @escaping @Sendable (DownloadID) -> Void, onPublishing: @escaping @Sendable (DownloadID) -> Void,
        onReleased: @escaping @Sendable (DownloadID) -> Void, onScarcity: @escaping @Sendable () -> Void,
        digestFinder: (any DigestFinder)?
    ) {
        self.ports = ports
        hosts = HostLines(ports)
        self.digestFinder = digestFinder
        self.common = common
        self.reportsEveryPhase = reportsEveryPhase
        self.onReport = onReport
        self.onRests = onRests
        self.onPublishing = onPublishing
        self.onReleased = onReleased
        self.onScarcity = onScarcity
    }

    func nextTransfer() -> TransferID { TransferID(rawValue: transfers.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// The address with the scheme that its host requires.
    func secured(_ address: WebAddress) -> WebAddress {
        address.scheme == .http ? ports.hostNotes?.secured(address) ?? address : address
    }

    func note(transportSecurity field: String, of host: String) {
        ports.hostNotes?.note(transportSecurity: field, of: host)
    }

    func charge(_ bytes: Int, to origin: Origin, now: Instant) {
        common.charge(bytes, now: now)
        hosts.charge(bytes, to: origin, now: now)
    }

    /// How long the next byte of any download from this origin has to wait.
    func delay(of origin: Origin, now: Instant) -> Interval {
        max(common.delay(now: now), hosts.delay(of: origin, now: now))
    }

    /// Costs two atomic loads.
    var hasLimit: Bool { common.isLimited || hosts.hasRate }
    /// The lowest limit that applies to any download, apart from its own.
    var slowest: Int64? { [common.rate, hosts.rate].compactMap { $0 }.min() }
}
