package import PawlBase
import PawlIntegrity

#if Features
import PawlS3
#endif

// Texts, which become part of a request or which C reads up to a NUL.
extension OptionForm<String> {
    private static func text(check: @escaping @Sendable (String, OptionID) throws(Failure) -> Void) -> OptionForm {
        OptionForm(text: { $0 }, value: { $0 }, parse: { $0 }, expected: FieldText.message, check: check)
    }

    /// It may be a secret, and is not reported.
    static let text = text { (text, id) throws(Failure) in
        guard FieldText.isSafe(text) else { throw Failure(refusing: id, because: FieldText.message) }
    }

    /// The URL of a proxy, or nothing for none; it may hold a login, and is not reported.
    static let proxy = text { (text, id) throws(Failure) in
        guard !ProxyURL.isUsable(text) else { return }
        throw Failure(
            refusing: id,
            because: LocalizableMessage(
                "must-be-proxy",
                "must be [SCHEME://][USER:PASSWORD@]HOST[:PORT] with one of the schemes \(ProxyURL.schemes.joined(separator: ", "))"
            ))
    }

    /// The name of a local file, or a URL that is checked elsewhere.
    static let notEmpty = {
        var form = text
        form.parse = { $0.isEmpty ? nil : $0 }
        form.expected = LocalizableMessage("must-not-be-empty", "must not be empty")
        return form
    }()

    #if Features
    /// The name of a region, which may become part of a host name.
    static let region = {
        var form = text(check: checkRegion)
        form.nearest = { S3Access.isRegion($0) ? $0 : nil }
        return form
    }()

    @Sendable private static func checkRegion(_ text: String, _ id: OptionID) throws(Failure) {
        guard !S3Access.isRegion(text) else { return }
        throw Failure(
            refusing: id, text,
            because: LocalizableMessage("must-be-region", "must be the name of a region, such as eu-west-1"))
    }

    /// The URL of an object store.
    static let endpoint = {
        var form = text(check: checkEndpoint)
        form.nearest = { (try? S3Configuration.endpoint($0)) == nil ? nil : $0 }
        return form
    }()

    @Sendable private static func checkEndpoint(_ text: String, _ id: OptionID) throws(Failure) {
        _ = try S3Configuration.endpoint(text)
    }
    #else
    // Nothing uses them.
    static let region = text
    static let endpoint = text
    #endif

    static let header = {
        var form = text(check: checkHeader)
        form.parse = { HeaderLine.trimmed($0) }
        // No server accepts a field without a valid name (RFC 9110 §5.1).
        form.nearest = { HeaderLine.isValid(HeaderLine.trimmed($0)) ? HeaderLine.trimmed($0) : nil }
        return form
    }()

    @Sendable private static func checkHeader(_ text: String, _ id: OptionID) throws(Failure) {
        guard HeaderLine.isValid(text) else {
            throw Failure(
                refusing: id,
                // Without a colon, what follows the name may be its value.
                text.contains(":")
                    ? Redaction.header(text)
                    : text.prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" } + Redaction.mark,
                because: LocalizableMessage("must-be-header", "must be one header line, such as 'Accept: text/plain'"))
        }
    }

    /// A digest in the usual forms, or several separated by commas.
    static let checksum = {
        var form = text(check: checkChecksum)
        form.parse = { Checksum.list($0)?.text ?? $0 }
        return form
    }()

    @Sendable private static func checkChecksum(_ text: String, _ id: OptionID) throws(Failure) {
        guard Checksum.list(text) == nil else { return }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) { try checkOne(String(part), id) }
    }

    private static func checkOne(_ text: String, _ id: OptionID) throws(Failure) {
        guard Checksum(pasted: text) == nil else { return }
        let type = text.utf8.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ":") }
        if type.count < text.utf8.count, let algorithm = HashAlgorithm(spelled: type) {
            throw Failure(
                refusing: id, text,
                because: LocalizableMessage(
                    "must-have-digits", "\(algorithm.rawValue) must have \(algorithm.length * 2) hexadecimal digits"))
        }
        throw Failure(refusing: id, text, because: .mustBeOneDigest)
    }

    /// `sha256//` and the Base64 form of 32 bytes, as curl's `--pinnedpubkey`.
    static let publicKey = {
        var form = text(check: checkPublicKey)
        // One that cannot be read stays: without it any key would do.
        form.nearest = { PublicKeyPin.canonical($0) ?? $0 }
        return form
    }()

    @Sendable private static func checkPublicKey(_ text: String, _ id: OptionID) throws(Failure) {
        guard PublicKeyPin.canonical(text) != nil else {
            throw Failure(
                refusing: id, text,
                because: LocalizableMessage(
                    "must-be-key", "must be sha256// and the Base64 form of a SHA-256 digest (44 characters)"))
        }
    }

    /// `HOST:PORT:ADDRESS`, as curl's `--resolve`.
    static let addressOverride = text { (text, id) throws(Failure) in
        guard AddressOverride(text) == nil else { return }
        throw Failure(
            refusing: id, text,
            because: LocalizableMessage(
                "must-be-override",
                "must be HOST:PORT:ADDRESS with one numeric address, such as example.org:443:192.0.2.1"))
    }

    /// `A-B`, `A-` or `-N`.
    package static let range = text { (text, _) throws(Failure) in _ = try RangeOption.parse(text) }

    /// Without libcurl's prefixes (`if!NAME`, `host!NAME`).
    static let interface = text { (name, id) throws(Failure) in
        guard !name.isEmpty, name.utf8.count <= 255, name.utf8.allSatisfy({ $0 > 0x21 && $0 < 0x7F }) else {
            throw Failure(
                refusing: id, name,
                because: LocalizableMessage("must-be-interface", "must be an interface name or a local address"))
        }
    }

    /// Unlike a server's it may begin with a dot, but it stays inside the folder.
    static let fileName = text { (name, id) throws(Failure) in
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }),
            name.utf8.count <= 255
        else {
            throw Failure(
                refusing: id, name,
                because: LocalizableMessage("must-be-name", "must be one path component of 1 to 255 bytes"))
        }
    }
}

/// A header field that a user wrote.
private enum HeaderLine {
    static func isValid(_ line: String) -> Bool {
        let name = line.prefix { $0 != ":" }
        let isToken = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        return isToken && name.count < line.count && FieldText.isSafe(line)
    }

    /// Without the blanks around the name, which version 0.1.0 accepted.
    static func trimmed(_ line: String) -> String {
        guard let colon = line.firstIndex(of: ":") else { return line }
        var name = line[..<colon].drop { $0 == " " || $0 == "\t" }
        while let last = name.last, last == " " || last == "\t" { name.removeLast() }
        return "\(name)\(line[colon...])"
    }
}

extension LocalizableMessage {
    /// What a text that is taken for one digest has to be.
    package static let mustBeOneDigest = LocalizableMessage(
        "must-be-one-digest",
        "must be TYPE=HEX, TYPE-BASE64, digits alone or one line of a sums file, with one of the types \(DownloadOption.checksumNames)"
    )
}

/// The SHA-256 digest of a server's public key (SubjectPublicKeyInfo, RFC 7469 §2.4).
enum PublicKeyPin {
    /// The form that libcurl compares; `nil` if it is none.
    static func canonical(_ text: String) -> String? {
        guard text.hasPrefix("sha256//"), let digest = Base64.decode(text.utf8.dropFirst(8)), digest.count == 32 else {
            return nil
        }
        return "sha256//" + Base64.encode(digest)
    }
}
