import PawlCore

/// How values of one type are written, and which are valid.
struct OptionForm<Value: Sendable>: Sendable {
    /// The stored form.
    var text: @Sendable (Value) -> String
    /// The value of a stored form; `nil` if it is none.
    var value: @Sendable (String) -> Value?
    /// The value of a text that a user wrote; `nil` if it is none.
    var parse: @Sendable (String) -> Value?
    /// Whether a text that a user wrote removes an optional value.
    var meansNone: @Sendable (String) -> Bool = { _ in false }
    /// The valid value nearest to one that another version stored; `nil` if there is none.
    var nearest: @Sendable (Value) -> Value? = { $0 }
    /// The expected form.
    var expected: LocalizableMessage
    /// Throws code 28 for an invalid value.
    var check: @Sendable (Value, OptionID) throws(Failure) -> Void

    /// The valid value of a text that a user wrote.
    func read(_ text: String, _ id: OptionID) throws(Failure) -> Value {
        guard let value = parse(text) else {
            throw Failure(refusing: id, text, because: expected)
        }
        try check(value, id)
        return value
    }
}

// Numbers, with their bounds.
extension OptionForm where Value: Comparable & LosslessStringConvertible {
    private static func number(
        _ expected: LocalizableMessage,
        isValid: @escaping @Sendable (Value) -> Bool,
        parse: @escaping @Sendable (String) -> Value?
    ) -> Self {
        Self(
            text: { $0.description },
            value: { Value($0) },
            parse: { text in parse(text).flatMap { isValid($0) ? $0 : nil } },
            expected: expected,
            check: { (value, id) throws(Failure) in
                guard !isValid(value) else { return }
                throw Failure(refusing: id, value.description, because: expected)
            }
        )
    }

    /// Decimal digits; `none`, in any case, removes an optional value.
    static func integer(_ range: ClosedRange<Value>, none: String? = nil) -> Self
    where Value: FixedWidthInteger {
        let expected =
            range.upperBound == .max
            ? LocalizableMessage.atLeast("\(range.lowerBound)")
            : LocalizableMessage(
                "must-be-between",
                "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        var form = number(expected, isValid: range.contains) { text in
            text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Value(text) : nil
        }
        form.meansNone = { $0.lowercased() == none }
        form.nearest = { min(max($0, range.lowerBound), range.upperBound) }
        return form
    }
}

extension OptionForm<Int64> {
    /// Bytes per second; 0 is no limit.
    static let rate = {
        let expected = LocalizableMessage(
            "must-be-rate",
            "must be a number of bytes per second, such as 500K or 2.5M (0 means no limit)"
        )
        var form = number(expected, isValid: { $0 >= 0 }, parse: ByteQuantity.parse)
        form.meansNone = { ByteQuantity.parse($0) == 0 }
        form.nearest = { $0 >= 0 ? $0 : nil }
        return form
    }()

    /// Bytes of the content; a negative number never was a size.
    static let size = {
        var form = integer(0...Int64.max)
        form.nearest = { $0 >= 0 ? $0 : nil }
        return form
    }()
}

extension OptionForm<Double> {
    /// Seconds up to a day, fractions allowed.
    static func seconds(zeroAllowed: Bool) -> Self {
        number(
            zeroAllowed
                ? LocalizableMessage(
                    "must-be-seconds-or-zero",
                    "must be a number of seconds from 0 to 86400, such as 2 or 0.5"
                )
                : LocalizableMessage(
                    "must-be-seconds",
                    "must be a number of seconds above 0, up to 86400, such as 2 or 0.5"
                ),
            isValid: { (0...86_400).contains($0) && (zeroAllowed || $0 > 0) },
            parse: { text in
                // No sign, no exponent, no name.
                let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
                return isPlain ? Double(text.hasSuffix(".") ? String(text.dropLast()) : text) : nil
            }
        )
    }
}

extension OptionForm<Bool> {
    static let truth = OptionForm(
        text: { $0.description },
        value: { Bool($0) },
        parse: { Bool($0) },
        expected: LocalizableMessage("must-be-truth", "must be true or false"),
        check: { _, _ in }
    )
}

