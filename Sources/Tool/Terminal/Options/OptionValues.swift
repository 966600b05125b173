package import PawlBase

/// Parsers of option values.
///
/// Each throws a failure with the option, the value and the expected form.
package enum OptionValues {
    package static func bad(_ option: String, _ value: String, _ expected: String) -> Failure {
        Failure(.badOption, "cannot use", at: "--\(option) \(value)", because: expected)
    }

    package static func integer(
        _ option: String, _ value: String, in range: ClosedRange<Int>, or word: String? = nil
    ) throws(Failure) -> Int {
        guard isDigits(value), let number = Int(value), range.contains(number) else {
            let other = word.map { "\($0) or " } ?? ""
            throw bad(option, value, "must be \(other)a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// `nil` for `auto`.
    package static func integerOrAuto(
        _ option: String, _ value: String, in range: ClosedRange<Int>
    ) throws(Failure) -> Int? {
        value.lowercased() == "auto" ? nil : try integer(option, value, in: range, or: "auto")
    }

    package static func priority(_ value: String) throws(Failure) -> Int {
        guard let number = Int(value), (-1_000_000...1_000_000).contains(number) else {
            throw bad("priority", value, "must be a whole number from -1000000 to 1000000")
        }
        return number
    }

    /// `auto`, `none` or a number, for the service.
    package static func port(_ value: String) throws(Failure) -> String {
        let isNumber = isDigits(value) && Int(value).map((0...65_535).contains) == true
        guard isNumber || ["auto", "none"].contains(value.lowercased()) else {
            throw bad("port", quoted(value), "must be a number from 0 to 65535, auto or none")
        }
        return value
    }

    package static func rate(_ option: String, _ value: String) throws(Failure) -> Int64? {
        guard let bytes = ByteQuantity.parse(value) else {
            throw bad(option, value, "must be a number of bytes per second, such as 500K or 2.5M (0 means no limit)")
        }
        return bytes == 0 ? nil : bytes
    }

    package static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ option: String, _ value: String, of type: Choice.Type
    ) throws(Failure) -> Choice {
        if let choice = Choice(rawValue: value.lowercased()) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        throw bad(option, value, "must be one of \(names.joined(separator: ", "))")
    }

    /// Text that becomes part of a request.
    package static func text(_ option: String, _ value: String) throws(Failure) -> String {
        guard FieldText.isSafe(value) else {
            throw Failure(.badOption, "cannot use", at: "--\(option)", because: FieldText.flaw)
        }
        return value
    }

    package static func notEmpty(_ option: String, _ value: String) throws(Failure) -> String {
        guard !value.isEmpty, !value.contains("\0") else { throw bad(option, quoted(value), "must not be empty") }
        return value
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }
}
