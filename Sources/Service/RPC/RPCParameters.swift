package import PawlBase

/// The parameters of a call, taken by position.
package struct RPCParameters: Sendable {
    private let values: [JSON]

    /// The rights of the caller.
    package let rights: RPCRights
    /// The code of errors in parameters.
    private let errorCode: Int

    package init(_ values: [JSON], _ rights: RPCRights, errorCode: Int = 1) {
        self.values = values
        self.rights = rights
        self.errorCode = errorCode
    }

    /// Throws when there are more than `count` parameters.
    package func checkCount(atMost count: Int) throws(RPCError) {
        guard values.count > count else { return }
        throw RPCError(errorCode, "too many parameters: at most \(count)")
    }

    private func value<Value>(_ position: Int, _ read: (JSON) -> Value?) throws(RPCError) -> Value? {
        guard position < values.count else { return nil }
        guard let value = read(values[position]) else { throw .wrongType(position, code: errorCode) }
        return value
    }

    private func required<Value>(_ position: Int, _ value: Value?) throws(RPCError) -> Value {
        guard let value else { throw .missing(position, code: errorCode) }
        return value
    }

    package func text(_ position: Int) throws(RPCError) -> String {
        try required(position, try value(position) { $0.string })
    }

    package func texts(_ position: Int) throws(RPCError) -> [String] {
        try required(position, try value(position) { $0.array?.compactMap(\.string) })
    }

    package func optionalTexts(_ position: Int) throws(RPCError) -> [String]? {
        try value(position) { $0.array?.compactMap(\.string) }
    }

    package func integer(_ position: Int) throws(RPCError) -> Int {
        Int(clamping: try required(position, try value(position) { $0.whole }))
    }

    package func optionalInteger(_ position: Int) throws(RPCError) -> Int? {
        try value(position) { $0.whole }.map { Int(clamping: $0) }
    }

    /// A string, or an array of strings.
    package func textOrTexts(_ position: Int) throws(RPCError) -> [String] {
        try required(position, try value(position) { $0.string.map { [$0] } ?? $0.strings })
    }

    package func optionalText(_ position: Int) throws(RPCError) -> String? { try value(position) { $0.string } }

    /// `nil` for `null`.
    package func textOrNull(_ position: Int) throws(RPCError) -> String? {
        if position < values.count, values[position] == .null { return nil }
        return try text(position)
    }

    package func list(_ position: Int) throws(RPCError) -> [JSON] {
        try required(position, try value(position) { $0.array })
    }

    /// `nil` for `null`, and if it is missing.
    package func optionalList(_ position: Int) throws(RPCError) -> [JSON]? {
        if position < values.count, values[position] == .null { return nil }
        return try value(position) { $0.array }
    }

    /// An integer; `nil` for `null`.
    package func numberOrNull(_ position: Int) throws(RPCError) -> Int64? {
        if position < values.count, values[position] == .null { return nil }
        return try required(position, try value(position) { $0.integer })
    }

    /// A struct; an empty one if it is missing.
    package func members(_ position: Int) throws(RPCError) -> JSON {
        try value(position) { $0.members == nil ? nil : $0 } ?? [:]
    }

    package func requiredMembers(_ position: Int) throws(RPCError) -> JSON {
        try required(position, try value(position) { $0.members == nil ? nil : $0 })
    }
}

extension JSON {
    /// An integer, also of a serializer that writes `1.0`.
    fileprivate var whole: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    }

    /// The strings of an array that has nothing else.
    fileprivate var strings: [String]? {
        guard let array else { return nil }
        let strings = array.compactMap(\.string)
        return strings.count == array.count ? strings : nil
    }
}

/// The fields of an object among the parameters of a method of ``ServiceMethod``; `null` means absent.
package struct RPCFields: Sendable {
    private let object: JSON

    /// Throws when a field has none of these names: it could be a misspelled one.
    package init(_ object: JSON, named names: Set<String>) throws(RPCError) {
        guard let members = object.members else { throw .invalid("an object is expected") }
        if let unknown = members.first(where: { !names.contains($0.name) }) {
            throw .invalid("there is no field \(unknown.name)")
        }
        self.object = object
    }

    private func value<Value>(_ name: String, _ kind: String, _ read: (JSON) -> Value?) throws(RPCError) -> Value? {
        guard let value = object[name], value != .null else { return nil }
        guard let result = read(value) else { throw .invalid("\(name) must be \(kind)") }
        return result
    }

    package func text(_ name: String) throws(RPCError) -> String? { try value(name, "a string") { $0.string } }

    package func texts(_ name: String) throws(RPCError) -> [String]? {
        try value(name, "an array of strings") { $0.strings }
    }

    package func flag(_ name: String) throws(RPCError) -> Bool? { try value(name, "true or false") { $0.bool } }

    package func members(_ name: String) throws(RPCError) -> [JSON.Member]? {
        try value(name, "an object") { $0.members }
    }

    package func integer(_ name: String, in range: ClosedRange<Int>) throws(RPCError) -> Int? {
        try value(name, "a number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
        }
    }
}
