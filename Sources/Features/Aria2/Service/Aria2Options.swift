package import PawlBase
package import PawlWeb

/// Options given by a client, in the form in which they are returned.
package struct Aria2Options: Hashable, Sendable {
    package private(set) var values: [String: String]

    package init(_ values: [String: String] = [:]) { self.values = values }

    package subscript(_ name: String) -> String? { values[name] }

    /// Takes the options that are allowed in `scope` from a struct.
    ///
    /// As in aria2, unknown names, those of another scope and values that are not strings are ignored; an invalid value
    /// is an error, with which none of them is taken.
    package mutating func take(_ given: JSON, scope: Aria2Option.Scope) throws(RPCError) {
        var taken = values
        for member in given.members ?? [] {
            guard let option = Aria2Option.table[member.name], !option.scope.isDisjoint(with: scope) else { continue }
            let text: String
            switch (member.value, option.kind) {
            case (.string(let value), _): text = value
            case (.array(let lines), .lines): text = lines.compactMap(\.string).joined(separator: "\n")
            default: continue
            }
            guard let value = option.normal(text), option.isUsable(value) else {
                throw RPCError("We encountered a problem while processing the option '--\(member.name)'.")
            }
            taken[member.name] = value
        }
        values = taken
    }

    package func flag(_ name: String) -> Bool? { values[name].map { $0 == "true" } }
    package func number(_ name: String) -> Int64? { values[name].flatMap { Int64($0) } }
}
