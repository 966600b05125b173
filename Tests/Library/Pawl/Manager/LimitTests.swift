import Pawl
import PawlBase
import PawlQueue
import PawlSystem
import PawlTestKit
import Testing

/// URLs that expire, and limits that change.
@Suite struct LimitTests {
    private let payload = Payload(seed: 980, length: 3_000_000)

    @Test func `A8 a URL of other content is refused and the bytes are kept`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let old = bench.origin.serve("/old", payload) { $0.cut = .stall(from: 2_000_000) }
        let other = bench.origin.serve("/other", Payload(seed: 981, length: 3_000_000))
        let download = try await manager.add(bench.request(old))
        await download.reaches(bytes: 2_000_000)
        try await manager.replaceURL(of: download.id, with: other)
        let error = await #expect(throws: PawlError.self) { try await download.file }
        #expect(error?.code == .cannotResume)
        #expect(bench.root.names == ["old.part", "old.pawl"])
        bench.origin.adjust("/old") { $0.cut = nil }
        try await manager.replaceURL(of: download.id, with: old)
        try await manager.resume(download.id)
        _ = try await download.file
        #expect(bench.root.difference("old", from: payload) == nil)
        #expect(bench.origin.ended("/old").last?.bodyStart ?? 0 > 1_000_000, "only the rest was fetched")
        await manager.shutDown()
    }

    /// A manager that replaces expired URLs by `new`, and those that it was given.
    private func refreshing(_ bench: ManagerBench, to new: String) async throws -> (DownloadManager, Monitor<[String]>)
    {
        let requested = Monitor<[String]>([])
        var configuration = DownloadManager.Configuration()
        configuration.refreshURL = { _, expired in
            requested.with { $0.append(expired) }
            return new
        }
        return (try await bench.open(configuration), requested)
    }

    @Test func `A8 a new URL is requested for an expired one and stored`() async throws {
        let bench = try ManagerBench()
        let new = bench.origin.serve("/new", payload)
        let (manager, requested) = try await refreshing(bench, to: new)
        let expired = bench.origin.url("/expired")
        let download = try await manager.add(bench.request(expired))
        let file = try await download.file
        #expect(FileSystem.difference(of: file.path, from: payload) == nil)
        #expect(requested.read { $0 } == [expired])
        #expect(try await manager.location(ofURL: new) == .finished(path: file.path))
        await manager.shutDown()
    }

    @Test func `A8 the URL of an expired mirror is replaced, and the others stay`() async throws {
        let bench = try ManagerBench()
        let new = bench.origin.serve("/new", payload)
        let (manager, requested) = try await refreshing(bench, to: new)
        let (first, mirror) = (bench.origin.url("/first"), bench.origin.url("/mirror"))
        let download = try await manager.add(bench.request(first) { $0.options.mirrors = [mirror] })
        let file = try await download.file
        #expect(FileSystem.difference(of: file.path, from: payload) == nil)
        #expect(requested.read { $0 } == [mirror])
        #expect(try await manager.details(of: [download.id]).first?.sources == [first, new])
        #expect(try await manager.location(ofURL: first) == .finished(path: file.path))
        await manager.shutDown()
    }

    @Test(arguments: [true, false]) func `A8 the digest in the fragment of a new URL is checked`(
        isRight: Bool
    ) async throws {
        let bench = try ManagerBench()
        let digest = MessageDigest5.digest(payload.bytes).map { isRight ? $0 : ~$0 }
        let new = bench.origin.serve("/new", payload)
        var configuration = DownloadManager.Configuration()
        configuration.refreshURL = { _, _ in "\(new)#md5=\(Hexadecimal.text(digest))" }
        let manager = try await bench.open(configuration)
        let download = try await manager.add(bench.request(bench.origin.url("/expired")))
        if isRight {
            let file = try await download.file
            #expect(file.verification?.level == .given)
            #expect(FileSystem.difference(of: file.path, from: payload) == nil)
        } else {
            let error = await #expect(throws: PawlError.self) { try await download.file }
            #expect(error?.code == .checksumMismatch)
        }
        await manager.shutDown()
    }

    @Test func `numbers that are not positive and groups that are not one line are refused`() async throws {
        let bench = try ManagerBench()
        var configuration = DownloadManager.Configuration()
        configuration.maximumConcurrentDownloads = 0
        let refused = configuration
        #expect(await #expect(throws: PawlError.self) { _ = try await bench.open(refused) }?.code == .badOption)
        let manager = try await bench.open()
        var request = bench.request("http://127.0.0.1:1/f")
        request.start = .paused
        let download = try await manager.add(request)
        request = bench.request("http://127.0.0.1:1/g")
        request.group = "a\nb"
        let grouped = request
        for attempt: @Sendable () async throws -> Void in [
            { try await manager.change(maximumConcurrentDownloads: -1) },
            { try await manager.limit(connectionsPerHost: 0) },
            // The paused groups are stored in lines.
            { try await manager.pause(group: "a\nb") }, { try await manager.change(group: "a\nb", of: download.id) },
            { _ = try await manager.add(grouped) },
        ] { #expect(await #expect(throws: PawlError.self) { try await attempt() }?.code == .badOption) }
        #expect(try await manager.groups().isEmpty)
        await manager.shutDown()
    }

    @Test func `D7 slots and limits persist, unless the next program sets others`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        try await manager.change(maximumConcurrentDownloads: 1)
        try await manager.limit(to: 5000)
        try await manager.change(timetable: "00:00-24:00 1K")
        await manager.shutDown()

        let again = try await bench.open()
        let urls = (0..<2).map { bench.serveStalling("/f\($0)", seed: UInt64(985 + $0)).url }
        let first = try await again.add(bench.request(urls[0]))
        let second = try await again.add(bench.request(urls[1]))
        await first.reaches(bytes: 1)
        #expect(try await again.counts().running == 1)
        #expect(second.snapshot.state == .waiting && first.snapshot.written < 2_000_000)
        try await again.pause(first.id)
        await again.shutDown()

        var configuration = bench.slots(2)
        configuration.timetable = ""
        configuration.rateLimit = 0
        let free = try await bench.open(configuration)
        try await free.resume(first.id)
        #expect(try await free.counts().running == 2)
        for id in [first.id, second.id] {
            // With a limit of 1 KB this would take half an hour.
            await (try #require(try await free.download(withID: id))).reaches(bytes: 2_000_000)
        }
        await free.shutDown()
    }

    @Test func `without its schedule a queue has the limit that was set before`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        try await manager.limit(to: 5000)
        try await manager.change(timetable: "00:00-24:00 1K")
        #expect(try await manager.limits().rateLimit == 1024)
        try await manager.change(timetable: nil)
        #expect(try await manager.limits().rateLimit == 5000)
        await manager.shutDown()
    }

    @Test func `a download stores the first and the last of its URLs`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        var request = bench.request(bench.origin.url("/0"))
        request.start = .paused
        let download = try await manager.add(request)
        for number in 1...40 {
            #expect(try await manager.replaceURL(of: download.id, with: bench.origin.url("/\(number)")))
        }
        let options = try #require(bench.store.all.first?.options)
        let former = options.split(separator: "\n").filter { $0.hasPrefix("former ") }
        #expect(former == ([0] + (25...39)).map { "former \(bench.origin.url("/\($0)"))" })
        await manager.shutDown()
    }

    @Test func `a negative limit is refused, and 0 is none`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let request = bench.request(bench.origin.serve("/f", payload)) {
            $0.options.rateLimit = 2000
            $0.start = .paused
        }
        let download = try await manager.add(request)
        try await manager.limit(to: 5000)
        let one = await #expect(throws: PawlError.self) { try await manager.limit(download.id, to: -1) }
        let all = await #expect(throws: PawlError.self) { try await manager.limit(to: -1) }
        #expect(one?.code == .badOption && all?.code == .badOption)
        #expect(bench.store.all.first?.options.contains("rate 2000") ?? false)
        #expect(try await manager.limits().rateLimit == 5000)
        try await manager.limit(download.id, to: 0)
        try await manager.limit(to: 0)
        #expect(try await manager.limits().rateLimit == nil)
        try await manager.resume(download.id)
        _ = try await download.file
        #expect(bench.root.difference("f", from: payload) == nil)
        await manager.shutDown()
    }

    @Test func `limits are stored, of one download and by the time of day`() async throws {
        let bench = try ManagerBench()
        var configuration = DownloadManager.Configuration()
        configuration.timetable = "nonsense"
        let bad = configuration
        let error = await #expect(throws: PawlError.self) { try await bench.open(bad) }
        #expect(error?.code == .badOption)
        configuration.timetable = "00:00-24:00 1K"
        let manager = try await bench.open(configuration)
        let download = try await manager.add(bench.request(bench.origin.serve("/f", payload)))
        await download.reaches(bytes: 1)
        #expect(try await manager.limit(download.id, to: 2000))
        #expect(bench.store.all.first?.options.contains("rate 2000") ?? false)
        #expect(download.snapshot.written < payload.length)
        try await manager.change(timetable: nil)
        try await manager.limit(download.id, to: nil)
        _ = try await download.file
        #expect(try await manager.limit(Download.ID(rawValue: 1), to: nil) == false)
        await manager.shutDown()
    }

    @Test func `numbers without a meaning are refused or mean none, in configurations and queries`() async throws {
        let bench = try ManagerBench()
        var configuration = DownloadManager.Configuration()
        configuration.rateLimit = -1
        let error = await #expect(throws: PawlError.self) { _ = try await bench.open(configuration) }
        #expect(error?.code == .badOption)
        let manager = try await bench.open()
        _ = try await manager.add(bench.origin.url("/f"), start: .paused)
        for number in [Int.min, -1] {
            #expect(try await manager.waiting(offset: number, limit: number).isEmpty)
            #expect(try await manager.waiting(offset: number, limit: .max).count == 1)
            #expect(try await manager.downloads(offset: number, limit: number).isEmpty)
            #expect(try await manager.downloads(offset: number, limit: .max).count == 1)
        }
        #expect(try await manager.waiting(offset: .max, limit: .max).isEmpty)
        #expect(try await manager.downloads(offset: .max, limit: .max).isEmpty)
        await manager.shutDown()
    }

    @Test func `a query without a limit returns everything`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let requests = (0..<150).map { number in
            var request = DownloadRequest(bench.origin.url("/f\(number)"))
            request.start = .paused
            return request
        }
        let results = try await manager.add(requests)
        #expect(results.count == 150)
        let all = try await manager.downloads().map(\.id)
        #expect(all.count == 150)
        #expect(try await manager.downloads(after: all[9]).map(\.id) == Array(all[10...]))
        #expect(try await manager.waiting().map(\.id) == all)
        #expect(try await manager.downloads(limit: 20).map(\.id) == Array(all[..<20]))
        // 150 ids in 16 groups by their first digit: at least one has ten or more.
        var found: [Download.ID] = []
        for digit in "0123456789abcdef" { found += try await manager.ids(withPrefix: String(digit)) }
        #expect(found == all.sorted { $0.description < $1.description })
        await manager.shutDown()
    }
}
