import PawlCore

/// Parsers of option values.
///
/// Each throws a failure with the option, the value and the expected form.
enum OptionValues {
    static func bad(_ option: String, _ value: String, _ expected: String) -> Failure {
        Failure(.badOption, "cannot use", at: "--\(option) \(value)", because: expected)
    }

    static func integer(_ option: String, _ value: String, in range: ClosedRange<Int>) throws(Failure) -> Int
    {
        guard isDigits(value), let number = Int(value), range.contains(number) else {
            throw bad(option, value, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Seconds, fractions allowed.
    static func seconds(_ option: String, _ value: String, zeroAllowed: Bool) throws(Failure) -> Double {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        let isPlain =
            parts.count <= 2 && parts.contains { !$0.isEmpty }
            && parts.allSatisfy { $0.isEmpty || isDigits($0) }
        guard isPlain, let number = Double(value.hasSuffix(".") ? String(value.dropLast()) : value),
            number <= 86_400, zeroAllowed ? number >= 0 : number > 0
        else {
            let range = zeroAllowed ? "from 0 to 86400" : "above 0, up to 86400"
            throw bad(option, value, "must be a number of seconds \(range), such as 2 or 0.5")
        }
        return number
    }

    static func rate(_ option: String, _ value: String) throws(Failure) -> Int64? {
        guard let bytes = ByteQuantity.parse(value) else {
            throw bad(
                option,
                value,
                "must be a number of bytes per second, such as 500K or 2.5M (0 means no limit)"
            )
        }
        return bytes == 0 ? nil : bytes
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ option: String,
        _ value: String,
        of type: Choice.Type
    ) throws(Failure) -> Choice {
        if let choice = Choice(rawValue: value.lowercased()) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        throw bad(option, value, "must be one of \(names.joined(separator: ", "))")
    }

    static func header(_ option: String, _ value: String) throws(Failure) -> String {
        let name = value.prefix { $0 != ":" }
        let isToken = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isToken, name.count < value.count, FieldText.isSafe(value) else {
            throw bad(option, value, "must be one header line, such as 'Accept: text/plain'")
        }
        return value
    }

    /// `type=hex`, checked for the type and for the number of digits, in lower case.
    static func checksum(_ option: String, _ value: String) throws(Failure) -> String {
        let parts = value.lowercased().split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let algorithm = HashAlgorithm(rawValue: String(parts[0])) else {
            let names = HashAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw bad(option, value, "must be TYPE=HEX with one of the types \(names)")
        }
        guard parts[1].utf8.count == algorithm.length * 2, parts[1].allSatisfy(\.isHexDigit) else {
            throw bad(
                option,
                value,
                "\(algorithm.rawValue) must have \(algorithm.length * 2) hexadecimal digits"
            )
        }
        return "\(parts[0])=\(parts[1])"
    }

    /// `A-B`, `A-` or `-N`.
    static func range(_ option: String, _ value: String) throws(Failure) -> String {
        _ = try RangeOption.parse(value)
        return value
    }

    /// Text that becomes part of a request.
    static func text(_ option: String, _ value: String) throws(Failure) -> String {
        guard FieldText.isSafe(value) else {
            throw Failure(.badOption, "cannot use", at: "--\(option)", because: FieldText.flaw)
        }
        return value
    }

    static func notEmpty(_ option: String, _ value: String) throws(Failure) -> String {
        guard !value.isEmpty, !value.contains("\0") else {
            throw bad(option, quoted(value), "must not be empty")
        }
        return value
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }
}
