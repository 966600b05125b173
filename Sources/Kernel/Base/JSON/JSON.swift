/// A JSON value (RFC 8259).
///
/// Numbers keep their original text, so that they are echoed unchanged; members keep their order.
package indirect enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSON])
    case object([Member])

    package struct Member: Hashable, Sendable {
        package var name: String
        package var value: JSON

        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    package static func number(_ value: some BinaryInteger) -> JSON { .number(String(value)) }

    /// The member of that name; the last one counts when there are several.
    package subscript(_ name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var array: [JSON]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    package var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// `nil` for a value that is not a whole number or does not fit.
    package var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text)
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements.map { Member($0.0, $0.1) }) }
}
