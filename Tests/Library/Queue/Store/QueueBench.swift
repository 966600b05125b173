import PawlTestKit
import Synchronization
import Testing

@testable import PawlBase
@testable import PawlQueue
@testable import PawlStore

/// A folder with a queue in it, and its notices.
final class QueueBench {
    let folder: TemporaryFolder
    private let notices = Notices()

    private final class Notices: Sendable { let said = Mutex<[String]>([]) }

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path(".pawl/queue.sqlite") }
    var said: [String] { notices.said.withLock { $0 } }
    /// The content of the queue's own folder.
    var files: [String] { FileSystem.names(in: folder.path(".pawl")) }

    func open(_ steps: [Migration] = Migration.all, asGuest: Bool = false) throws(Failure) -> QueueDatabase {
        // The folder stays until the database is closed.
        try QueueDatabase(at: path, steps: steps, asGuest: asGuest) { [notices, folder] notice in
            withExtendedLifetime(folder) { notices.said.withLock { $0.append(notice) } }
        }
    }
}

/// A record that differs from that of every other number.
func record(_ number: Int, _ change: (inout QueueRecord) -> Void = { _ in }) -> QueueRecord {
    var record = QueueRecord(
        id: QueueID(rawValue: UInt64(number) &* 0x9E37_79B9_7F4A_7C15),
        sources: ["https://origin.example/files/\(number).bin"],
        addedAt: UnixTime(seconds: 1_700_000_000 + Int64(number)))
    record.position = Double(number)
    change(&record)
    return record
}

/// Bytes without a repeating window.
func payload(_ count: Int) -> [UInt8] {
    var dice = Dice(seed: UInt64(count))
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
}
