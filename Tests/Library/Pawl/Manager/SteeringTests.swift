import Glibc
import Pawl
import PawlBase
import PawlHTTP
import PawlQueue
import PawlTestKit
import Testing

/// Commands for several downloads, given by the first digits of their ids.
@Suite struct `Steering of several downloads` {
    @Test func `every download that is found is commanded, and the result says what changed`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let urls = ["/a", "/b"].map { bench.origin.serve($0, Payload(seed: 11, length: 1000)) }
        let paused = try await manager.add(bench.request(urls[0]) { $0.start = .paused }).id
        let other = try await manager.add(bench.request(urls[1]) { $0.start = .paused }).id
        let texts = [paused.description, other.description.uppercased()]
        let resumed = try #require(try await manager.steer(texts) { try $0.perform(.resume($1)).isChange }.results)
        #expect(resumed.map(\.id) == [paused, other] && resumed.map(\.value) == [true, true])
        for id in [paused, other] { _ = try await manager.download(withID: id)?.file }
        let stopped = try #require(try await manager.steer(texts) { try $0.perform(.pause($1)).isChange }.results)
        #expect(stopped.map(\.id) == [paused, other] && stopped.map(\.value) == [false, false])
        #expect(bench.root.names == ["a", "b"])
        await manager.shutDown()
    }

    @Test func `a resumed download with a slot is running at once, before its engine has begun it`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, _) = bench.serveStalling("/f", seed: 96)
        let download = try await manager.add(bench.request(url) { $0.start = .paused })
        let text = download.id.description
        let states = try #require(
            try await manager.steer([text]) { step, id in
                try step.perform(.resume(id))
                return try step.snapshot(of: id)?.state
            }.results)
        #expect(states.map(\.value) == [.probing])
        // Stopping and starting again within one step as well.
        await download.reaches(bytes: 1_000_000)
        let again = try #require(
            try await manager.steer([text]) { step, id in
                try step.perform(.pause(id))
                let paused = try step.snapshot(of: id)?.state
                try step.perform(.resume(id))
                return [paused, try step.snapshot(of: id)?.state]
            }.results)
        #expect(again[0].value[0] == .paused && again[0].value[1]?.isFinal == false)
        #expect(![.paused, .waiting].contains(again[0].value[1]))
        bench.origin.release("/f")
        await manager.shutDown()
    }

    @Test func `nothing is commanded when one of them is unknown or ambiguous`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        var ids: [Download.ID] = []
        // Of 17 ids two begin with the same digit.
        for number in 0..<17 {
            let url = bench.origin.serve("/\(number)", Payload(seed: 12, length: 1000))
            ids.append(try await manager.add(bench.request(url) { $0.start = .paused }).id)
        }
        let known = ids[0].description
        let first = ids.map { String($0.description.prefix(1)) }
        let digit = try #require(first.first { digit in first.count { $0 == digit } > 1 })
        #expect(try await manager.refusal([known, digit]) == digit)
        #expect(try await manager.refusal([known, ""])?.isEmpty == true)
        #expect(try await manager.refusal([known, "no hexadecimal"]) == "no hexadecimal")
        #expect(try await manager.snapshot(of: ids[0])?.state == .paused)
        await manager.shutDown()
    }

    @Test func `a step that removes downloads ends when their files are gone`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        var texts: [String] = []
        for name in ["/a", "/b"] {
            let url = bench.origin.serve(name, Payload(seed: 13, length: 1000))
            let download = try await manager.add(bench.request(url))
            _ = try await download.file
            texts.append(download.id.description)
        }
        let removed = try #require(try await manager.steer(texts) { try $0.perform(.remove($1)).isChange }.results)
        #expect(removed.map(\.value) == [true, true])
        #expect(bench.root.names == [])
        #expect(try await manager.refusal([texts[0]]) == texts[0])
        await manager.shutDown()
    }

    @Test(
        arguments: [
            { (options: inout DownloadOptions) in options.checksum = "md5=" + String(repeating: "0", count: 32) },
            { (options: inout DownloadOptions) in options.range = "0-9" },
        ] as [@Sendable (inout DownloadOptions) -> Void])
    func `a checksum or range that is set when all bytes have arrived is not ignored`(
        change: @Sendable (inout DownloadOptions) -> Void
    ) async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, payload) = bench.serveStalling("/f", seed: 15)
        let download = try await manager.add(bench.request(url))
        await bench.origin.holds("/f")
        var options = try #require(try await manager.details(of: [download.id]).first?.options)
        change(&options)
        // While the queue waits, the file cannot be published.
        _ = try await manager.steer([download.id.description]) { [options] step, id in
            bench.origin.adjust("/f") { $0.cut = nil }
            bench.origin.release("/f")
            _ = bench.origin.waitUntilQuiet("/f")
            while download.snapshot.written < payload.length { sched_yield() }
            return try step.perform(.options(id, options)).isChange
        }
        let file = try? await download.file
        #expect(file == nil || file?.length == 10)
        await manager.shutDown()
    }

    @Test(arguments: [true, false])
    func `a URL that is set when all bytes have arrived does not get another one's file`(isHashed: Bool) async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let (url, payload) = bench.serveStalling("/f", seed: 15)
        let other = Payload(seed: 17, length: payload.length)
        let replacement = bench.origin.serve("/g", other)
        let download = try await manager.add(bench.request(url) { $0.options.storesAttributes = isHashed })
        await bench.origin.holds("/f")
        // While the queue waits, the file cannot be published.
        _ = try await manager.steer([download.id.description]) { step, id in
            bench.origin.adjust("/f") { $0.cut = nil }
            bench.origin.release("/f")
            _ = bench.origin.waitUntilQuiet("/f")
            while download.snapshot.written < payload.length { sched_yield() }
            return try step.perform(.replaceURL(id, replacement))
        }
        await #expect(throws: PawlError.self) { try await download.file }
        await manager.shutDown()
    }

    @Test func `a checksum that is set while the file is published is not forgotten by a kill`() async throws {
        let bench = try ManagerBench()
        let manager = try await bench.open()
        let wrong = "md5=" + String(repeating: "0", count: 32)
        for number in 0..<200 {
            let url = bench.origin.serve("/\(number)", Payload(seed: 16, length: 10_000))
            let download = try await manager.add(bench.request(url))
            // A step comes between the record of the name and that of the end only by chance.
            let isChanged = try await bench.change(download, of: manager) { $0.checksum = wrong }
            _ = try? await download.file
            guard isChanged else { continue }
            await manager.shutDown()
            // The queue as a kill would have left it.
            bench.store.fail(with: nil)
            let next = try await bench.open()
            let again = try #require(try await next.download(withID: download.id))
            try await next.resume(download.id)
            await #expect(throws: PawlError.self) { try await again.file }
            await next.shutDown()
            return
        }
        Issue.record("no step came in between")
    }

    @Test func `an error of a step ends it and keeps what was done before`() async throws {
        struct Refusal: Error {}
        let bench = try ManagerBench()
        let manager = try await bench.open()
        var ids: [Download.ID] = []
        for name in ["/a", "/b"] {
            let url = bench.origin.serve(name, Payload(seed: 14, length: 1000))
            ids.append(try await manager.add(bench.request(url) { $0.start = .paused }).id)
        }
        let last = ids[1]
        await #expect(throws: Refusal.self) {
            _ = try await manager.steer(ids.map(\.description)) { step, id in
                guard id != last else { throw Refusal() }
                return try step.perform(.limit(id, 1000))
            }
        }
        await #expect(throws: PawlError.self) {
            _ = try await manager.steer([last.description]) { try $0.perform(.limit($1, -1)) }
        }
        let details = try await manager.details(of: ids)
        #expect(details.map(\.options.rateLimit) == [1000, nil])
        await manager.shutDown()
    }
}

