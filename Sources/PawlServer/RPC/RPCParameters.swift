import PawlCore

/// The parameters of a call, taken by position.
struct RPCParameters: Sendable {
    private let values: [JSON]

    /// The rights of the caller.
    let rights: RPCRights

    init(_ values: [JSON], _ rights: RPCRights) {
        self.values = values
        self.rights = rights
    }

    private func value<Value>(
        _ position: Int,
        _ read: (JSON) -> Value?
    ) throws(RPCError) -> Value? {
        guard position < values.count else { return nil }
        guard let value = read(values[position]) else { throw .wrongType(position) }
        return value
    }

    private func required<Value>(_ position: Int, _ value: Value?) throws(RPCError) -> Value {
        guard let value else { throw .missing(position) }
        return value
    }

    func text(_ position: Int) throws(RPCError) -> String {
        try required(position, try value(position) { $0.string })
    }

    func texts(_ position: Int) throws(RPCError) -> [String] {
        try required(position, try value(position) { $0.array?.compactMap(\.string) })
    }

    func optionalTexts(_ position: Int) throws(RPCError) -> [String]? {
        try value(position) { $0.array?.compactMap(\.string) }
    }

    func integer(_ position: Int) throws(RPCError) -> Int {
        Int(clamping: try required(position, try value(position) { $0.integer }))
    }

    func optionalInteger(_ position: Int) throws(RPCError) -> Int? {
        try value(position) { $0.integer }.map { Int(clamping: $0) }
    }

    /// A string, or an array of strings.
    func textOrTexts(_ position: Int) throws(RPCError) -> [String] {
        try required(
            position,
            try value(position) { value in value.string.map { [$0] } ?? value.array?.compactMap(\.string) }
        )
    }

    func optionalText(_ position: Int) throws(RPCError) -> String? { try value(position) { $0.string } }

    /// `nil` for `null` or a missing parameter.
    func textOrNull(_ position: Int) throws(RPCError) -> String? {
        if position < values.count, values[position] == .null { return nil }
        return try optionalText(position)
    }

    func list(_ position: Int) throws(RPCError) -> [JSON] {
        try required(position, try value(position) { $0.array })
    }

    /// An integer; `nil` for `null` or a missing parameter.
    func optionalNumber(_ position: Int) throws(RPCError) -> Int64? {
        if position < values.count, values[position] == .null { return nil }
        return try value(position) { $0.integer }
    }

    /// A struct; an empty one if it is missing.
    func members(_ position: Int) throws(RPCError) -> JSON {
        try value(position) { $0.members == nil ? nil : $0 } ?? [:]
    }

    func requiredMembers(_ position: Int) throws(RPCError) -> JSON {
        try required(position, try value(position) { $0.members == nil ? nil : $0 })
    }
}
