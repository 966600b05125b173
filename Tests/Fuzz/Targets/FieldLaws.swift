@testable import Pawl
@testable import PawlBase
@testable import PawlIntake

/// Content-Disposition: a valid name is parsed, and any other is harmless once sanitized.
enum DispositionLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let form = input.byte() % 3
        let bytes = input.rest()
        try checkBytes(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        switch form {
        case 0:
            guard let name = ContentDisposition.fileName(from: text) else { return }
            try hold(!name.isEmpty, "an empty name")
            try hold(!name.utf8.contains { $0 == .slash || $0 == .backslash }, "a path: \(name)")
            try NamingLaws.checkSafe(FileName.safe(name))
        case 1: try checkQuoted(text)
        default: try checkExtended(text)
        }
    }

    /// Any bytes, with the charsets of the C library.
    private static func checkBytes(_ bytes: [UInt8]) throws(BrokenLaw) {
        for field in [bytes, Array("attachment; filename=\"".utf8) + bytes + [.quote]] {
            guard let name = ContentDisposition.fileName(from: field, .system) else { continue }
            try hold(!name.utf8.contains { $0 == .slash || $0 == .backslash }, "a path: \(name)")
            try NamingLaws.checkSafe(FileName.safe(name))
        }
    }

    private static func expected(_ text: String) -> String? {
        let name = FileName.lastComponent(text)
        let isName = name.unicodeScalars.contains { $0 != "." && !$0.properties.isWhitespace }
        return isName ? String(name) : nil
    }

    /// `filename="…"`, for names without anything that is read as an encoding.
    private static func checkQuoted(_ text: String) throws(BrokenLaw) {
        guard !text.utf8.contains(where: { $0 == .percent || $0 == .equals || $0 == .apostrophe }) else { return }
        var value: [UInt8] = []
        for byte in text.utf8 {
            if byte == .quote || byte == .backslash { value.append(.backslash) }
            value.append(byte)
        }
        let field = "attachment; filename=\"\(String(decoding: value, as: UTF8.self))\"; x=y"
        try compare(ContentDisposition.fileName(from: field), expected(text))
    }

    /// `filename*=UTF-8''…`, for any name, before a plain one that must not win.
    private static func checkExtended(_ text: String) throws(BrokenLaw) {
        guard let wanted = expected(text) else { return }
        let coded = text.utf8.map { "%" + (($0 < 16 ? "0" : "") + String($0, radix: 16)) }.joined()
        let field = "attachment; filename=plain; filename*=UTF-8''\(coded)"
        try compare(ContentDisposition.fileName(from: field), wanted)
    }

    private static func compare(_ name: String?, _ wanted: String?) throws(BrokenLaw) {
        let isEqual = name.map { Array($0.utf8) } == wanted.map { Array($0.utf8) }
        try hold(isEqual, "\(name ?? "nothing") instead of \(wanted ?? "nothing")")
    }
}

/// Link: every valid link is parsed, in order.
enum LinkLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        guard input.flag() else {
            for link in WebLink.parse(String(decoding: input.rest(), as: UTF8.self)) {
                try hold(!link.target.utf8.contains(.greater), "a target with its bracket")
                try hold(link.relations.allSatisfy { !$0.isEmpty }, "an empty relation")
                try hold(link.parameters.allSatisfy { !$0.name.isEmpty }, "a parameter without name")
            }
            return
        }
        var targets: [String] = []
        while !input.isEmpty, targets.count < 16 {
            let bytes = input.part().filter { $0 != .greater && !$0.isWhiteSpace && $0.isASCII }
            targets.append(String(decoding: bytes, as: UTF8.self))
        }
        let field = targets.map { "<\($0)>; rel=\"duplicate x\"; title=\"a, <b>; \\\" c\"" }
        let links = WebLink.parse(field.joined(separator: ", "))
        try hold(links.map(\.target) == targets, "\(links.map(\.target)) instead of \(targets)")
        try hold(links.allSatisfy { $0.relations == ["duplicate", "x"] }, "other relations")
    }
}

/// Lists of downloads.
enum InputFileLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        let entries: [InputEntry]
        do throws(Failure) { entries = try InputFile.parse(bytes) } catch {
            return try hold(error.code == .badOption, "refused with code \(error.code.rawValue)")
        }
        try check(entries)
    }

    private static func check(_ entries: [InputEntry]) throws(BrokenLaw) {
        var line = 0
        for entry in entries {
            try hold(entry.line > line, "line \(entry.line) after \(line)")
            line = entry.line
            try hold(!entry.addresses.isEmpty, "an entry without address")
            for address in entry.addresses {
                let bytes = Array(address.utf8)
                try hold(!bytes.isEmpty && bytes.trimmed(\.isWhiteSpace).count == bytes.count, "blanks around")
                try hold(!bytes.contains { $0 == .tab || $0 == .lineFeed }, "two addresses in one")
            }
            for option in entry.options {
                try hold(option.line > line, "line \(option.line) after \(line)")
                line = option.line
                try hold(!option.name.isEmpty && !option.name.utf8.contains(.equals), "name \(option.name)")
                try hold(FieldText.isSafe(option.name + option.value), "a control character in \(option)")
            }
        }
    }
}

/// Amounts and ranges typed by users.
enum QuantityLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let number = input.number()
        let signed = input.flag() ? -number - 1 : number
        for text in [ByteQuantity.text(signed), ByteQuantity.speed(signed)] {
            try hold(text.utf8.count <= 12, "\(signed) is \(text)")
        }
        try hold(ByteQuantity.parse("\(number)") == number, "\(number) is read as another")
        let text = input.text()
        if let amount = ByteQuantity.parse(text) { try hold(amount >= 0, "\(text) is \(amount)") }
        guard let range = try? RangeOption.parse(text) else { return }
        switch range {
        case .whole: throw BrokenLaw(description: "\(text) asks for everything")
        case .from(let start): try hold(start >= 0, "\(text) starts at \(start)")
        case .closed(let range): try hold(range.count > 0, "\(text) is empty")
        case .suffix(let count): try hold(count > 0, "\(text) is empty")
        }
    }
}
