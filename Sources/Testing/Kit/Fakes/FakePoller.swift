package import PawlBase

/// The poller of a simulated loop: waiting gives the turn to another loop, in virtual time.
///
/// A simulated network has no descriptors.
final class FakePoller: Poller {
    private let timeline: Timeline
    private let seat: Int

    init(_ timeline: Timeline, seat: Int) {
        self.timeline = timeline
        self.seat = seat
    }

    func makeSource() -> PollSource { PollSource(number: 1) }

    func watch(_ descriptor: Int32, for interest: PollInterest, key: UInt64, of source: PollSource) -> Bool { false }

    func change(_ descriptor: Int32, to interest: PollInterest, key: UInt64, of source: PollSource) -> Bool { false }

    func unwatch(_ descriptor: Int32) {}

    func wait(until deadline: Instant?) { timeline.wait(seat, until: deadline) }

    func takeEvents(of source: PollSource, _ body: (PollEvent) -> Void) {}

    var wake: @Sendable () -> Void { { [timeline, seat] in timeline.wake(seat) } }
}

/// A poller for each loop, at the seat that has the turn.
package struct FakePollers: PollerMaker {
    private let timeline: Timeline

    package init(_ timeline: Timeline) { self.timeline = timeline }

    package func makePoller() -> any Poller { FakePoller(timeline, seat: timeline.turn) }
}
