package import PawlBase
import PawlSystem

extension HTTPClient {
    /// GET for what describes files (a listing, a manifest), repeated as the policy says; blocks the calling thread.
    ///
    /// `lines` are asked for before each attempt. `refusal` says what is wrong with a response, and `nil` where nothing is;
    /// the last one is thrown as a failure to `what`.
    package func get(
        _ address: WebAddress, to what: String, limit: Int, policy: RetryPolicy,
        lines: () throws(Failure) -> [String],
        refusal: (ResponseHead, [UInt8]) -> StatedRefusal?
    ) throws(Failure) -> (head: ResponseHead, body: [UInt8]) {
        var dice = Dice(seed: .random(in: .min ... .max))
        var attempt = 0
        while true {
            let request = Request("GET", address, lines: ["Accept-Encoding: identity"] + (try lines()), limit: limit)
            var failure: Failure
            let disposition: RetryPolicy.Disposition
            var retryAfter: Interval?
            do throws(TransferFault) {
                let (head, body) = try perform(request)
                guard let refusal = refusal(head, body) else { return (head, body) }
                disposition = refusal.disposition
                failure = refusal.failure(what, address)
                let now = head.date ?? SystemClock().wallTime
                retryAfter =
                    head.retryAfter.flatMap { RetryAfter.parse($0, now: now) } ?? head.rateLimit?.wait(now: now)
            } catch {
                disposition = RetryPolicy.disposition(of: .transfer(error))
                failure = Failure(disposition.code, what, at: address.redacted, because: error.text)
                failure.fault = error.kind
            }
            guard disposition.isRetried, attempt < policy.retries else { throw failure }
            attempt += 1
            let wait = policy.wait(attempt: attempt, retryAfter: policy.allowed(retryAfter), dice: &dice)
            _ = Monitor(false).wait(until: SystemClock().now + wait) { $0 ? true : nil }
        }
    }
}
