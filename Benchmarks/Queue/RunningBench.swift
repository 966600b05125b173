import Glibc
import Pawl
import Synchronization

/// Many downloads that run at once and get a thousand bytes now and then: the CPU time of each portion of bytes.
///
/// The server (`trickle`) sends the same number of portions a second whatever the number of downloads is: a cost that
/// grows with the number is one of going over all of them.
struct RunningBench {
    /// Sixteen downloads of each host, as many as have a connection of HTTP/1.1.
    private static let ofHost = 16
    private static let portion: Int64 = 1000

    let port: Int
    let count: Int
    let folder: String

    func measure(_ seconds: Int) async throws {
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrentDownloads = count
        let downloader = Downloader(configuration)
        var downloads: [Download] = []
        for index in 0..<count {
            let host = index / Self.ofHost
            var options = DownloadOptions()
            (options.folder, options.connections) = (folder, 1)
            let url = "http://127.\(host / 250).\(host % 250).1:\(port)/\(index).bin"
            downloads.append(try downloader.add(url, options: options))
        }
        for download in downloads { download.resume() }
        while downloads.contains(where: { $0.snapshot.written == 0 }) { try await Task.sleep(for: .milliseconds(200)) }
        let clock = ContinuousClock()
        let (start, began) = (Self.processorTime, clock.now)
        let before = downloads.reduce(0) { $0 + $1.snapshot.written }
        try await Task.sleep(for: .seconds(seconds))
        let (cost, duration) = (Self.processorTime - start, clock.now - began)
        let portions = (downloads.reduce(0) { $0 + $1.snapshot.written } - before) / Self.portion
        let each = Double(cost) / Double(max(1, portions))
        let rate = Double(portions) / (duration / .seconds(1))
        print("\(count) running: \(Int(rate)) portions/s, \(Int(each * 10) / 10) µs of CPU time each")
        await downloader.shutDown()
    }

    /// Of this process in microseconds.
    private static var processorTime: Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
