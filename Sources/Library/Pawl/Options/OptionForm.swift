import PawlBase

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
        guard let value = parse(text) else { throw Failure(refusing: id, text, because: expected) }
        try check(value, id)
        return value
    }
}

// Numbers, with their bounds.
extension OptionForm where Value: Comparable & LosslessStringConvertible {
    private static func number(
        _ expected: LocalizableMessage, isValid: @escaping @Sendable (Value) -> Bool,
        parse: @escaping @Sendable (String) -> Value?
    ) -> Self {
        Self(
            text: { $0.description }, value: { Value($0) },
            parse: { text in parse(text).flatMap { isValid($0) ? $0 : nil } }, expected: expected,
            check: { (value, id) throws(Failure) in
                guard !isValid(value) else { return }
                throw Failure(refusing: id, value.description, because: expected)
            })
    }

    /// Decimal digits; `none`, in any case, removes an optional value.
    static func integer(_ range: ClosedRange<Value>, none: String? = nil) -> Self where Value: FixedWidthInteger {
        let expected =
            range.upperBound == .max
            ? LocalizableMessage.atLeast("\(range.lowerBound)")
            : LocalizableMessage(
                "must-be-between", "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
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
            "must-be-rate", "must be a number of bytes per second, such as 500K or 2.5M (0 means no limit)")
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

extension OptionForm<Duration> {
    /// Seconds up to a day, fractions allowed.
    static func seconds(zeroAllowed: Bool) -> Self {
        let expected =
            zeroAllowed
            ? LocalizableMessage(
                "must-be-seconds-or-zero", "must be a number of seconds from 0 to 86400, such as 2 or 0.5")
            : LocalizableMessage(
                "must-be-seconds", "must be a number of seconds above 0, up to 86400, such as 2 or 0.5")
        let isValid: @Sendable (Duration) -> Bool = {
            (.zero ... .seconds(86_400)).contains($0) && (zeroAllowed || $0 > .zero)
        }
        return Self(
            text: { $0.seconds.description }, value: { Double($0).map { Duration(clampingSeconds: $0) } },
            parse: { text in
                // No sign, no exponent, no name.
                let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
                guard isPlain, let seconds = Double(text.hasSuffix(".") ? String(text.dropLast()) : text) else {
                    return nil
                }
                let duration = Duration(clampingSeconds: seconds)
                return isValid(duration) ? duration : nil
            }, expected: expected,
            check: { (duration, id) throws(Failure) in
                guard !isValid(duration) else { return }
                throw Failure(refusing: id, duration.seconds.description, because: expected)
            })
    }
}

extension OptionForm<Bool> {
    static let truth = OptionForm(
        text: { $0.description }, value: { Bool($0) }, parse: { Bool($0) },
        expected: LocalizableMessage("must-be-truth", "must be true or false"), check: { _, _ in })
}

extension OptionForm where Value: RawRepresentable<String> & CaseIterable {
    static func choice() -> Self {
        let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return Self(
            text: { $0.rawValue }, value: { Value(rawValue: $0) }, parse: { Value(rawValue: $0.lowercased()) },
            expected: LocalizableMessage("must-be-one-of", "must be one of \(names)"), check: { _, _ in })
    }
}

extension LocalizableMessage {
    static func atLeast(_ least: String) -> LocalizableMessage {
        LocalizableMessage("must-be-at-least", "must be a whole number, at least \(least)")
    }
}
