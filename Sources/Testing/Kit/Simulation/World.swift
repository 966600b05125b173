import PawlBase
package import PawlEngine
import PawlIntegrity
import PawlJournal
import PawlQueue

/// A machine with its network, made from a seed, in which engines run in virtual time.
///
/// Several engines may run one after the other (`Ports` are reusable); the disk stays.
package final class World: Sendable {
    package let timeline: Timeline
    package let clock: VirtualClock
    package let network: SimulatedNetwork
    package let disk: FakeDisk
    package let reachability: FakeReachability
    package let threads: InlineThreads

    /// `keepsLog` costs time; set it when the log is read.
    package init(seed: UInt64, keepsLog: Bool = true) {
        timeline = Timeline(keepsLog: keepsLog)
        clock = VirtualClock(timeline)
        network = SimulatedNetwork(timeline: timeline, seed: seed)
        disk = FakeDisk(timeline: timeline, seed: seed &+ 1)
        reachability = FakeReachability()
        threads = InlineThreads(timeline)
    }

    package var ports: Ports {
        var ports = Ports(
            clock: clock, disk: disk, reachability: reachability, threads: threads, pollers: FakePollers(timeline),
            transports: FakeTransports(network))
        ports.digestFinder = { SidecarFinder(fetcher: $0, signatures: nil) }
        return ports
    }

    /// Sets a deliberate fault.
    package func set(sabotage: Sabotage?) {
        disk.set(sabotage: sabotage)
        network.set(sabotage: sabotage)
    }

    /// Takes the network down or up, and notifies the machine.
    package func set(online: Bool, breaks: Bool = true) {
        network.set(isUp: online, breaks: breaks)
        reachability.change(to: online)
    }
}
