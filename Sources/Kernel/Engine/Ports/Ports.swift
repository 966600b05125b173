package import PawlBase
package import PawlCore
package import PawlJournal

/// The ports that an engine uses.
package struct Ports: Sendable {
    package var clock: any Clock
    package var disk: any Disk
    package var reachability: any Reachability
    package var threads: any Threads
    package var pollers: any PollerMaker
    package var transports: any TransportMaker
    package var witness: (any Witness)?
    /// What hosts allow, stored across runs; `nil` stores nothing.
    package var hostNotes: (any HostNotes)?
    /// `nil` where descriptors are never scarce.
    package var descriptors: (any Descriptors)?
    /// Called when a host is seen to have a limit of connections, or one is known from an earlier run.
    package var onHostLimit: (@Sendable (HostNote, _ host: String) -> Void)?
    /// A defect that a simulated world introduces on purpose.
    package var hostFlaw: HostBudget.Flaw?
    /// Makes an engine's finder; `nil` finds no digests but those of the responses.
    package var digestFinder: (@Sendable (any ContentFetching) -> any DigestFinder)?

    /// Decodes names in responses.
    package var charsets = CharsetDecoder.builtIn

    package init(
        clock: any Clock, disk: any Disk, reachability: any Reachability, threads: any Threads,
        pollers: any PollerMaker, transports: any TransportMaker
    ) {
        self.clock = clock
        self.disk = disk
        self.reachability = reachability
        self.threads = threads
        self.pollers = pollers
        self.transports = transports
    }
}

/// Stores across restarts how many connections hosts allow, and which require TLS.
///
/// Calls may come from any thread and return at once.
package protocol HostNotes: AnyObject, Sendable {
    /// How many connections the host was seen to allow in an earlier run; `nil` when unknown.
    func note(of origin: Origin) -> HostNote?
    /// Stores that the origin allows so many and no more; what may be chance is not stored as long.
    func note(_ note: HostNote, of origin: Origin)
    /// The origin allows more than was noted.
    func forget(_ origin: Origin)
    /// Forgets what was noted of this host; of all hosts with `nil`.
    func forget(host: String?)
    /// The address with the scheme to use: over TLS where the host requires it (RFC 6797).
    func secured(_ address: WebAddress) -> WebAddress
    /// Notes a Strict-Transport-Security field that was received over an authenticated connection to the
    /// host.
    func note(transportSecurity field: String, of host: String)
}

/// An observer of every decision of every machine before it is carried out: for checks of the engine's laws.
package protocol Witness: AnyObject, Sendable {
    /// `run` distinguishes this run of the download from earlier ones.
    func decided(_ id: DownloadID, run: UInt64, _ actions: [Action], _ machine: DownloadMachine)
}
