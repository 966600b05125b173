import Glibc
import Pawl

/// A long queue: how long adding takes, how long a page at any depth, and how much memory each download.
///
/// usage: QueueBench FOLDER    the queue is made in it
///        QueueBench FOLDER PORT COUNT SECONDS    see ``RunningBench``
@main
enum QueueBench {
    private static let batches = 10
    private static let batch = 10_000
    private static let page = 100
    private static let orderings: [(String, DownloadOrdering)] = [
        ("turn", .turn), ("newest first", .added(newestFirst: true)), ("name", .name),
    ]

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 5, let port = Int(arguments[2]), let count = Int(arguments[3]), let seconds = Int(arguments[4]) {
            return try await RunningBench(port: port, count: count, folder: arguments[1]).measure(seconds)
        }
        guard arguments.count == 2 else {
            print("usage: QueueBench FOLDER [PORT COUNT SECONDS]")
            exit(2)
        }
        let folder = arguments[1]
        let manager = try await DownloadManager(root: folder)
        let empty = resident()
        var longest = Duration.zero
        for number in 0..<batches {
            let requests = requests(number)
            let duration = try await ContinuousClock().measure { _ = try await manager.add(requests) }
            longest = max(longest, duration)
        }
        let memory = Double(resident() - empty) / Double(batches * batch)
        report("adding 10,000 in one call, the longest of 10", text(longest), holds: longest < .seconds(2))
        report("memory for each of 100,000", "\(Int(memory)) bytes", holds: memory <= 1024)
        var places: [Duration] = []
        for depth in stride(from: 0, to: batches * batch, by: page) {
            places.append(try await timed { try await manager.waiting(offset: depth, limit: page) }.1)
        }
        report("a page of 100 of the line, by its index", places)
        for (name, ordering) in orderings { try await pages(name, ordering, manager) }
        await manager.shutDown()
        let reopening = try await ContinuousClock().measure {
            await (try DownloadManager(root: folder)).shutDown()
        }
        print("opening and closing that queue: \(text(reopening))")
    }

    private static func requests(_ number: Int) -> [DownloadRequest] {
        (0..<batch).map { index in
            var request = DownloadRequest(
                "http://127.0.0.1:9/path/of/some/length/\(number)/file-\(index).bin"
            )
            request.options.fileName = "file-\(number)-\(index).bin"
            request.start = .paused
            return request
        }
    }

    /// Pages as a list is read, each behind the last one; and pages that others were passed over for.
    private static func pages(
        _ name: String,
        _ ordering: DownloadOrdering,
        _ manager: DownloadManager
    ) async throws {
        var following: [Duration] = []
        var last: Download.ID?
        for _ in 0..<(batches * batch / page) {
            let (found, duration) = try await timed {
                if let last {
                    try await manager.downloads(by: ordering, after: last, limit: page)
                } else {
                    try await manager.downloads(by: ordering, limit: page)
                }
            }
            guard found.count == page else { fatalError("\(found.count) of \(page)") }
            last = found.last?.id
            following.append(duration)
        }
        report("a page of 100 by \(name), behind the last one", following)
        var passing: [Duration] = []
        for depth in stride(from: 0, to: batches * batch, by: 10 * page) {
            let (_, duration) = try await timed {
                try await manager.downloads(by: ordering, offset: depth, limit: page)
            }
            passing.append(duration)
        }
        report("a page of 100 by \(name), by its offset", passing)
    }

    /// The best of three: what disturbs a run only adds to it.
    private static func timed<Value>(_ work: () async throws -> Value) async rethrows -> (Value, Duration) {
        let first = ContinuousClock.now
        var value = try await work()
        var best = first.duration(to: .now)
        for _ in 0..<2 {
            let start = ContinuousClock.now
            value = try await work()
            best = min(best, start.duration(to: .now))
        }
        return (value, best)
    }

    private static func report(_ what: String, _ durations: [Duration]) {
        let sorted = durations.sorted()
        let middle = sorted[sorted.count / 2]
        let longest = sorted[sorted.count - 1]
        report(what, "p50 \(text(middle)), longest \(text(longest))", holds: longest < .milliseconds(10))
    }

    private static func text(_ duration: Duration) -> String {
        let tenths = duration / .milliseconds(0.1)
        return "\(tenths.rounded() / 10) ms"
    }

    private static func report(_ what: String, _ figure: String, holds: Bool) {
        print("\(what): \(figure)\(holds ? "" : "  FALLS SHORT")")
    }

    /// Bytes of this process in memory.
    private static func resident() -> Int {
        guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = unsafe fread(&text, 1, text.count, file)
        let fields = String(decoding: text[..<count], as: UTF8.self).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
    }
}
