import CSQLite

/// Owns one prepared statement, and reads its current row.
@safe final class Statement {
    private let handle: OpaquePointer

    init(_ sql: String, on database: OpaquePointer) throws(DatabaseError) {
        var prepared: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard unsafe sqlite3_prepare_v3(database, sql, -1, flags, &prepared, nil) == SQLITE_OK,
            let handle = unsafe prepared
        else { throw unsafe .last(of: database) }
        unsafe self.handle = handle
    }

    deinit { unsafe sqlite3_finalize(handle) }

    func bind(_ values: [DatabaseValue]) throws(DatabaseError) {
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            let code =
                switch value {
                case .null: unsafe sqlite3_bind_null(handle, place)
                case .integer(let number): unsafe sqlite3_bind_int64(handle, place, number)
                case .real(let number): unsafe sqlite3_bind_double(handle, place, number)
                case .text(let text): bind(text, at: place)
                }
            guard code == SQLITE_OK else { throw last }
        }
    }

    private func bind(_ text: String, at place: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            // An empty text may have no address, and would be bound as NULL.
            guard let base = bytes.baseAddress else { return unsafe pawl_bind_text(handle, place, "", 0) }
            return unsafe base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                unsafe pawl_bind_text(handle, place, $0, UInt64(bytes.count))
            }
        }
    }

    /// Advances to the next row; `false` when there is none.
    func step() throws(DatabaseError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw last
        }
    }

    /// Resets the statement for another run; errors were reported by `step`.
    func reset() { unsafe sqlite3_reset(handle) }

    private var last: DatabaseError { unsafe .last(of: sqlite3_db_handle(handle)) }
}

extension Statement {
    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }
    func real(_ column: Int32) -> Double { unsafe sqlite3_column_double(handle, column) }

    /// Invalid UTF-8 is repaired.
    func text(_ column: Int32) -> String {
        guard let bytes = unsafe sqlite3_column_text(handle, column) else { return "" }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    func value(_ column: Int32) -> DatabaseValue {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(real(column))
        case SQLITE_NULL: .null
        default: .text(text(column))
        }
    }

    private func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }
}

/// A value for a parameter of a statement.
enum DatabaseValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)

    static func optional(_ value: Int64?) -> DatabaseValue { value.map { .integer($0) } ?? .null }
    static func optional(_ value: String?) -> DatabaseValue { value.map { .text($0) } ?? .null }
}
