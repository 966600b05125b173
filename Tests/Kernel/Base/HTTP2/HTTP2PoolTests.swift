import Testing

@testable import PawlBase

@Suite struct HTTP2PoolTests {
    private static let start = Instant(nanoseconds: 0)
    private static let timeout = Interval.seconds(30)

    private static func key(_ host: String) -> ConnectionKey {
        let origin = Origin(scheme: .https, host: host, port: 443)
        return ConnectionKey(origin, interface: nil, settings: SettingsID(rawValue: 1), carriesSecrets: false)
    }

    private enum Event: Hashable {
        case place(Int)
        case http2(Int, room: Int)
        case http1(Int)
        case fail(Int)
        case room(Int)
        /// It carries as many as are enough to open another.
        case busy
        case end
        case retire
        case close(isBroken: Bool)
        case needsHTTP1
        case wait(Int64)

        static let all: [Event] =
            [0, 1].flatMap { [.place($0), .http2($0, room: 1), .http1($0), .fail($0)] } + [
                .http2(0, room: 0), .room(2), .busy, .end, .retire, .close(isBroken: false), .close(isBroken: true),
                .needsHTTP1, .wait(2), .wait(700),
            ]
    }

    /// The pool and what a client and its servers know.
    private struct World: Hashable {
        static let keys = [key("near"), key("far")]
        var pool = HTTP2Pool()
        var now = start
        var connecting = [0, 0]
        /// Of those that carry requests, the room.
        var rooms: [HTTP2ConnectionID: Int] = [:]
        var streams: [HTTP2ConnectionID: Int] = [:]
        /// Of each key.
        var mostConnections = [HTTP2Pool.mostConnections, HTTP2Pool.mostConnections]
        var keys: [HTTP2ConnectionID: Int] = [:]
        var retired: Set<HTTP2ConnectionID> = []
        var last: UInt64 = 0

        private var newest: HTTP2ConnectionID? { rooms.keys.max { $0.rawValue < $1.rawValue } }

        private func active(_ index: Int) -> Int {
            rooms.keys.lazy.filter { keys[$0] == index && !retired.contains($0) }.count
        }

        /// Returns the law that is broken.
        mutating func apply(_ event: Event) -> String? {
            switch event {
            case .place(let index): return place(index)
            case .http2(let index, let room):
                guard connecting[index] > 0 else { return nil }
                connecting[index] -= 1
                last += 1
                let id = HTTP2ConnectionID(rawValue: last)
                let isUsed = pool.connected(id, Self.keys[index], room: room, at: now)
                if isUsed != (active(index) < HTTP2Pool.mostConnections) { return "one too many, or none" }
                if isUsed { (rooms[id], streams[id], keys[id]) = (room, 0, index) }
            case .http1(let index):
                guard connecting[index] > 0 else { return nil }
                connecting[index] -= 1
                pool.connectedWithHTTP1(Self.keys[index], at: now)
            case .fail(let index):
                guard connecting[index] > 0 else { return nil }
                connecting[index] -= 1
                let goesOn = pool.failed(Self.keys[index], at: now)
                if goesOn != (active(index) + connecting[index] > 0) {
                    return "a request fails in vain, or waits for nothing"
                }
                if active(index) > 0 { mostConnections[index] = active(index) }
            case .room(let room): change(room, isRetired: false)
            case .busy: change(1, streams: HTTP2Pool.busy, isRetired: false)
            case .end: change(0, isRetired: false)
            case .retire: change(0, isRetired: true)
            case .close(let isBroken):
                guard let id = newest else { return nil }
                pool.closed(id, isBroken: isBroken, at: now)
                (rooms[id], streams[id], keys[id]) = (nil, nil, nil)
                retired.remove(id)
            case .needsHTTP1:
                pool.requiresHTTP1(Self.keys[0], at: now)
                for id in rooms.keys where keys[id] == 0 {
                    rooms[id] = 0
                    retired.insert(id)
                }
                var copy = pool
                if copy.place(Self.keys[0], timeout: timeout, at: now) != .http1 {
                    return "HTTP/2 though it is refused"
                }
            case .wait(let seconds): now = now + .seconds(Double(seconds))
            }
            return nil
        }

        private mutating func change(_ room: Int, streams count: Int = 0, isRetired: Bool) {
            guard let id = newest, !retired.contains(id) else { return }
            (rooms[id], streams[id]) = (room, count)
            if isRetired { retired.insert(id) }
            pool.changed(id, room: room, streams: count, isRetired: isRetired)
        }

        /// Whether a further connection may be opened.
        private func mayConnect(_ index: Int) -> Bool { active(index) + connecting[index] < mostConnections[index] }

