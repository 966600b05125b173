import PawlSystem

@testable import PawlAria2
@testable import PawlBase
@testable import PawlIntake

/// What aria2c's lists, configuration files and parameterized addresses may contain.
enum Aria2Laws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let kind = input.byte() % 4
        let bytes = input.rest()
        switch kind {
        case 0: try checkList(bytes)
        case 1: try checkConfiguration(bytes)
        case 2: try checkAddress(String(decoding: bytes, as: UTF8.self))
        default: try checkInflate(bytes)
        }
    }

    /// Every line is an entry, an option, a fault, or has no content.
    private static func checkList(_ bytes: [UInt8]) throws(BrokenLaw) {
        let (entries, faults) = InputFile.parseLeniently(bytes)
        var lines = entries.map(\.line) + faults.map(\.line)
        for entry in entries {
            try hold(!entry.addresses.isEmpty, "an entry without address")
            try hold(!entry.addresses.contains { $0.utf8.contains(.tab) }, "two addresses in one")
            lines += entry.options.map(\.line)
            for option in entry.options {
                try hold(!option.name.isEmpty && option.line > entry.line, "the option \(option)")
            }
        }
        try hold(Set(lines).count == lines.count, "a line means two things")
        // What the strict parser accepts means the same, but for an indented comment, which is an option to aria2.
        let hasComment = bytes.split(separator: .lineFeed).contains { line in
            line.first != .hash && line.trimmed(\.isWhiteSpace).first == .hash
        }
        if hasComment { return }
        guard let strict = try? InputFile.parse(bytes) else { return }
        try hold(strict == entries, "the lenient parser reads another list")
    }

    private static func checkConfiguration(_ bytes: [UInt8]) throws(BrokenLaw) {
        var line = 0
        for option in ConfigurationFile.parse(bytes, home: "/h") {
            try hold(option.line > line, "line \(option.line) after \(line)")
            line = option.line
            try hold(!option.value.contains("${HOME}"), "a variable is left: \(option.value)")
        }
    }

    private static func checkAddress(_ text: String) throws(BrokenLaw) {
        guard let addresses = try? ParameterizedAddress.expand(text) else { return }
        try hold(!addresses.isEmpty && addresses.count <= ParameterizedAddress.most, "\(addresses.count)")
        let isPlain = !text.utf8.contains(UInt8(ascii: "{")) && !text.utf8.contains(UInt8(ascii: "["))
        if isPlain { try hold(addresses == [text], "a plain text is changed") }
    }

    private static func checkInflate(_ bytes: [UInt8]) throws(BrokenLaw) {
        let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        let content = Gzip.decompress(header + bytes, limit: 10_000)
        try hold(content?.count ?? 0 <= 10_000, "the limit is exceeded")
    }
}
