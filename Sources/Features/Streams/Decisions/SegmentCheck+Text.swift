import PawlBase

/// What is text in the first bytes of a segment.
enum SegmentText {
    static func isWebVTT(_ bytes: some Collection<UInt8>) -> Bool {
        let text = withoutMark(bytes)
        guard text.starts(with: "WEBVTT".utf8) else { return false }
        return text.dropFirst(6).first?.isWhiteSpace ?? true
    }

    /// `an HTML page` and the like, for text that is never media; subtitles in XML (TTML) are.
    static func document(_ bytes: some Collection<UInt8>) -> String? {
        let text = Array(withoutMark(bytes).prefix(2048).drop(while: \.isWhiteSpace))
        if text.first == UInt8(ascii: "{") { return "a JSON document" }
        guard text.first == .less else { return nil }
        guard let root = rootName(text) else { return "a text document" }
        if root.isCaseInsensitively("html") { return "an HTML page" }
        if ["head", "body", "title", "script"].contains(where: { root.isCaseInsensitively($0) }) {
            return "an HTML page"
        }
        let name = root.split(separator: .colon).last ?? []
        return name.elementsEqual("tt".utf8) ? nil : "an XML document"
    }

    private static func withoutMark<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    }

    /// The name of the first element, or of the document type; `nil` if there is none.
    static func rootName(_ text: [UInt8]) -> ArraySlice<UInt8>? {
        var rest = text[...]
        while let start = rest.firstIndex(of: .less) {
            rest = rest[(start + 1)...]
            if rest.first == .questionMark { continue }
            if rest.first == UInt8(ascii: "!") {
                let type = rest.dropFirst().prefix(7)
                guard type.isCaseInsensitively("doctype") else { continue }
                return rest.dropFirst(8).drop(while: \.isWhiteSpace).prefix { !$0.isWhiteSpace && $0 != .greater }
            }
            let name = rest.prefix { $0.isLetter || $0.isDigit || $0 == .colon || $0 == .dash }
            return name.isEmpty ? nil : name
        }
        return nil
    }
}
