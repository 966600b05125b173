@testable import PawlBase

/// URLs from users and references from servers.
enum AddressLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let text = input.text()
        let reference = input.text()
        guard let (address, credentials) = try parse(text) else { return }
        // Keys are literal, and relative references are to the URL of a store.
        guard !address.isLocated else { return try ObjectLaws.check(address) }
        try checkForm(address)
        // White space in front is dropped, and keeps the text from being taken for the address's own.
        guard let (spaced, others) = try parse(" " + text) else {
            throw BrokenLaw(description: "refused with a space in front: \(text)")
        }
        let isSame =
            spaced == address && spaced.scheme == address.scheme && spaced.host == address.host
            && spaced.port == address.port && spaced.path == address.path && spaced.query == address.query
        try hold(isSame && others == credentials, "another address with a space in front: \(text)")
        if let credentials {
            let bytes = Array((credentials.user + credentials.password).utf8)
            try hold(!bytes.contains(where: \.isControl), "credentials contain a control character")
        }
        try hold(resolve("", from: address) == address, "an empty reference means another address")
        try hold(resolve(address.text, from: address) == address, "an address does not mean itself")
        if let next = resolve(reference, from: address), !next.isLocated { try checkForm(next) }
    }

    private static func parse(_ text: String) throws(BrokenLaw) -> (address: WebAddress, credentials: Credentials?)? {
        do throws(Failure) { return try WebAddress.parse(text) } catch {
            try hold(error.code == .badOption, "refused with code \(error.code.rawValue)")
            let isPrintable = !error.description.utf8.contains(where: \.isControl)
            try hold(isPrintable, "the error contains a control character")
            return nil
        }
    }

    private static func resolve(_ reference: String, from address: WebAddress) -> WebAddress? {
        try? address.resolving(reference)
    }

    /// The properties that every user of a URL relies on.
    private static func checkForm(_ address: WebAddress) throws(BrokenLaw) {
        let text = address.text
        try hold(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "not ASCII without blanks: \(text)")
        guard let again = try? WebAddress.parse(text) else {
            throw BrokenLaw(description: "its own text is refused: \(text)")
        }
        try hold(again.address == address, "its own text means another address: \(text)")
        try hold(again.credentials == nil, "its own text has credentials: \(text)")
        try hold(address.port > 0, "port 0")
        let host = address.host.utf8
        try hold(!host.isEmpty && host.allSatisfy { $0.lowercased == $0 }, "host \(address.host)")
        try hold(address.path.utf8.first == .slash, "path \(address.path)")
        for segment in address.path.utf8.split(separator: .slash) {
            let name = PercentCoding.decoded(segment)
            try hold(name != [.dot] && name != [.dot, .dot], "dot segment in \(address.path)")
        }
        let isHidden =
            address.query == nil
            || address.redacted.utf8.elementsEqual(
                WebAddress(
                    scheme: address.scheme, host: address.host, port: address.port, path: address.path, query: "…"
                ).text.utf8)
        try hold(isHidden, "the query shows: \(address.redacted)")
        try NamingLaws.checkSafe(FileName.safe(address.lastPathComponent))
    }
}
