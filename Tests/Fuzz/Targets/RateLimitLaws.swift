@testable import PawlBase

/// RateLimit, RateLimit-Policy and their older forms: a wait has bounds, and follows from a quota that is used up.
enum RateLimitLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let now = UnixTime(seconds: input.number() % 4_000_000_000)
        if input.flag() { return try checkStated(&input, now: now) }
        var fields = RateLimitFields()
        fields.limit = input.flag() ? input.text() : nil
        fields.policy = input.flag() ? input.text() : nil
        fields.remaining = input.flag() ? input.text() : nil
        fields.reset = input.flag() ? input.text() : nil
        guard let wait = fields.wait(now: now) else { return }
        try hold(.zero < wait && wait <= RetryAfter.longest, "a wait of \(wait.seconds) s")
        let all = [fields.limit, fields.remaining].compactMap { $0 }.joined()
        try hold(all.utf8.contains(UInt8(ascii: "0")), "a wait though nothing is used up: \(fields)")
        // One field alone decides no more than both.
        var items = fields
        (items.remaining, items.reset) = (nil, nil)
        var singles = fields
        (singles.limit, singles.policy) = (nil, nil)
        let longest = [items.wait(now: now), singles.wait(now: now)].compactMap { $0 }.max()
        try hold(longest == wait, "\(wait.seconds) s is not the longest of its parts")
    }

    /// A well-formed quota that is used up is waited out, in the form of the draft and in the older ones.
    private static func checkStated(_ input: inout FuzzInput, now: UnixTime) throws(BrokenLaw) {
        let seconds = 1 + input.number() % 86_400
        let expected = min(Interval.seconds(Double(seconds)), RetryAfter.longest)
        let forms: [(limit: String?, policy: String?, remaining: String?, reset: String?)] = [
            ("\"a\";r=0;t=\(seconds)", nil, nil, nil),
            ("\"b\";r=1, \"a\" ; r=0 ; t=\(seconds)", "\"a\";q=9;w=1", nil, nil),
            ("\"a\";r=0", "\"b\";w=1, \"a\";q=9;w=\(seconds)", nil, nil),
            ("limit=9, remaining=0, reset=\(seconds)", nil, nil, nil), (nil, nil, "0", " \(seconds) "),
        ]
        for form in forms {
            var fields = RateLimitFields()
            (fields.limit, fields.policy, fields.remaining, fields.reset) = form
            let wait = fields.wait(now: now)
            try hold(wait == expected, "\(fields) is a wait of \(wait?.seconds ?? -1) s")
        }
        var left = RateLimitFields()
        left.limit = "\"a\";r=1;t=\(seconds)"
        (left.remaining, left.reset) = ("1", "\(seconds)")
        try hold(left.wait(now: now) == nil, "a quota that is left is waited for")
    }
}
