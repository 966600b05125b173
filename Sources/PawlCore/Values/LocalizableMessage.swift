/// A sentence that keeps its interpolated values, so that it can be translated.
///
/// `form` is the English sentence with `{}` for each value: the key of its translations.
package struct LocalizableMessage: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case text(String)
        indirect case message(LocalizableMessage)
        indirect case failure(Failure)
    }

    package private(set) var form = ""
    package private(set) var values: [Value] = []
}

extension LocalizableMessage: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var message = LocalizableMessage()

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { message.form += literal }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            add(.text(value.description))
        }

        package mutating func appendInterpolation(_ value: LocalizableMessage) { add(.message(value)) }

        package mutating func appendInterpolation(_ value: Failure) { add(.failure(value)) }

        private mutating func add(_ value: Value) {
            message.form += "{}"
            message.values.append(value)
        }
    }

    package init(stringLiteral value: String) { form = value }

    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.message }
}

extension LocalizableMessage: CustomStringConvertible {
    /// The sentence in English.
    package var description: String {
        let pieces = form.split(separator: "{}", omittingEmptySubsequences: false)
        return zip(pieces.dropFirst(), values).reduce(pieces.first.map(String.init) ?? "") { text, next in
            text + next.1.description + next.0
        }
    }
}

extension LocalizableMessage.Value: CustomStringConvertible {
    package var description: String {
        switch self {
        case .text(let text): text
        case .message(let message): message.description
        case .failure(let failure): failure.description
        }
    }
}
