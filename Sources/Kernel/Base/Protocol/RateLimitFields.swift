/// The fields by which a server states how many requests it still allows
/// (draft-ietf-httpapi-ratelimit-headers).
///
/// `RateLimit: "default";r=0;t=30` with `RateLimit-Policy: "default";q=100;w=60`; of earlier drafts
/// `RateLimit: limit=100, remaining=0, reset=30`, and RateLimit-Remaining with RateLimit-Reset.
package struct RateLimitFields: Hashable, Sendable {
    /// RateLimit, RateLimit-Policy, RateLimit-Remaining and RateLimit-Reset as sent; `nil` where absent.
    package var limit: String?
    package var policy: String?
    package var remaining: String?
    package var reset: String?

    package init() {}

    /// One quota or policy: its name, and its parameters.
    private struct Item {
        var name: [UInt8]
        var value: [UInt8]?
        var parameters: [FieldParameter]

        func number(_ name: String) -> Int64? {
            parameters.first { $0.name == name }.flatMap { Array($0.value.utf8).decimalNumber }
        }
    }

    /// More is not parsed of one field.
    private static let mostItems = 32
    /// From here on a number of seconds is a time since 1970, as some servers send it.
    private static let firstTime: Int64 = 1_000_000_000

    /// How long no further request is allowed: the longest of the quotas that are used up; `nil` if none is, or if it is
    /// not stated for how long.
    ///
    /// `now` is the server's own clock where it sent one.
    package func wait(now: UnixTime) -> Interval? {
        let waits = [waitOfItems(now: now), waitOfSingles(now: now)].compactMap { $0 }
        guard let longest = waits.max(), longest > .zero else { return nil }
        return min(longest, RetryAfter.longest)
    }

    private func waitOfItems(now: UnixTime) -> Interval? {
        guard let limit else { return nil }
        let items = Self.items(limit)
        if let left = items.first(where: { $0.name.isCaseInsensitively("remaining") })?.value?.decimalNumber {
            let reset = items.first { $0.name.isCaseInsensitively("reset") }?.value?.decimalNumber
            return left == 0 ? Self.span(reset, now: now) : nil
        }
        let used = items.filter { $0.number("r") == 0 }
        guard !used.isEmpty else { return nil }
        let policies = policy.map(Self.items) ?? []
        // Without a time, the window of its policy is the longest that it can be.
        return used.compactMap { item in
            Self.span(item.number("t") ?? policies.first { $0.name == item.name }?.number("w"), now: now)
        }.max()
    }

    private func waitOfSingles(now: UnixTime) -> Interval? {
        guard let remaining, Self.number(remaining) == 0, let reset else { return nil }
        return Self.span(Self.number(reset), now: now)
    }

    private static func number(_ text: String) -> Int64? { Array(text.utf8).trimmed(\.isWhiteSpace).decimalNumber }

    private static func span(_ seconds: Int64?, now: UnixTime) -> Interval? {
        guard var seconds, seconds >= 0 else { return nil }
        if seconds >= firstTime {
            let (left, isTooFar) = seconds.subtractingReportingOverflow(now.seconds)
            guard !isTooFar, left > 0 else { return nil }
            seconds = left
        }
        return .seconds(Double(min(seconds, 24 * 3600)))
    }

    /// The members of a list or dictionary (RFC 9651 §3.1, §3.2) with their parameters.
    private static func items(_ text: String) -> [Item] {
        var scanner = FieldScanner(text)
        var items: [Item] = []
        while !scanner.isAtEnd, items.count < mostItems {
            scanner.skipBlanks()
            var item = Item(name: [], value: nil, parameters: [])
            if scanner.take(.quote) {
                item.name = scanner.quotedString()
            } else {
                item.name = Array(scanner.take(upTo: .equals, .semicolon, .comma).trimmed(\.isWhiteSpace))
                if scanner.take(.equals) {
                    item.value = Array(scanner.take(upTo: .semicolon, .comma).trimmed(\.isWhiteSpace))
                }
            }
            item.parameters = scanner.parameters()
            _ = scanner.take(.comma)
            items.append(item)
        }
        return items
    }
}

extension ResponseHead {
    /// How long the server allows no further request, by its RateLimit fields and its own clock.
    package func quotaWait(wallTime: UnixTime) -> Interval? { rateLimit?.wait(now: date ?? wallTime) }
}

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
