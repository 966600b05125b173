import PawlBase
import Testing

/// RateLimit and its relatives (draft-ietf-httpapi-ratelimit-headers).
@Suite struct RateLimitFieldsTests {
    private let now = UnixTime(seconds: 1_800_000_000)

    private func wait(_ lines: String...) -> Double? {
        let text = (["HTTP/1.1 200 OK"] + lines + ["", ""]).joined(separator: "\r\n")
        return ResponseHead(parsing: Array(text.utf8))?.quotaWait(wallTime: now)?.seconds
    }

    @Test func `a quota that is used up states how long to wait`() {
        #expect(wait("RateLimit: \"default\";r=0;t=30") == 30)
        #expect(wait("ratelimit: default; r=0; t=30") == 30)
        #expect(wait("RateLimit: \"a\";r=7;t=90, \"b\";r=0;t=3, \"c\";r=0;t=5") == 5)
        #expect(wait("RateLimit: \"a\";r=9;t=3", "RateLimit: \"b\";r=0;t=4;pk=:cHsd:") == 4)
        #expect(wait("RateLimit: \"a,b;r=5\";r=0;t=8") == 8)
    }

    @Test func `the window of its policy counts where no time is stated`() {
        #expect(wait("RateLimit: \"b\";r=0", "RateLimit-Policy: \"a\";q=5;w=9, \"b\";q=1;w=7") == 7)
        #expect(wait("RateLimit: \"b\";r=0", "RateLimit-Policy: \"a\";q=5;w=9") == nil)
        #expect(wait("RateLimit-Policy: \"a\";q=5;w=9") == nil)
    }

    @Test func `the forms of earlier drafts are understood`() {
        #expect(wait("RateLimit: limit=100, remaining=0, reset=12") == 12)
        #expect(wait("RateLimit: limit=100, remaining=1, reset=12") == nil)
        #expect(wait("RateLimit-Limit: 100", "RateLimit-Remaining: 0", "RateLimit-Reset: 11") == 11)
        #expect(wait("RateLimit-Remaining: 5", "RateLimit-Reset: 11") == nil)
        #expect(wait("RateLimit-Remaining: 0", "RateLimit-Reset: 1800000020") == 20, "a time since 1970")
        #expect(wait("RateLimit-Remaining: 0", "RateLimit-Reset: 1700000000") == nil)
    }

    @Test(arguments: [
        "", "\"default\"", "\"default\";r=1;t=30", "\"default\";r=0", "\"default\";r=0;t=-3", "\"default\";r=0;t=0",
        "\"default\";r=0.0;t=5", "\"default\";r=;t=5", "default", ";r=0", "\"", "remaining=0", ",,,", "r=0;t=x",
    ]) func `what states no wait has no effect`(value: String) { #expect(wait("RateLimit: \(value)") == nil) }

    @Test func `no wait exceeds a day`() {
        #expect(wait("RateLimit: \"d\";r=0;t=999999999") == 86_400)
        #expect(wait("RateLimit: \"d\";r=0;t=99999999999999999999999") == nil)
    }
}