        private mutating func place(_ index: Int) -> String? {
            let fitting = streams.filter { keys[$0.key] == index && rooms[$0.key, default: 0] > 0 }
            let idle = fitting.filter { $0.value < HTTP2Pool.busy }
            let carried = streams.reduce(0) { $0 + (keys[$1.key] == index ? $1.value : 0) }
            if active(index) == 0 { mostConnections[index] = HTTP2Pool.mostConnections }
            switch pool.place(Self.keys[index], timeout: timeout, at: now) {
            case .join(let id):
                guard let count = fitting[id] else { return "a connection without room, or of another key" }
                let best = idle.isEmpty ? fitting.values.min() : idle.values.max()
                if count != best { return "not the fullest of those that may carry more, or the emptiest" }
                let room = rooms[id, default: 0] - 1
                (rooms[id], streams[id]) = (room, count + 1)
                pool.changed(id, room: room, streams: count + 1, isRetired: false)
            case .connect:
                if !idle.isEmpty { return "room was not used" }
                if active(index) > 0, !mayConnect(index) { return "one connection too many is opened" }
                if !fitting.isEmpty, carried < HTTP2Pool.busy * (active(index) + connecting[index]) {
                    return "a further connection is opened without need"
                }
                connecting[index] += 1
            case .waitForRoom(let end):
                if !fitting.isEmpty { return "room was not used" }
                if active(index) < mostConnections[index] { return "another connection may be opened" }
                if end <= now || end > now + .seconds(5) { return "waiting without an end" }
                if let deadline = pool.deadline, deadline <= now { return "a time that has passed is due for ever" }
                var copy = pool
                if copy.place(Self.keys[index], timeout: timeout, hasWaited: true, at: now) != .http1 {
                    return "a request that has waited waits on"
                }
            case .wait:
                if !fitting.isEmpty { return "room was not used" }
                if let deadline = pool.deadline, deadline <= now { return "a time that has passed is due for ever" }
                if active(index) > 0 && connecting[index] > 0 { return nil }
                if connecting[index] == 0 { return "nobody will end the waiting" }
                guard let deadline = pool.deadline, deadline <= now + .seconds(3) else {
                    return "waiting without an end"
                }
            case .http1: if !fitting.isEmpty { return "room was not used" }
            }
            return nil
        }
    }

    @Test func `in every reachable state a request joins, connects or waits for something`() {
        var worlds = [World()]
        var ways: [[Event]] = [[]]
        var seen = Set(worlds)
        var next = 0
        while next < worlds.count, worlds.count < 60_000 {
            for event in Event.all {
                var world = worlds[next]
                if let law = world.apply(event) {
                    Issue.record("\(law) after \(ways[next] + [event])")
                    return
                }
                guard seen.insert(world).inserted else { continue }
                worlds.append(world)
                ways.append(ways[next] + [event])
            }
            next += 1
        }
        #expect(worlds.count >= 60_000)
        #expect(worlds.contains { $0.rooms.count > 2 && !$0.retired.isEmpty })
    }

    private func placements(_ pool: inout HTTP2Pool, _ count: Int, at now: Instant = start) -> [HTTP2Pool.Placement] {
        (0..<count).map { _ in pool.place(Self.key("a"), timeout: Self.timeout, at: now) }
    }

    @Test func `the first connections, opened together, tell the protocol, for ten minutes`() {
        var pool = HTTP2Pool()
        same(placements(&pool, 6), [.connect, .connect, .connect, .connect, .wait, .wait])
        #expect(pool.deadline == Self.start + .seconds(3))
        pool.connectedWithHTTP1(Self.key("a"), at: Self.start)
        #expect(pool.deadline == nil)
        same(placements(&pool, 2), [.http1, .http1])
        for _ in 1..<4 { pool.connectedWithHTTP1(Self.key("a"), at: Self.start) }
        let later = Self.start + .seconds(600)
        same(placements(&pool, 5, at: later), [.connect, .connect, .connect, .connect, .wait])
        // A server that does not say it in time: all connect.
        same(placements(&pool, 3, at: later + .seconds(3)), [.connect, .connect, .connect])
    }

    @Test func `one of the first connections that fails lets its request wait for the others`() {
        var pool = HTTP2Pool()
        same(placements(&pool, 5), [.connect, .connect, .connect, .connect, .wait])
        same(pool.failed(Self.key("a"), at: Self.start), true)
        #expect(pool.deadline == Self.start + .seconds(3))
        same(placements(&pool, 2), [.connect, .wait])
        for isLast in [false, false, false, true] { same(pool.failed(Self.key("a"), at: Self.start), !isLast) }
        same(placements(&pool, 1), [.connect])
    }

