import Glibc
import PawlTestKit
import Synchronization
import Testing

@testable import PawlBase
@testable import PawlReach

@Suite(.enabled(if: NetworkNamespace.isAvailable, "needs root, network namespaces and iproute2"))
struct `Reachability in a separate network` {
    private typealias Space = NetworkNamespace

    @Test func `an empty network and one with loopback only are offline`() {
        let states = Space.run {
            let reach = NetlinkReachability()
            let empty = reach.isOnline
            let worked = Space.shell("ip link set lo up")
            return [empty, worked, reach.isOnline]
        }
        #expect(states == [false, true, false])
    }

    @Test func `link-local routes alone are offline, an address makes it online`() {
        let states: [Bool]? = Space.run {
            let reach = NetlinkReachability()
            guard let news = NetlinkSocket(groups: NetlinkSocket.networkChanges) else { return [] }
            let made = Space.shell(Space.makePair)
            let linkLocal = waitForLinkLocalRoute(news)
            let before = reach.isOnline
            let added = Space.shell("ip addr add 192.0.2.1/24 dev pawl0")
            return [made, linkLocal, before, added, reach.isOnline]
        }
        #expect(states == [true, true, false, true, true])
    }

    /// The kernel adds the route when it has noticed the cable, which is after the command that plugged it in.
    private func waitForLinkLocalRoute(_ news: borrowing NetlinkSocket) -> Bool {
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        unsafe setsockopt(news.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferLength)
        while !Space.shell("ip -6 route show | grep fe80") {
            guard case .datagram = news.receive(into: &buffer, waiting: true) else { return false }
        }
        return true
    }

    @Test func `D4 every change is reported once and in order, until stop`() {
        let reported = Space.run {
            let reach = NetlinkReachability()
            let heard = Announcements()
            reach.start { heard.add($0) }
            reach.start { _ in heard.add(false) }
            var states: [Bool?] = [reach.isOnline, heard.pending()]
            for step in [
                "\(Space.makePair) && ip addr add 192.0.2.1/24 dev pawl0", "ip link set pawl1 down",
                "ip link set pawl1 up", "ip link set pawl0 down", "ip link set pawl0 up",
                "ip addr flush dev pawl0 scope global", "ip -6 addr add 2001:db8::1/64 dev pawl0 nodad",
                "ip link del pawl0",
            ] { states.append(Space.shell(step) ? heard.next() : nil) }
            reach.stop()
            reach.stop()
            Space.shell("\(Space.makePair) && ip addr add 192.0.2.1/24 dev pawl0")
            return states + [heard.pending(), reach.isOnline]
        }
        #expect(reported == [false, nil, true, false, true, false, true, false, true, false, nil, true])
    }

    @Test func `D5 a caller that read offline before start is notified when the network came meanwhile`() {
        let reported: [Bool?]? = Space.run {
            let reach = NetlinkReachability()
            let heard = Announcements()
            let before = reach.isOnline
            Space.shell("\(Space.makePair) && ip addr add 192.0.2.1/24 dev pawl0")
            reach.start { heard.add($0) }
            return [before, heard.next(), reach.isOnline]
        }
        #expect(reported == [false, true, true])
    }

    @Test func `stopping inside the handler ends the watching`() {
        let reported: [Bool?]? = Space.run {
            let reach = NetlinkReachability()
            let heard = Announcements()
            reach.start {
                reach.stop()
                heard.add($0)
            }
            Space.shell("\(Space.makePair) && ip addr add 192.0.2.1/24 dev pawl0")
            let first = heard.next()
            Space.shell("ip link del pawl0")
            return [first, reach.isOnline, heard.pending()]
        }
        #expect(reported == [true, false, nil])
    }

    @Test func `starting again after stop watches again`() {
        let reported: [Bool?]? = Space.run {
            let reach = NetlinkReachability()
            let heard = Announcements()
            reach.start { heard.add($0) }
            reach.stop()
            reach.start { heard.add($0) }
            Space.shell("\(Space.makePair) && ip addr add 192.0.2.1/24 dev pawl0")
            return [heard.next()]
        }
        #expect(reported == [true])
    }

    @Test func `notifications that the kernel dropped are noticed and reading continues`() {
        let seen: [Bool]? = Space.run {
            guard let socket = NetlinkSocket(groups: NetlinkSocket.networkChanges) else { return [] }
            var smallest: CInt = 1
            unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &smallest, socklen_t(MemoryLayout<CInt>.size))
            let made = Space.shell(
                "\(Space.makePair); for i in $(seq 50); do ip addr add 192.0.2.$i/32 dev pawl0; done")
            let first = drain(socket)
            let more = Space.shell("ip link del pawl0")
            let second = drain(socket)
            return [made, first.overflows > 0, first.datagrams > 0, more, second.datagrams > 0]
        }
        #expect(seen == [true, true, true, true, true])
    }

    /// Reads until no message is left; returns the number read.
    private func drain(_ socket: borrowing NetlinkSocket) -> (datagrams: Int, overflows: Int) {
        var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferLength)
        var counts = (datagrams: 0, overflows: 0)
        while true {
            switch socket.receive(into: &buffer, waiting: false) {
            case .datagram: counts.datagrams += 1
            case .overflow: counts.overflows += 1
            case .nothing, .failed: return counts
            }
        }
    }
}

@Suite struct `Reachability and its thread` {
    private final class Token: Sendable {}

    @Test func `stop returns when the thread has released the handler`() {
        let reach = NetlinkReachability()
        weak var held: Token?
        do {
            let token = Token()
            held = token
            reach.start { _ in withExtendedLifetime(token) {} }
        }
        #expect(held != nil)
        reach.stop()
        #expect(held == nil)
    }

    @Test func `releasing the last reference ends the thread`() {
        weak var held: Token?
        do {
            let reach = NetlinkReachability()
            let token = Token()
            held = token
            reach.start { _ in withExtendedLifetime(token) {} }
            withExtendedLifetime(reach) {}
        }
        #expect(held == nil)
    }

    @Test func `stop without start does nothing`() {
        let reach = NetlinkReachability()
        reach.stop()
        reach.stop()
        #expect(reach.isOnline == NetlinkReachability().isOnline)
    }
}
