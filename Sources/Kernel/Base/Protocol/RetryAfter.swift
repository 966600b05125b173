/// Retry-After (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The longest wait that is honoured; longer ones are clamped to it.
    package static let longest = Interval(nanoseconds: longestSeconds * 1_000_000_000)

    private static let longestSeconds: Int64 = 24 * 3600

    /// The wait that the server requests, `nil` when the field is neither seconds nor a date.
    ///
    /// `now` is the server's own clock (Date) where it sent one: its Retry-After date is relative to that.
    package static func parse(_ text: String, now: UnixTime) -> Interval? {
        let value = Array(text.utf8).trimmed(\.isWhiteSpace)
        // Some servers send fractions; none means less than the whole second.
        let number = value.prefix(while: \.isDigit)
        let fraction = value[number.endIndex...]
        let isNumber = fraction.isEmpty || fraction.first == .dot && fraction.dropFirst().allSatisfy(\.isDigit)
        if !number.isEmpty, isNumber {
            guard let seconds = number.decimalNumber else { return longest }
            return wait(fraction.contains { $0 > 0x30 } ? seconds.addingReportingOverflow(1) : (seconds, false))
        }
        guard let date = UnixTime(httpDate: value, now: now) else { return nil }
        return date > now ? wait(date.seconds.subtractingReportingOverflow(now.seconds)) : .zero
    }

    private static func wait(_ seconds: (partialValue: Int64, overflow: Bool)) -> Interval {
        guard !seconds.overflow, seconds.partialValue < longestSeconds else { return longest }
        return Interval(nanoseconds: seconds.partialValue * 1_000_000_000)
    }
}
