/// A value for a parameter of a statement.
enum DatabaseValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)

    static func optional(_ value: Int64?) -> DatabaseValue { value.map { .integer($0) } ?? .null }
    static func optional(_ value: String?) -> DatabaseValue { value.map { .text($0) } ?? .null }
}
