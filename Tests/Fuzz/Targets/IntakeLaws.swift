@testable import PawlBase
@testable import PawlIntake
@testable import PawlIntegrity

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
        switch try? DroppedContent(bytes, named: "f") {
        case .entries(let entries): try hold(!entries.isEmpty, "no download")
        case .list(let entries):
            let translated = (try? TransferCommand.translated(entries) { $0 == "dir" }) ?? nil
            try hold(translated?.count ?? entries.count == entries.count, "a download is missing")
        case .text, .torrent, nil: break
        }
        let utf8 = UnicodeText.utf8(bytes)
        try hold(
            utf8 == bytes || bytes.suffix(utf8.count) == utf8[...] || String(validating: utf8, as: UTF8.self) != nil,
            "no text")
        if let checksum = Checksum(pasted: text) {
            try hold(Checksum(text: checksum.text) == checksum, "a digest is another one: \(text)")
        }
        let plain = String(text.unicodeScalars.filter { $0 != "'" && $0 != "^" }.map(Character.init))
        guard plain.utf8.count < 1000 else { return }
        let words = try? ShellWords.commands(in: "a '\(plain)'")
        try hold(words?.first?.last?.utf8.elementsEqual(plain.utf8) == true, "a quoted word is another one")
    }
}
