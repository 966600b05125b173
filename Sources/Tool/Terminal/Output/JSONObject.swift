package import PawlBase

/// Collects the members of one JSON object (RFC 8259), in the order in which they are first set.
package struct JSONObject {
    private var members: [JSON.Member] = []

    package init() {}

    package mutating func set(_ key: String, _ value: String?) { add(key, value.map(JSON.string)) }

    /// Sets `path`, and where that is not UTF-8, its bytes as `pathEncoded`.
    package mutating func set(path: [UInt8]) {
        set("path", String(decoding: path, as: UTF8.self))
        if String(validating: path, as: UTF8.self) == nil { set("pathEncoded", PercentCoding.reversible(path)) }
    }

    package mutating func set(_ key: String, _ value: some BinaryInteger) { add(key, .number(value)) }

    package mutating func set(_ key: String, _ value: Int64?) { add(key, value.map { .number($0) }) }

    package mutating func set(_ key: String, json value: JSON?) { add(key, value) }

    package mutating func set(_ key: String, _ value: Bool) { add(key, .bool(value)) }

    /// Sets a number with at most `decimals` decimals; `null` if it is not finite or reaches 10¹⁵.
    package mutating func set(_ key: String, _ value: Double?, decimals: Int) {
        guard let value, value.isFinite, abs(value) < 1e15 else { return add(key, nil) }
        add(key, .number((value < 0 ? "-" : "") + NumberFormat.fixed(abs(value), decimals: decimals)))
    }

    /// The object as a line, without terminator.
    package var line: String { JSON.object(members).text }

    /// A later value replaces an earlier one of the same name: names should be unique (RFC 8259, 4).
    private mutating func add(_ key: String, _ value: JSON?) {
        let member = JSON.Member(key, value ?? .null)
        guard let index = members.firstIndex(where: { $0.name.hasSameBytes(as: key) }) else {
            return members.append(member)
        }
        members[index] = member
    }
}

extension JSON {
    /// The number; `nil` for any other value.
    package var decimal: Double? {
        guard case .number(let text) = self else { return nil }
        return Double(text)
    }
}
