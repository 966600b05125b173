@testable import PawlBase

/// Whatever name a server requests, the names on disk are safe and fit.
enum NamingLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let number = Int(input.number())
        let bytes = input.rest()
        try hold(PathText.bytes(PathText.text(bytes)) == bytes, "a name's bytes change")
        let name = FileName.safe(String(decoding: bytes, as: UTF8.self))
        try checkSafe(name)
        try hold(FileName.safe(name) == name, "a safe name changes: \(name)")
        try checkSafe(FileName.numbered(name, number))
        try hold(FileName.numbered(name, number) != FileName.numbered(name, number ^ 1), "numbers make no odds")
        let beside = [FileName.partial(of: name), FileName.journal(of: name), FileName.damagedJournal(of: name)]
        for other in beside { try checkSafe(other) }
        try hold(Set(beside + [name]).count == 4, "two files of one name: \(beside)")
    }

    static func checkSafe(_ name: String) throws(BrokenLaw) {
        try hold(1...FileName.limit ~= name.utf8.count, "a name of \(name.utf8.count) bytes")
        try hold(name != "." && name != "..", "a folder: \(name)")
        for scalar in name.unicodeScalars {
            try hold(scalar != "/" && scalar != "\\", "a path: \(name)")
            try hold(scalar.properties.generalCategory != .control, "a control character in \(name)")
        }
        try hold(name.utf8.first != .dot && name.utf8.first != .dash, "a dot or dash in front: \(name)")
    }
}
