import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlSystem

@Suite struct RetryPolicyTests {
    @Test(arguments: [
        (401, Failure.Code.authorization, false, false), (403, .authorization, false, false),
        (407, .authorization, false, false), (404, .notFound, false, false), (410, .notFound, false, false),
        (408, .timeout, true, false), (425, .timeout, true, false), (429, .overloaded, true, true),
        (503, .overloaded, true, true), (502, .overloaded, true, false), (504, .overloaded, true, false),
        (500, .badResponse, true, false), (520, .overloaded, true, false), (527, .overloaded, true, false),
        (400, .badResponse, false, false), (416, .badResponse, false, false), (204, .badResponse, false, false),
        (501, .badResponse, false, false), (528, .badResponse, false, false),
    ]) func `each status has one disposition`(status: Int, code: Failure.Code, isRetried: Bool, complains: Bool) {
        let said = RetryPolicy.disposition(of: .status(status, retryAfter: nil))
        #expect(said.code == code && said.isRetried == isRetried && said.isComplaint == complains)
    }

    @Test func `a pending retry has its reason in a word or two`() {
        let status = Failure(.overloaded, "cannot fetch", at: "u", because: .httpStatus(503))
        #expect(PendingRetry(attempt: 2, limit: 8, after: status).reason == "503")
        let silent = Failure(.timeout, "cannot fetch", at: "u", because: "no data for 5 s")
        #expect(PendingRetry(attempt: 1, limit: 8, after: silent).reason == "timeout")
        #expect(Failure(.diskFull, "", at: "", because: "").brief == "error 9")
    }

    @Test(arguments: [
        (TransferFault.Kind.nameResolution, Failure.Code.nameResolution, true), (.nameMissing, .nameResolution, false),
        (.unreachable, .network, true), (.connectionRefused, .network, true), (.connectTimeout, .timeout, true),
        (.connectionLost, .network, true), (.truncated, .network, true), (.tls, .insecure, false),
        (.proxy, .network, true), (.notFound, .notFound, false), (.denied, .authorization, false),
        (.serverRefused, .badResponse, true), (.commandRefused, .badResponse, false),
        (.malformed, .badResponse, false), (.other, .unknown, true),
    ]) func `each transfer fault has one disposition`(kind: TransferFault.Kind, code: Failure.Code, isRetried: Bool) {
        let said = RetryPolicy.disposition(of: .transfer(TransferFault(kind, foreign: "")))
        #expect(said.code == code && said.isRetried == isRetried)
        #expect(said.isComplaint == (kind == .connectionRefused))
    }

    @Test(arguments: [
        (AttemptFault.silent(hasResponse: true), Failure.Code.timeout, true),
        (.rangeRefused(.init("test", "no")), .badResponse, true), (.unproven(.init("test", "")), .badResponse, false),
        (.page(.init("test", "")), .badResponse, false),
        (.badRedirect(LocalizableMessage(untranslated: "")), .badResponse, false),
        (.downgrade(to: ""), .insecure, false), (.tooManyRedirects(3), .tooManyRedirects, false),
    ]) func `each other fault has one disposition`(fault: AttemptFault, code: Failure.Code, isRetried: Bool) {
        let said = RetryPolicy.disposition(of: fault)
        #expect(said.code == code && said.isRetried == isRetried && !said.isComplaint)
    }

    @Test func `waits double with jitter, end at a minute, and respect the server`() {
        let policy = RetryPolicy(retries: 5, delay: .seconds(1))
        var dice = Dice(seed: 3)
        for attempt in 0...40 {
            let wait = policy.wait(attempt: attempt, retryAfter: nil, dice: &dice).seconds
            let middle = min(60, Double(1 << min(max(attempt, 1) - 1, 16)))
            #expect(wait >= middle * 0.75 && wait <= middle * 1.25)
        }
        #expect(policy.wait(attempt: 9, retryAfter: .seconds(300), dice: &dice) == .seconds(300))
    }

    @Test(arguments: [Interval.zero, .seconds(-5), Interval(nanoseconds: .min), .milliseconds(1)])
    func `a server's zero wait does not send the next request at once`(requested: Interval) {
        let policy = RetryPolicy(retries: 5, delay: .seconds(1))
        var dice = Dice(seed: 4)
        for attempt in 1...8 {
            let wait = policy.wait(attempt: attempt, retryAfter: requested, dice: &dice).seconds
            #expect(wait >= min(60, Double(1 << (attempt - 1))) * 0.75)
        }
    }

    @Test func `a wait of 0 set by the user is a tenth of a second at first, a small one is as set`() {
        var dice = Dice(seed: 5)
        let none = RetryPolicy(retries: 5, delay: .zero)
        let waits = (1...5).map { none.wait(attempt: $0, retryAfter: nil, dice: &dice).seconds }
        #expect(waits.reduce(0, +) > 2)
        let small = RetryPolicy(retries: 5, delay: .milliseconds(10))
        #expect(small.wait(attempt: 1, retryAfter: nil, dice: &dice) < .milliseconds(13))
        #expect(small.wait(attempt: 1, retryAfter: .zero, dice: &dice) >= .milliseconds(75))
    }

    @Test func `no wait exceeds the maximum, whatever the server requests`() {
        var dice = Dice(seed: 6)
        let policy = RetryPolicy(retries: 5, delay: .seconds(1))
        let longest = Interval(nanoseconds: .max)
        #expect(policy.wait(attempt: 1, retryAfter: longest, dice: &dice) == .seconds(3600))
    }
}