extension SteeringResult {
    fileprivate var results: [(id: Download.ID, value: Value)]? {
        guard case .done(let results) = self else { return nil }
        return results
    }
}

extension ManagerBench {
    /// Changes the options once the name of the finished file is stored, and nothing is written afterwards; `false` if the
    /// end was reported before.
    fileprivate func change(
        _ download: Download, of manager: DownloadManager, _ change: @escaping @Sendable (inout DownloadOptions) -> Void
    ) async throws -> Bool {
        let name = String(download.snapshot.source.split(separator: "/").last ?? "")
        var isChanged: Bool?
        while isChanged == nil {
            let steered = try await manager.steer([download.id.description]) { [store, root] step, id -> Bool? in
                let record = store.record(QueueID(rawValue: id.rawValue))
                guard let record, record.state == .waiting else { return false }
                guard record.name != nil, record.written == record.total else { return nil }
                while !root.names.contains(name) { sched_yield() }
                var options = DownloadOptions()
                change(&options)
                // Its end may have been reported, and not be stored yet.
                guard try step.perform(.options(id, options)).isChange else { return false }
                // This change is still written.
                store.fail(with: Failure(.unknown, "cannot write", at: "the queue", because: "a test"), after: 1)
                return true
            }
            isChanged = steered.results?.first?.value
        }
        return isChanged ?? false
    }
}

extension DownloadManager {
    /// The digits for which nothing is resumed.
    fileprivate func refusal(_ texts: [String]) async throws -> String? {
        switch try await steer(texts, { try $0.perform(.resume($1)).isChange }) {
        case .done: nil
        case .missing(let text), .ambiguous(let text): text
        }
    }
}
