import PawlBase
import PawlJournal
import Synchronization

/// State shared by the loops of one engine: the lines of hosts, the common rate limit, the handler of events.
final class Shared: Sendable {
    let ports: Ports
    /// Whether phases that other events imply are reported.
    let reportsEveryPhase: Bool
    let onReport: @Sendable (EngineEvent) -> Void
    let onSlot: @Sendable (SlotEvent) -> Void
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
    private let bytes = Atomic<Int64>(0)

    init(
        ports: Ports, common: CommonRate, reportsEveryPhase: Bool, boundsHosts: Bool,
        onReport: @escaping @Sendable (EngineEvent) -> Void, onSlot: @escaping @Sendable (SlotEvent) -> Void,
        onPublishing: @escaping @Sendable (DownloadID) -> Void,
        onReleased: @escaping @Sendable (DownloadID) -> Void, onScarcity: @escaping @Sendable () -> Void,
        digestFinder: (any DigestFinder)?
    ) {
        self.ports = ports
        hosts = HostLines(ports, isBounded: boundsHosts)
        self.digestFinder = digestFinder
        self.common = common
        self.reportsEveryPhase = reportsEveryPhase
        self.onReport = onReport
        self.onSlot = onSlot
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

    /// Bytes received by all downloads.
    var received: Int64 { bytes.load(ordering: .relaxed) }
    func count(_ received: Int) { bytes.add(Int64(received), ordering: .relaxed) }

    /// How many downloads wait for a place at their host, or for a descriptor.
    var waiting: Int { hosts.waiting + line.withLock { $0.line.waitingCount } }
    /// Whether the common rate limit holds downloads back.
    func isHeld(now: Instant) -> Bool { common.delay(now: now) > .zero }

    /// How long the next byte of any download from this origin has to wait.
    func delay(of origin: Origin, now: Instant) -> Interval {
        max(common.delay(now: now), hosts.delay(of: origin, now: now))
    }

    /// Costs two atomic loads.
    var hasLimit: Bool { common.isLimited || hosts.hasRate }
    /// The lowest limit that applies to any download, apart from its own.
    var slowest: Int64? { [common.rate, hosts.rate].compactMap { $0 }.min() }
}
