package import PawlBase
package import PawlQueue

extension QueueDatabase {
    package func apply(_ changes: [QueueChange]) throws(Failure) {
        guard !changes.isEmpty else { return }
        try checkPlace()
        try use("cannot save to the queue") { (connection) throws(DatabaseError) in try connection.apply(changes) }
    }
}

extension DatabaseConnection {
    /// A change is durable when this returns, except when all of it is progress.
    ///
    /// Both levels survive a killed program, and neither lets a power cut damage the file. FULL waits for the disk
    /// once a transaction, so that a user's command is not lost. Progress comes every second from each
    /// download and the journals are more precise, so NORMAL leaves it to the next change or checkpoint.
    func apply(_ changes: [QueueChange]) throws(DatabaseError) {
        // Not kept as a statement: SQLite applies this while it prepares.
        try script("PRAGMA synchronous = \(changes.allSatisfy(\.isProgress) ? "NORMAL" : "FULL")")
        try transaction { () throws(DatabaseError) in for change in changes { try make(change) } }
    }

    private func make(_ change: QueueChange) throws(DatabaseError) {
        switch change {
        case .put(let record): try put(record)
        case .progress(let id, let written, let total):
            try run(
                "UPDATE downloads SET written = ?, total = ? WHERE id = ?",
                [.integer(written), .optional(total), .integer(id.stored)])
        case .pauseWaiting:
            try run(
                "UPDATE downloads SET state = ? WHERE state = ?",
                [DownloadState.paused, .waiting].map { .integer(Int64($0.stored)) })
        case .erase(let id):
            let numbers = try rows("DELETE FROM downloads WHERE id = ? RETURNING number", [.integer(id.stored)]) {
                $0.integer(0)
            }
            for number in numbers { try run("DELETE FROM sources WHERE download = ?", [.integer(number)]) }
        case .value(let name, let value?):
            try run("INSERT OR REPLACE INTO settings VALUES (?, ?)", [.text(name), .text(value)])
        case .value(let name, nil): try run("DELETE FROM settings WHERE name = ?", [.text(name)])
        }
    }

    private func put(_ record: QueueRecord) throws(DatabaseError) {
        let numbers = try rows(RecordRow.put, RecordRow.values(of: record)) { $0.integer(0) }
        for number in numbers where try !sources(of: number).hasSameBytes(as: record.sources) {
            try run("DELETE FROM sources WHERE download = ?", [.integer(number)])
            for (place, source) in record.sources.enumerated() {
                try run(
                    "INSERT INTO sources VALUES (?, ?, ?)", [.integer(number), .integer(Int64(place)), .text(source)])
            }
        }
    }
}

extension QueueChange { fileprivate var isProgress: Bool { if case .progress = self { true } else { false } } }
