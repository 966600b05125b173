import PawlBase

/// Parses a document from its first byte to its last.
///
/// A document type is skipped and may define nothing, so no entity can expand. Open elements are in a list:
/// however deep a document is, there is no recursion.
struct XMLReader {
    private struct Open {
        /// As written: the end tag has to be equal.
        let name: ArraySlice<UInt8>
        var element: XMLElement
        var text: [UInt8] = []
    }

    private let bytes: [UInt8]
    private let limits: XMLElement.Limits
    private var place = 0
    private var open: [Open] = []
    private var root: XMLElement?
    private var elements = 0

    init(_ bytes: [UInt8], limits: XMLElement.Limits) {
        self.bytes = UnicodeText.utf8(bytes)
        self.limits = limits
    }

    private static let damaged = XMLElement.Fault(words: "the XML is damaged")

    mutating func document() throws(XMLElement.Fault) -> XMLElement {
        while place < bytes.count { if bytes[place] == .less { try markup() } else { try characters() } }
        guard let root, open.isEmpty else { throw Self.damaged }
        return root
    }

    private func starts(_ text: StaticString) -> Bool {
        let rest = bytes.count - place
        guard rest >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { unsafe bytes[place..<(place + $0.count)].elementsEqual($0) }
    }

    /// Advances past the next `ending`, and returns what is before it.
    private mutating func skip(behind ending: StaticString) throws(XMLElement.Fault) -> ArraySlice<UInt8> {
        let start = place
        while place < bytes.count {
            if starts(ending) {
                defer { place += ending.utf8CodeUnitCount }
                return bytes[start..<place]
            }
            place += 1
        }
        throw Self.damaged
    }

    // MARK: markup

    private mutating func markup() throws(XMLElement.Fault) {
        if starts("<!--") {
            place += 4
            _ = try skip(behind: "-->")
        } else if starts("<?") {
            _ = try skip(behind: "?>")
        } else if starts("<![CDATA[") {
            place += 9
            try append(try skip(behind: "]]>"))
        } else if starts("<!DOCTYPE") {
            guard root == nil, open.isEmpty, try !skip(behind: ">").contains(.leftBracket) else { throw Self.damaged }
        } else if starts("</") {
            place += 2
            try close(try skip(behind: ">").trimmed(\.isWhiteSpace))
        } else {
            try openElement()
        }
    }

    private mutating func openElement() throws(XMLElement.Fault) {
        place += 1
        let name = take { !$0.isWhiteSpace && $0 != .slash && $0 != .greater && $0 != .less && $0 != .equals }
        elements += 1
        guard !name.isEmpty, root == nil, open.count < limits.depth, elements <= limits.elements else {
            throw Self.damaged
        }
        open.append(Open(name: name, element: XMLElement(Self.local(name))))
        while true {
            _ = take(\.isWhiteSpace)
            if starts("/>") {
                place += 2
                return try close(name)
            }
            if starts(">") {
                place += 1
                return
            }
            try attribute()
        }
    }

    private mutating func attribute() throws(XMLElement.Fault) {
        let name = take { !$0.isWhiteSpace && $0 != .equals && $0 != .greater && $0 != .slash && $0 != .less }
        _ = take(\.isWhiteSpace)
        guard !name.isEmpty, starts("=") else { throw Self.damaged }
        place += 1
        _ = take(\.isWhiteSpace)
        guard starts("\"") || starts("'") else { throw Self.damaged }
        let quote = bytes[place]
        place += 1
        var value: [UInt8] = []
        while place < bytes.count, bytes[place] != quote { try takeCharacter(into: &value) }
        guard place < bytes.count else { throw Self.damaged }
        place += 1
        open[open.count - 1].element.attributes[Self.local(name)] = String(decoding: value, as: UTF8.self)
    }

    private mutating func close(_ name: ArraySlice<UInt8>) throws(XMLElement.Fault) {
        guard var last = open.popLast(), last.name.elementsEqual(name) else { throw Self.damaged }
        last.element.text = String(decoding: last.text, as: UTF8.self)
        if open.isEmpty { root = last.element } else { open[open.count - 1].element.children.append(last.element) }
    }

    /// The name without its prefix.
    private static func local(_ name: ArraySlice<UInt8>) -> String {
        String(decoding: name.lastIndex(of: .colon).map { name[($0 + 1)...] } ?? name, as: UTF8.self)
    }

    private mutating func take(_ belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = place
        while place < bytes.count, belongs(bytes[place]) { place += 1 }
        return bytes[start..<place]
    }

    // MARK: character data

    private mutating func characters() throws(XMLElement.Fault) {
        var text: [UInt8] = []
        while place < bytes.count, bytes[place] != .less { try takeCharacter(into: &text) }
        try append(text[...])
    }

    private mutating func append(_ text: ArraySlice<UInt8>) throws(XMLElement.Fault) {
        guard !open.isEmpty else {
            guard text.allSatisfy(\.isWhiteSpace) else { throw XMLElement.Fault(words: "it is not XML") }
            return
        }
        open[open.count - 1].text += text
    }

    private mutating func takeCharacter(into text: inout [UInt8]) throws(XMLElement.Fault) {
        guard bytes[place] == UInt8(ascii: "&") else {
            text.append(bytes[place])
            place += 1
            return
        }
        let rest = bytes[(place + 1)...].prefix(12)
        guard let end = rest.firstIndex(of: .semicolon), let meaning = Self.meaning(of: rest[..<end]) else {
            throw Self.damaged
        }
        place = end + 1
        text += meaning
    }

    private static func meaning(of entity: ArraySlice<UInt8>) -> [UInt8]? {
        let name = String(decoding: entity, as: UTF8.self)
        switch name {
        case "lt": return [.less]
        case "gt": return [.greater]
        case "amp": return [UInt8(ascii: "&")]
        case "quot": return [.quote]
        case "apos": return [.apostrophe]
        default: break
        }
        let number =
            name.hasPrefix("#x")
            ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
        return number.flatMap(Unicode.Scalar.init).map { Array(String(Character($0)).utf8) }
    }
}