extension OptionForm where Value: RawRepresentable<String> & CaseIterable {
    static func choice() -> Self {
        let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return Self(
            text: { $0.rawValue },
            value: { Value(rawValue: $0) },
            parse: { Value(rawValue: $0.lowercased()) },
            expected: LocalizableMessage("must-be-one-of", "must be one of \(names)"),
            check: { _, _ in }
        )
    }
}

// Texts, which become part of a request or which C reads up to a NUL.
extension OptionForm<String> {
    private static func text(
        check: @escaping @Sendable (String, OptionID) throws(Failure) -> Void
    ) -> OptionForm {
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
            )
        )
    }

    /// The name of a local file, or a URL that is checked elsewhere.
    static let notEmpty = {
        var form = text
        form.parse = { $0.isEmpty ? nil : $0 }
        form.expected = LocalizableMessage("must-not-be-empty", "must not be empty")
        return form
    }()

    /// The name of a region, which may become part of a host name.
    static let region = {
        var form = text(check: checkRegion)
        form.nearest = { S3Access.isRegion($0) ? $0 : nil }
        return form
    }()

    @Sendable private static func checkRegion(_ text: String, _ id: OptionID) throws(Failure) {
        guard !S3Access.isRegion(text) else { return }
        throw Failure(
            refusing: id,
            text,
            because: LocalizableMessage("must-be-region", "must be the name of a region, such as eu-west-1")
        )
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
                because: LocalizableMessage(
                    "must-be-header",
                    "must be one header line, such as 'Accept: text/plain'"
                )
            )
        }
    }

    /// `TYPE=HEX`, or several separated by commas.
    static let checksum = {
        var form = text(check: checkChecksum)
        form.parse = { $0.lowercased() }
        return form
    }()

    @Sendable private static func checkChecksum(_ text: String, _ id: OptionID) throws(Failure) {
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            try checkOne(String(part), id)
        }
    }

    private static func checkOne(_ text: String, _ id: OptionID) throws(Failure) {
        let parts = text.split(separator: "=", maxSplits: 1).map { String($0) }
        guard parts.count == 2, let algorithm = HashAlgorithm(rawValue: parts[0].lowercased()) else {
            throw Failure(
                refusing: id,
                text,
                because: LocalizableMessage(
                    "must-be-digest",
                    "must be TYPE=HEX with one of the types \(DownloadOption.checksumNames)"
                )
            )
        }
        guard Hexadecimal.bytes(parts[1])?.count == algorithm.length else {
            throw Failure(
                refusing: id,
                text,
                because: LocalizableMessage(
                    "must-have-digits",
                    "\(algorithm.rawValue) must have \(algorithm.length * 2) hexadecimal digits"
                )
            )
        }
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
                refusing: id,
                text,
                because: LocalizableMessage(
                    "must-be-key",
                    "must be sha256// and the Base64 form of a SHA-256 digest (44 characters)"
                )
            )
        }
    }

    /// `HOST:PORT:ADDRESS`, as curl's `--resolve`.
    static let addressOverride = text { (text, id) throws(Failure) in
        guard AddressOverride(text) == nil else { return }
        throw Failure(
            refusing: id,
            text,
            because: LocalizableMessage(
                "must-be-override",
                "must be HOST:PORT:ADDRESS with one numeric address, such as example.org:443:192.0.2.1"
            )
        )
    }

    /// `A-B`, `A-` or `-N`.
    static let range = text { (text, _) throws(Failure) in _ = try RangeOption.parse(text) }

    /// Without libcurl's prefixes (`if!NAME`, `host!NAME`).
    static let interface = text { (name, id) throws(Failure) in
        guard !name.isEmpty, name.utf8.count <= 255, name.utf8.allSatisfy({ $0 > 0x21 && $0 < 0x7F }) else {
            throw Failure(
                refusing: id,
                name,
                because: LocalizableMessage(
                    "must-be-interface",
                    "must be an interface name or a local address"
                )
            )
        }
    }

    /// Unlike a server's it may begin with a dot, but it stays inside the folder.
    static let fileName = text { (name, id) throws(Failure) in
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }),
            name.utf8.count <= 255
        else {
            throw Failure(
                refusing: id,
                name,
                because: LocalizableMessage("must-be-name", "must be one path component of 1 to 255 bytes")
            )
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
    static func atLeast(_ least: String) -> LocalizableMessage {
        LocalizableMessage("must-be-at-least", "must be a whole number, at least \(least)")
    }
}
