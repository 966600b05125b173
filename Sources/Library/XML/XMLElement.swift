import PawlBase

/// An element of an XML document: the subset of XML 1.0 that data documents use.
///
/// Markup without data (comments, processing instructions, prefixes of names) is skipped.
package struct XMLElement: Hashable, Sendable {
    /// Without its prefix.
    package var name: String
    package var attributes: [String: String] = [:]
    /// The character data directly in it, joined.
    package var text = ""
    package var children: [XMLElement] = []

    package init(_ name: String) { self.name = name }

    /// The first child of that name.
    package func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }
    package func children(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    /// The character data without white space around it.
    package var trimmedText: String { String(decoding: Array(text.utf8).trimmed(\.isWhiteSpace), as: UTF8.self) }

    /// Why a text is no supported document.
    package struct Fault: Error, Hashable, Sendable {
        package var words: String

        package init(words: String) {
            self.words = words
        }
    }

    /// The limits of a document.
    package struct Limits: Hashable, Sendable {
        package var length: Int
        package var depth: Int
        package var elements: Int

        package init(length: Int, depth: Int, elements: Int) {
            self.length = length
            self.depth = depth
            self.elements = elements
        }
    }

    /// The root of a document in UTF-8.
    package static func parse(_ bytes: [UInt8], within limits: Limits) throws(Fault) -> XMLElement {
        guard bytes.count <= limits.length else { throw Fault(words: "it is larger than \(limits.length) bytes") }
        var reader = XMLReader(bytes, limits: limits)
        return try reader.document()
    }
}
