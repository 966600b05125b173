@testable import PawlCore

/// What is dropped or pasted: any bytes are downloads, text or a failure, and a quoted word stays that word.
enum IntakeLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        let text = String(decoding: bytes, as: UTF8.self)
        if let entries = try? TransferCommand.entries(in: text) {
            for entry in entries {
                try hold(!entry.addresses.isEmpty, "a download without a URL")
                for option in entry.options where option.name == "header" {
                    try hold(option.value.contains(":"), "no header field: \(option.value)")
                }
            }
        }
        if case .entries(let entries)? = try? DroppedContent(bytes, named: "f") {
            try hold(!entries.isEmpty, "no download")
        }
        let plain = String(text.unicodeScalars.filter { $0 != "'" && $0 != "^" }.map(Character.init))
        guard plain.utf8.count < 1000 else { return }
        let words = try? ShellWords.commands(in: "a '\(plain)'")
        try hold(words?.first?.last?.utf8.elementsEqual(plain.utf8) == true, "a quoted word is another one")
    }
}
