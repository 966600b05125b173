import PawlBase
import PawlQueue

/// The mapping of a record to a row of `downloads`.
enum RecordRow {
    private static let columns = [
        "id", "options", "family", "priority", "position", "state", "folder", "name", "type", "written", "total",
        "added", "started", "ended", "code", "error", "description",
    ]

    /// Inserts or replaces; the number stays.
    static let put: String = {
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let changes = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return """
            INSERT INTO downloads (\(columns.joined(separator: ", "))) VALUES (\(places))
            ON CONFLICT (id) DO UPDATE SET \(changes) RETURNING number
            """
    }()

    /// The number, then the columns.
    static let select = "SELECT number, \(columns.joined(separator: ", ")) FROM downloads"

    static func values(of record: QueueRecord) -> [DatabaseValue] {
        [
            .integer(record.id.stored), .text(record.options), .text(record.group), .integer(Int64(record.priority)),
            .real(record.position), .integer(Int64(record.state.stored)), .text(record.folder),
            .optional(record.name), .optional(record.contentType), .integer(record.written), .optional(record.total),
            .integer(record.addedAt.seconds), .optional(record.startedAt?.seconds), .optional(record.endedAt?.seconds),
            .integer(Int64(record.errorCode)), .optional(record.error), .optional(record.taskDescription),
        ]
    }

    static func record(_ row: Statement, sources: [String]) throws(DatabaseError) -> QueueRecord {
        guard !sources.isEmpty else { throw .damage("a download has no URL") }
        var record = QueueRecord(
            id: QueueID(stored: row.integer(1)), sources: sources, addedAt: UnixTime(seconds: row.integer(12)))
        record.options = row.text(2)
        record.group = row.text(3)
        record.priority = Int(row.integer(4))
        record.position = row.position(5)
        record.state = try state(row.integer(6))
        record.folder = row.text(7)
        record.name = row.optionalText(8)
        record.contentType = row.optionalText(9)
        record.written = max(0, row.integer(10))
        record.total = row.optionalInteger(11).map { max(0, $0) }
        record.startedAt = row.optionalInteger(13).map(UnixTime.init(seconds:))
        record.endedAt = row.optionalInteger(14).map(UnixTime.init(seconds:))
        record.errorCode = Int(row.integer(15))
        record.error = row.optionalText(16)
        record.taskDescription = row.optionalText(17)
        return record
    }

    static func state(_ stored: Int64) throws(DatabaseError) -> DownloadState {
        guard let state = DownloadState.allStored.first(where: { $0.stored == stored }) else {
            throw .damage("unknown state \(stored)")
        }
        return state
    }
}

extension Statement {
    /// A position in the queue; a number beyond all others would leave no position behind it.
    func position(_ column: Int32) -> Double {
        let position = real(column)
        return abs(position) < 1e15 ? position : 0
    }
}

extension QueueID {
    init(stored: Int64) { self.init(rawValue: UInt64(bitPattern: stored)) }
    /// SQLite's integers are signed.
    var stored: Int64 { Int64(bitPattern: rawValue) }
}
