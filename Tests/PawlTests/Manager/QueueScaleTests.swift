import Pawl
import PawlTestKit
import Testing

/// Long queues; times are told and not tested, since they are this machine's.
@Suite struct QueueScaleTests {
    /// In a process of its own: other tests take memory as well.
    @Test func `many thousand downloads wait in little memory, and a page of them is at hand`() async {
        await #expect(processExitsWith: .success) { try await fillQueue() }
    }
}

private func fillQueue() async throws {
    let folder = try TemporaryFolder()
    let clock = ContinuousClock()
    let manager = try await DownloadManager(root: folder.path)
    var times: [Duration] = []
    var each = Int.max
    for batch in 0..<3 {
        let requests = (0..<10_000).map { number in
            var request = DownloadRequest("http://127.0.0.1:9/path/of/some/length/\(batch)/file-\(number).bin")
            request.start = .paused
            return request
        }
        let (before, start) = (resident(), clock.now)
        let answers = try await manager.add(requests)
        times.append(clock.now - start)
        each = min(each, (resident() - before) / 10_000)
        #expect(Set(answers.compactMap { try? $0.get() }).count == 10_000)
    }
    // A sanitizer's own memory is many times what it watches.
    if !Sanitizer.isOn { #expect(each <= 1024, "\(each) bytes each") }
    let pages = clock.now
    let page = try await manager.downloads(offset: 15_000, limit: 100)
    let pageTime = clock.now - pages
    #expect(page.count == 100)
    #expect(try await manager.totals().count == 30_000)
    await manager.shutDown()
    let opening = clock.now
    let again = try await DownloadManager(root: folder.path)
    let openTime = clock.now - opening
    #expect(try await again.totals().count == 30_000)
    await again.shutDown()
    print(
        "queue of 30,000: \(each) bytes each; 10,000 added in \(times.min()!)…\(times.max()!);",
        "page of 100 at 15,000 in \(pageTime); opened in \(openTime)"
    )
}

/// Bytes of this process in memory.
private func resident() -> Int {
    let status = FileSystem.contents("/proc/self/statm") ?? []
    let fields = String(decoding: status, as: UTF8.self).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
}
