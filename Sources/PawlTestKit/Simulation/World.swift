package import PawlEngine

/// A machine with its network, made from a seed, in which engines run in virtual time.
///
/// Engines come and go (`Ports` are good for several, one after the other); the disk stays.
package final class World: Sendable {
    package let timeline: Timeline
    package let clock: VirtualClock
    package let network: SimulatedNetwork
    package let disk: FakeDisk
    package let reachability: FakeReachability
    package let threads: InlineThreads

    /// `keepsLog` is worth its time where somebody reads the log.
    package init(seed: UInt64, keepsLog: Bool = true) {
        timeline = Timeline(keepsLog: keepsLog)
        clock = VirtualClock(timeline)
        network = SimulatedNetwork(timeline: timeline, seed: seed)
        disk = FakeDisk(timeline: timeline, seed: seed &+ 1)
        reachability = FakeReachability()
        threads = InlineThreads(timeline)
    }

    package var ports: Ports {
        Ports(
            clock: clock,
            disk: disk,
            reachability: reachability,
            threads: threads,
            transports: FakeTransports(network)
        )
    }

    /// Breaks the world on purpose.
    package func set(sabotage: Sabotage?) {
        disk.set(sabotage: sabotage)
        network.set(sabotage: sabotage)
    }

    /// The network goes or comes back, and the machine notices.
    package func set(online: Bool, breaks: Bool = true) {
        network.set(isUp: online, breaks: breaks)
        reachability.change(to: online)
    }
}
