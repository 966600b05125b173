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
