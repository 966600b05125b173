import Testing

@testable import PawlBase
@testable import PawlQueue
@testable import PawlSystem

@Suite struct DiskWaitsTests {
    /// The waits of some disks, and the time.
    private struct Bench {
        var waits = DiskWaits()
        var now = Instant(nanoseconds: 0)
        var dice = Dice(seed: 1)
        var rooms: [UInt64: DiskRoom?] = [:]
        var devices: [QueueID: UInt64] = [:]
        /// What has the place of a disk that went away.
        var mounted: [UInt64: UInt64] = [:]

        mutating func add(_ number: UInt64, device: UInt64? = 1, needed: Int64? = nil) {
            let failure = Failure(.diskFull, "cannot write", at: "/f\(number)", because: "it is full")
            devices[Self.id(number)] = device
            waits.add(Self.id(number), DiskWaits.Cause(failure, device: device, needed: needed), now: now, dice: &dice)
        }

        mutating func look(after seconds: Double = 0) -> [UInt64] {
            now = now + .seconds(seconds)
            let (rooms, devices, mounted) = (rooms, devices, mounted)
            return waits.trials(now: now) { id in
                guard let device = devices[id], var room = rooms[device] ?? nil else { return nil }
                room.device = mounted[device] ?? device
                return room
            }.map(\.rawValue)
        }

        static func id(_ number: UInt64) -> QueueID { QueueID(rawValue: number) }
        static func room(_ bytes: Int64) -> DiskRoom { DiskRoom(device: 1, bytes: bytes) }
    }

    @Test func `one is tried when the disk reports room, and the others follow when it got further`() {
        var bench = Bench()
        for number in 1...3 as ClosedRange<UInt64> { bench.add(number) }
        bench.add(4, device: 2)
        (bench.rooms[1], bench.rooms[2]) = (Bench.room(0), Bench.room(0))
        #expect(bench.look(after: 100).isEmpty)
        bench.rooms[1] = Bench.room(1 << 20)
        #expect(bench.look() == [1] && bench.look(after: 100).isEmpty)
        #expect(bench.waits.succeeded(Bench.id(1)).map(\.rawValue) == [2, 3])
        #expect(bench.waits.all.map(\.rawValue) == [4])
    }

    @Test func `another disk in the place of one that went away is no room`() {
        var bench = Bench()
        bench.add(1)
        bench.rooms[1] = Bench.room(1 << 30)
        bench.mounted[1] = 7
        #expect(bench.look(after: 100).isEmpty)
        bench.mounted[1] = nil
        #expect(bench.look(after: 10) == [1])
    }

    @Test(arguments: [
        DiskRoom(device: 1, bytes: 100), DiskRoom(device: 1, bytes: 1 << 40, files: 0),
        DiskRoom(device: 1, bytes: 1 << 40, isReadOnly: true),
    ]) func `without bytes, files or the right to write nothing is tried`(room: DiskRoom) {
        var bench = Bench()
        bench.add(1)
        bench.rooms[1] = room
        #expect(bench.look(after: 1000).isEmpty)
    }

    @Test func `a large file is tried when there is room for what it needs, others before`() {
        var bench = Bench()
        bench.add(1, needed: 10 << 30)
        bench.add(2)
        bench.rooms[1] = Bench.room(1 << 30)
        #expect(bench.look(after: 100) == [2])
        #expect(bench.waits.succeeded(Bench.id(2)).map(\.rawValue) == [1])
    }

    @Test func `where the disk reports room in vain attempts become rarer, and each has its turn`() {
        var bench = Bench()
        bench.rooms[1] = Bench.room(1 << 30)
        bench.add(1)
        bench.add(2)
        var tried: [UInt64] = []
        for _ in 0..<600 {
            for number in bench.look(after: 2) {
                tried.append(number)
                bench.add(number)
            }
        }
        #expect((20...60).contains(tried.count), "in 1,200 s")
        #expect(Set(tried.suffix(2)) == [1, 2])
    }

    @Test func `who waits for a folder runs when it is there again, and hinders nobody`() {
        var bench = Bench()
        bench.add(1, device: nil)
        bench.add(2)
        #expect(bench.look(after: 100) == [2])
        #expect(bench.waits.obstacle(to: Bench.id(9), on: 1) == nil)
        #expect(bench.waits.returned { _ in false }.isEmpty)
        #expect(bench.waits.returned { _ in true }.map(\.rawValue) == [1])
        #expect(bench.waits.all.map(\.rawValue) == [2])
        bench.add(3, device: nil)
        #expect(bench.waits.succeeded(Bench.id(3)).isEmpty && bench.waits.all.map(\.rawValue) == [2])
    }

    @Test func `a disk whose room is not known is tried`() {
        var bench = Bench()
        bench.add(1)
        #expect(bench.look(after: 10) == [1])
    }

    @Test func `others are hindered while no file can be written, and not by a large one`() {
        var bench = Bench()
        bench.add(1, needed: 10 << 30)
        #expect(bench.waits.obstacle(to: Bench.id(9), on: 1) == nil)
        bench.add(2)
        #expect(bench.waits.obstacle(to: Bench.id(9), on: 1) != nil)
        #expect(bench.waits.obstacle(to: Bench.id(9), on: 2) == nil)
        bench.waits.tryNow(Bench.id(2))
        #expect(bench.waits.obstacle(to: Bench.id(2), on: 1) == nil)
        bench.waits.remove(Bench.id(2))
        #expect(bench.waits.obstacle(to: Bench.id(9), on: 1) == nil)
        #expect(bench.waits.endAll().map(\.rawValue) == [1] && bench.waits.isEmpty)
    }
}
