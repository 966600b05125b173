/// A sentence with an identifier and its values, so that it can be translated.
package struct LocalizableMessage: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case text(String)
        indirect case message(LocalizableMessage)
        indirect case failure(Failure)
    }

    /// The key of its translations; it stays the same when the English sentence is reworded.
    package let id: String
    private let text: Text

    /// The English sentence with `{}` for each value.
    package var form: String { text.form }
    /// The values in the order of the English sentence.
    package var values: [Value] { text.values }

    /// `id` is lower-case words joined by hyphens, one for each sentence; the other languages of the service's page
    /// have a line for each.
    package init(_ id: String, _ text: Text) {
        self.id = id
        self.text = text
    }

    package init(_ failure: Failure) { self.init("failure", "\(failure)") }

    /// A text of a module that has no translations.
    package init(untranslated text: String) { self.init("untranslated", "\(text)") }

    /// The same sentence inside another.
    package var uncapitalized: LocalizableMessage {
        LocalizableMessage(id, Text(form: form.prefix(1).lowercased() + form.dropFirst(), values: values))
    }

    /// Whether it has no translations.
    package var isForeign: Bool { id == "untranslated" }
}

extension LocalizableMessage {
    /// The English sentence, written as a string with interpolated values.
    package struct Text: Hashable, Sendable {
        fileprivate var form = ""
        fileprivate var values: [Value] = []

        fileprivate init() {}

        /// `form` has `{}` for each value.
        init(form: String, values: [Value]) {
            self.form = form
            self.values = values
        }
    }
}

extension LocalizableMessage.Text: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = LocalizableMessage.Text()

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { text.form += literal }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            add(.text(value.description))
        }

        package mutating func appendInterpolation(_ value: LocalizableMessage) { add(.message(value)) }

        package mutating func appendInterpolation(_ value: Failure) { add(.failure(value)) }

        private mutating func add(_ value: LocalizableMessage.Value) {
            text.form += "{}"
            text.values.append(value)
        }
    }

    package init(stringLiteral value: String) { form = value }

    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.text }
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