    @Test func `who waits for another server is not placed again and again`() {
        var pool = HTTP2Pool()
        let late = Self.start + .seconds(4)
        same(placements(&pool, 1), [.connect])
        // Nobody waits for this one's protocol.
        for _ in 0..<4 { same(pool.place(Self.key("slow"), timeout: Self.timeout, at: Self.start), .connect) }
        same(pool.connected(HTTP2ConnectionID(rawValue: 1), Self.key("a"), room: 0, at: Self.start), true)
        same(placements(&pool, 4), [.connect, .connect, .connect, .wait])
        #expect(pool.deadline == Self.start + .seconds(3))
        same(placements(&pool, 1, at: late), [.wait])
        #expect(pool.deadline == nil)
        same(pool.place(Self.key("slow"), timeout: Self.timeout, at: late), .connect)
    }

    @Test func `further connections are opened when all are full, up to four`() {
        var pool = HTTP2Pool()
        let ids = (1...4).map { HTTP2ConnectionID(rawValue: $0) }
        same(placements(&pool, 1), [.connect])
        same(pool.connected(ids[0], Self.key("a"), room: 0, at: Self.start), true)
        same(placements(&pool, 4), [.connect, .connect, .connect, .wait])
        for id in ids[1...] { same(pool.connected(id, Self.key("a"), room: 0, at: Self.start), true) }
        let latest = Self.start + .seconds(5)
        same(placements(&pool, 2), [.waitForRoom(until: latest), .waitForRoom(until: latest)])
        let hasty = pool.place(Self.key("a"), timeout: .seconds(2), at: Self.start)
        #expect(hasty == .waitForRoom(until: Self.start + .milliseconds(600)))
        // It would wait for a response until its timeout.
        #expect(pool.place(Self.key("a"), timeout: Self.timeout, hasWaited: true, at: latest) == .http1)
        pool.changed(ids[0], room: 1, streams: 9, isRetired: false)
        same(placements(&pool, 1), [.join(ids[0])])
        pool.changed(ids[0], room: 0, streams: 9, isRetired: true)
        same(placements(&pool, 1), [.connect])
    }

    @Test func `others are opened beside one that is busy, as many as its requests need`() {
        var pool = HTTP2Pool()
        let ids = (1...3).map { HTTP2ConnectionID(rawValue: $0) }
        same(placements(&pool, 1), [.connect])
        same(pool.connected(ids[0], Self.key("a"), room: 100, at: Self.start), true)
        pool.changed(ids[0], room: 85, streams: 15, isRetired: false)
        same(placements(&pool, 1), [.join(ids[0])])
        pool.changed(ids[0], room: 84, streams: 16, isRetired: false)
        same(placements(&pool, 2), [.connect, .join(ids[0])])
        pool.changed(ids[0], room: 68, streams: 32, isRetired: false)
        same(placements(&pool, 2), [.connect, .join(ids[0])])
        same(pool.connected(ids[1], Self.key("a"), room: 100, at: Self.start), true)
        same(placements(&pool, 1), [.join(ids[1])])
        // A server that takes no third.
        same(pool.failed(Self.key("a"), at: Self.start), true)
        pool.changed(ids[1], room: 68, streams: 32, isRetired: false)
        same(placements(&pool, 1), [.join(ids[0])])
        pool.changed(ids[0], room: 60, streams: 40, isRetired: false)
        same(placements(&pool, 1), [.join(ids[1])])
        for id in ids[..<2] { pool.closed(id, isBroken: false, at: Self.start) }
        same(placements(&pool, 1), [.connect])
        same(pool.failed(Self.key("a"), at: Self.start), false)
    }

    @Test func `two connections that the server breaks one after the other lead to HTTP/1.1`() {
        var pool = HTTP2Pool()
        for (number, isBroken) in [true, false, true, true].enumerated() {
            let id = HTTP2ConnectionID(rawValue: UInt64(number))
            same(placements(&pool, 1), [.connect])
            same(pool.connected(id, Self.key("a"), room: 0, at: Self.start), true)
            pool.closed(id, isBroken: isBroken, at: Self.start)
        }
        same(placements(&pool, 1), [.http1])
    }

    @Test func `what is known of keys is bounded`() {
        var pool = HTTP2Pool()
        for number in 0..<1000 {
            let key = Self.key("\(number)")
            pool.learned(key, mostStreams: 3, at: Self.start + .seconds(Double(number)))
        }
        #expect(pool.mostStreams(Self.key("999")) == 3 && pool.mostStreams(Self.key("700")) == nil)
    }
}
