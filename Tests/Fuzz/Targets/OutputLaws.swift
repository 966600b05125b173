@testable import PawlTerminal

/// The output of names and messages from servers.
enum OutputLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let columns = Int(input.byte())
        let text = String(decoding: input.rest(), as: UTF8.self)
        let clean = TerminalText.harmless(text)
        try hold(clean.unicodeScalars.allSatisfy { !(0..<32 ~= $0.value || 127..<160 ~= $0.value) }, "escape")
        try hold(TerminalText.harmless(clean) == clean, "harmless text changes")
        let short = TerminalText.shortened(clean, to: columns, ellipsis: "…")
        try hold(TerminalText.width(short) <= columns, "\(TerminalText.width(short)) of \(columns) columns")
        try hold(
            TerminalText.width(TerminalText.padded(short, to: columns)) == columns,
            "padded to other than \(columns) columns")
        var object = JSONObject()
        object.set("text", text)
        try hold(object.line.unicodeScalars.allSatisfy { $0.value >= 32 }, "a line end within a line")
        try hold(unescaped(object.line) == "{\"text\":\"\(text)\"}", "JSON contains another text")
    }

    /// The JSON line with its escapes undone.
    private static func unescaped(_ line: String) -> String {
        var scalars = String.UnicodeScalarView()
        var rest = line.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\", let letter = rest.popFirst() else {
                scalars.append(scalar)
                continue
            }
            switch letter {
            case "n": scalars.append("\n")
            case "r": scalars.append("\r")
            case "t": scalars.append("\t")
            case "u":
                let code = UInt32(String(String.UnicodeScalarView(rest.prefix(4))), radix: 16) ?? 0
                rest = rest.dropFirst(4)
                scalars.append(Unicode.Scalar(code) ?? "?")
            default: scalars.append(letter)
            }
        }
        return String(scalars)
    }
}
