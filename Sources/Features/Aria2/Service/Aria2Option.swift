import Pawl
import PawlBase

/// An option of aria2's clients: its name, values and scope.
package struct Aria2Option: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case flag
        case number(ClosedRange<Int64>)
        /// A number with an optional K or M (powers of 1024), returned as plain digits.
        case size(ClosedRange<Int64>)
        case choice([String])
        case text
        /// 16 hexadecimal digits, not all of them 0.
        case identifier
        /// `TYPE=HEX`
        case checksum
        /// Several lines, returned joined by line feeds.
        case lines

        /// Whether its values are numbers or words, for which white space has no meaning.
        package var isNumeric: Bool {
            switch self {
            case .number, .size, .choice: true
            case .flag, .text, .identifier, .checksum, .lines: false
            }
        }
    }

    /// The contexts in which an option may be given.
    package struct Scope: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// For a new download.
        package static let initial = Scope(rawValue: 1)
        /// For an existing download.
        package static let changeable = Scope(rawValue: 2)
        /// For all downloads, while the service runs.
        package static let global = Scope(rawValue: 4)
        /// Readable, but set only on the service's command line.
        package static let reported = Scope(rawValue: 8)
    }

    package var name: String
    package var kind: Kind
    /// `nil`: not returned until it is given.
    package var fallback: String?
    package var scope: Scope

    package init(name: String, kind: Kind, fallback: String?, scope: Scope) {
        self.name = name
        self.kind = kind
        self.fallback = fallback
        self.scope = scope
    }

    /// The normalized value; `nil` if it is invalid.
    package func normal(_ value: String) -> String? {
        switch kind {
        case .flag: value == "true" || value == "false" ? value : nil
        case .number(let range): Int64(value).flatMap { range.contains($0) ? String($0) : nil }
        case .size(let range): Aria2Option.size(value).flatMap { range.contains($0) ? String($0) : nil }
        case .choice(let choices): choices.contains(value) ? value : nil
        // It may become part of a request or of a session file.
        case .text: FieldText.isSafe(value) ? value : nil
        case .lines: Aria2Option.lines(value)
        case .identifier: Download.ID(value).flatMap { $0.rawValue == 0 ? nil : $0.description }
        case .checksum: Aria2Option.isChecksum(value) ? value : nil
        }
    }

    /// Whether the value of a proxy names one, and that of `select-file` numbers.
    package func isUsable(_ value: String) -> Bool {
        switch name {
        case "all-proxy", "http-proxy", "https-proxy", "ftp-proxy": ProxyURL.isUsable(value)
        case "select-file": Self.fileNumbers(value) != nil
        case _: true
        }
    }

    /// The numbers of `1-3,5`, without those of a range from a greater to a smaller one; `nil` if a part is none.
    package static func fileNumbers(_ text: String) -> [ClosedRange<Int>]? {
        var ranges: [ClosedRange<Int>] = []
        for part in text.split(separator: ",") {
            let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map { end in
                Int(end.filter { $0 != " " }).flatMap { (1...1 << 20).contains($0) ? $0 : nil }
            }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil else { return nil }
            if first <= last { ranges.append(first...last) }
        }
        return ranges
    }

    /// Without empty lines: aria2 ends each line, also the last.
    private static func lines(_ text: String) -> String? {
        let lines = text.split(separator: "\n")
        return lines.allSatisfy { FieldText.isSafe(String($0)) } ? lines.joined(separator: "\n") : nil
    }

    /// An option's lines in a session file; none for a value that would be read back as further options.
    package static func sessionLines(_ name: String, _ value: String) -> [String] {
        // "\r\n" is one character, and remains in its line.
        let lines = value.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return lines.allSatisfy(FieldText.isSafe) ? lines.map { " \(name)=\($0)\n" } : []
    }

    /// Digits with an optional K or M; as in aria2, what follows the unit has no meaning (`10MB`).
    static func size(_ text: String) -> Int64? {
        let factors: [Character: Int64] = ["k": 1 << 10, "K": 1 << 10, "m": 1 << 20, "M": 1 << 20]
        var digits = text[...]
        var factor: Int64 = 1
        if let unit = text.firstIndex(where: { factors[$0] != nil }) {
            factor = factors[text[unit]] ?? 1
            digits = text[..<unit]
        }
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit), let number = Int64(digits) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : product
    }

    private static func isChecksum(_ value: String) -> Bool {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let digits = digestDigits[String(parts[0]).lowercased()] else { return false }
        return parts[1].count == digits && parts[1].allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    private static let digestDigits = [
        "sha-1": 40, "sha-224": 56, "sha-256": 64, "sha-384": 96, "sha-512": 128, "md5": 32, "adler32": 8,
    ]
}

extension Character { fileprivate var isASCIIDigit: Bool { isASCII && isNumber } }
