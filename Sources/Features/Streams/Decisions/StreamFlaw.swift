import PawlBase

/// Why a document of a stream cannot be used: a part of a sentence.
package struct StreamFlaw: Error, Hashable, Sendable {
    package let why: String
    /// Whether it is encrypted by a system for digital rights.
    package var isProtected = false

    package init(_ why: String) { self.why = why }

    /// None of the wanted languages is there; `languages`: those that are, as stated.
    static func noAudio(in languages: [String?]) -> StreamFlaw {
        let names = languages.prefix(64).reduce(into: [String]()) { names, language in
            let name = Redaction.printable(language.flatMap { $0.isEmpty ? nil : $0 } ?? "unknown")
            if !names.contains(name) { names.append(name) }
        }
        return StreamFlaw("it has no audio in these languages, only in \(names.joined(separator: ", "))")
    }
}
