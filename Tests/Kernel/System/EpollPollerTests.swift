import Glibc
import PawlBase
import PawlSystem
import PawlTestKit
import Testing

@Suite struct EpollPollerTests {
    private let poller: EpollPoller
    private let source: PollSource
    private let pipe: Pipe

    init() throws {
        poller = EpollPoller(clock: SystemClock())
        source = poller.makeSource()
        pipe = try Pipe()
    }

    /// The events of one wait that does not block.
    private func events(of other: PollSource? = nil) -> [PollEvent] {
        poller.wait(until: .past)
        var events: [PollEvent] = []
        poller.takeEvents(of: other ?? source) { events.append($0) }
        return events
    }

    @Test func `what can be read is reported as long as it is there`() {
        #expect(poller.watch(pipe.reader, for: .reading, key: 7, of: source))
        #expect(events().isEmpty)
        pipe.fill()
        let event = PollEvent(key: 7, canRead: true, canWrite: false, hasPeerClosed: false)
        #expect(events() == [event])
        #expect(events() == [event])
        pipe.drain()
        #expect(events().isEmpty)
    }

    @Test func `a change is reported once`() {
        #expect(poller.watch(pipe.reader, for: .changes, key: 7, of: source))
        pipe.fill()
        #expect(events().map(\.canRead) == [true])
        #expect(events().isEmpty)
        pipe.fill()
        #expect(events().map(\.canRead) == [true])
    }

    @Test func `the interest in a descriptor is changed and ended`() {
        #expect(poller.watch(pipe.writer, for: .reading, key: 1, of: source))
        #expect(events().isEmpty)
        #expect(poller.change(pipe.writer, to: .readingAndWriting, key: 2, of: source))
        #expect(events() == [PollEvent(key: 2, canRead: false, canWrite: true, hasPeerClosed: false)])
        poller.unwatch(pipe.writer)
        #expect(events().isEmpty)
    }

    @Test func `the peer's end is reported`() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { close(ends[0]) }
        #expect(poller.watch(ends[0], for: .changes, key: 3, of: source))
        _ = events()
        close(ends[1])
        #expect(events().map(\.hasPeerClosed) == [true])
    }

    @Test func `each source takes its own events once, and the keys of others do not disturb it`() {
        let other = poller.makeSource()
        let highest = UInt64(1) << 56 - 1
        #expect(poller.watch(pipe.reader, for: .reading, key: highest, of: source))
        #expect(poller.watch(pipe.writer, for: .writing, key: highest, of: other))
        pipe.fill()
        poller.wait(until: .past)
        var taken: [[PollEvent]] = []
        for user in [other, source, source, other] {
            var events: [PollEvent] = []
            poller.takeEvents(of: user) { events.append($0) }
            taken.append(events)
        }
        #expect(taken.map { $0.map(\.key) } == [[highest], [highest], [], []])
        #expect(taken[0][0].canWrite && !taken[0][0].canRead)
        #expect(taken[1][0].canRead && !taken[1][0].canWrite)
    }

    @Test func `a descriptor that is closed cannot be watched, and one is watched once`() {
        #expect(poller.watch(pipe.reader, for: .reading, key: 1, of: source))
        #expect(!poller.watch(pipe.reader, for: .reading, key: 1, of: source))
        #expect(errno == EEXIST)
        #expect(!poller.watch(-1, for: .reading, key: 1, of: source))
        #expect(errno == EBADF)
    }

    @Test(arguments: [false, true])
    func `a wait ends by its deadline, by a wake before it, and by one from another thread`(watches: Bool) {
        // Without anything to watch it has no descriptors.
        if watches { #expect(poller.watch(pipe.reader, for: .reading, key: 1, of: source)) }
        poller.wait(until: SystemClock().now + .milliseconds(1))
        poller.wake()
        poller.wait(until: nil)
        let thread = SystemThread.start("wake", poller.wake)
        poller.wait(until: nil)
        thread.join()
        #expect(events().isEmpty, "a wake is no event of a source")
    }

    @Test func `a wake before anything was watched is not lost`() {
        poller.wake()
        #expect(poller.watch(pipe.reader, for: .reading, key: 1, of: source))
        poller.wait(until: nil)
    }

    @Test func `a wake after the poller's end does nothing`() throws {
        var poller: EpollPoller? = EpollPoller(clock: SystemClock())
        let wake = try #require(poller).wake
        poller = nil
        wake()
    }
}

private final class Pipe {
    let reader: Int32
    let writer: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    func fill() { _ = unsafe write(writer, "x", 1) }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = unsafe read(reader, &bytes, bytes.count)
    }
}
