import Pawl
import PawlTestKit
import Testing

/// Long queues.
@Suite struct QueueScaleTests {
    /// In a separate process: other tests use memory as well.
    @Test func `many thousand downloads wait in little memory, and a page of them is read quickly`() async {
        await #expect(processExitsWith: .success) { try await fillQueue() }
    }
}

private func fillQueue() async throws {
    let folder = try TemporaryFolder()
    let manager = try await DownloadManager(root: folder.path)
    // Temporary memory of adding, and the choice of the heap, are paid by the first of them.
    var before = 0
    for batch in 0..<6 {
        let requests = (0..<10_000).map { number in
            var request = DownloadRequest("http://127.0.0.1:9/path/of/some/length/\(batch)/file-\(number).bin")
            request.start = .paused
            return request
        }
        let results = try await manager.add(requests)
        #expect(Set(results.compactMap { try? $0.get() }).count == 10_000)
        if batch == 0 { before = resident() }
    }
    let each = (resident() - before) / 50_000
    // A sanitizer's own memory is many times that of the program.
    if !Sanitizer.isOn { #expect(each <= 1024, "\(each) bytes each") }
    let page = try await manager.downloads(offset: 30_000, limit: 100)
    #expect(page.count == 100)
    #expect(try await manager.totals().count == 60_000)
    await manager.shutDown()
    let again = try await DownloadManager(root: folder.path)
    #expect(try await again.totals().count == 60_000)
    await again.shutDown()
}

/// Memory of this process in bytes.
private func resident() -> Int {
    let status = FileSystem.contents("/proc/self/statm") ?? []
    let fields = String(decoding: status, as: UTF8.self).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
}
