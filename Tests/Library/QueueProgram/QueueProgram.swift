import Glibc
import Pawl

/// A program that keeps a queue as busy as it can until it is killed.
///
/// usage: QueueProgram ROOT ORIGIN COUNT SEED
///
/// It prints each action before it starts (`adding N`, `removing N`), and after it has returned
/// (`added N`, `removed N`).
@main struct QueueProgram {
    private let manager: DownloadManager
    private let origin: String
    private let count: Int
    private var dice: UInt64
    private var ids: [Int: Download.ID] = [:]

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let count = Int(arguments[3]), let seed = UInt64(arguments[4]) else {
            say("usage: QueueProgram ROOT ORIGIN COUNT SEED")
            exit(28)
        }
        var configuration = DownloadManager.Configuration()
        configuration.maximumConcurrentDownloads = 4
        let manager = try await DownloadManager(root: arguments[1], configuration)
        say("open")
        var program = QueueProgram(manager: manager, origin: arguments[2], count: count, dice: seed)
        while true { try await program.step() }
    }

    private init(manager: DownloadManager, origin: String, count: Int, dice: UInt64) {
        self.manager = manager
        self.origin = origin
        self.count = count
        self.dice = dice
    }

    /// Unbuffered, so that all output was read when the program is killed.
    private static func say(_ text: String) {
        let line = Array((text + "\n").utf8)
        _ = unsafe write(1, line, line.count)
    }

    private mutating func roll(_ sides: Int) -> Int {
        dice = dice &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((dice >> 33) % UInt64(sides))
    }

    private mutating func step() async throws {
        let number = roll(count)
        guard let id = ids[number] else { return try await add(number) }
        switch roll(12) {
        case 0, 1: try await manager.pause(id)
        case 2, 3, 4: try await manager.resume(id)
        case 5, 6: try await manager.start(now: id)
        case 7: try await manager.change(priority: roll(3), of: id)
        case 8: try await manager.move(id, to: .index(roll(count)))
        case 9: try await manager.change(maximumConcurrentDownloads: 1 + roll(6))
        case 10 where roll(2) == 0: try await manager.pause(group: "some")
        case 10: try await manager.resume(group: "some")
        default: try await remove(number, id)
        }
    }

    private mutating func add(_ number: Int) async throws {
        var request = DownloadRequest("\(origin)/f\(number)")
        request.options.retries = 100
        request.options.retryDelay = .milliseconds(10)
        request.start = DownloadRequest.Start.allCases[roll(3)]
        request.priority = roll(3)
        request.group = roll(4) == 0 ? "some" : nil
        Self.say("adding \(number)")
        ids[number] = try await manager.add(request).id
        Self.say("added \(number)")
    }

    private mutating func remove(_ number: Int, _ id: Download.ID) async throws {
        guard number.isMultiple(of: 5) else { return }
        Self.say("removing \(number)")
        try await manager.remove(id)
        Self.say("removed \(number)")
        ids[number] = nil
    }
}
