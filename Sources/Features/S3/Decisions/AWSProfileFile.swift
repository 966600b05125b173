import PawlBase

/// A file of AWS's tools with profiles: `~/.aws/config` or `~/.aws/credentials`.
///
/// <https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html>
package struct AWSProfileFile: Hashable, Sendable {
    /// The settings of each section; nested ones are named `s3.endpoint_url`.
    private var sections: [Bytewise<String>: [String: String]] = [:]

    /// The most bytes that count.
    package static let longest = 1 << 20

    package init() {}

    /// Lines that cannot be read are skipped, as other tools do.
    package init(_ bytes: [UInt8]) {
        var section: String?
        var parent: String?
        let text = UnicodeText.utf8(Array(bytes.prefix(Self.longest)))
        for line in text.split(whereSeparator: { $0 == .lineFeed || $0 == .carriageReturn }) {
            let isIndented = line.first?.isBlank == true
            let line = line.trimmed(\.isWhiteSpace)
            guard let first = line.first, first != .hash, first != .semicolon else { continue }
            if first == .leftBracket {
                parent = nil
                section = line.firstIndex(of: .rightBracket).flatMap { end in
                    Self.text(line[line.index(after: line.startIndex)..<end])
                }.map(Self.sectionName)
                continue
            }
            guard let section, let equals = line.firstIndex(of: .equals),
                let name = Self.text(line[..<equals])?.lowercased(),
                let value = Self.text(Self.withoutComment(line[line.index(after: equals)...])), !name.isEmpty
            else { continue }
            if isIndented, let parent {
                sections[Bytewise(section), default: [:]]["\(parent).\(name)"] = value
            } else {
                parent = value.isEmpty ? name : nil
                sections[Bytewise(section), default: [:]][name] = value
            }
        }
    }

    /// The settings of a profile.
    package subscript(profile: String) -> [String: String]? { sections[Bytewise(profile)] }

    /// `profile NAME` in the configuration is `NAME` in the credentials.
    private static func sectionName(_ text: String) -> String {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count > 1 else { return text }
        let name = words.dropFirst().joined(separator: " ")
        return words[0] == "profile" ? name : "\(words[0]) \(name)"
    }

    /// A comment in a line follows white space.
    private static func withoutComment<Part: Collection<UInt8>>(_ value: Part) -> Part.SubSequence {
        var isAfterBlank = false
        var end = value.startIndex
        while end != value.endIndex {
            let byte = value[end]
            if isAfterBlank, byte == .hash || byte == .semicolon { break }
            isAfterBlank = byte.isBlank
            value.formIndex(after: &end)
        }
        return value[..<end]
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String? {
        String(validating: Array(Array(bytes).trimmed(\.isWhiteSpace)), as: UTF8.self)
    }
}
