package import PawlBase
import PawlDisk
import PawlHTTP
import PawlSystem
import Synchronization

/// A bucket's objects: requests that block the calling thread.
///
/// Any thread may use it, several at once too. A request is repeated as the policy says while the store
/// is overloaded or not reachable.
package final class ObjectStore: Sendable {
    /// What a store says of an object.
    package struct Facts: Hashable, Sendable {
        package var size: Int64
        /// Without its quotes.
        package var entityTag: String
        /// The metadata that Pawl stores with what it wrote.
        package var content: String?
    }

    /// How an object was stored.
    package enum Stored: Hashable, Sendable {
        /// With this entity tag.
        case stored(entityTag: String)
        /// There was one already, and it had to be the first.
        case exists
    }

    /// The bytes of one request and what it says of them.
    package struct Payload: Sendable {
        package var bytes: [UInt8]
        /// The media type.
        package var type: String?
        /// Stored with the object, see ``Facts/content``.
        package var content: String?

        package init(_ bytes: [UInt8], type: String? = nil, content: String? = nil) {
            self.bytes = bytes
            self.type = type
            self.content = content
        }
    }

    private struct Learnt {
        var skew: Int64 = 0
        var region: String?
        var dice = Dice(seed: .random(in: .min ... .max))
    }

    let access: S3Access
    private let client: HTTPClient
    private let policy: RetryPolicy
    private let learnt = Mutex(Learnt())
    /// When the last request ends, once it was stopped.
    private let end = Monitor<Instant?>(nil)

    /// `patience`: the longest time without data, in seconds.
    package init(_ access: S3Access, _ settings: TransferSettings, patience: Double, policy: RetryPolicy) {
        self.access = access
        client = HTTPClient(settings, patience: patience)
        self.policy = policy
    }

    /// Ends the requests of all threads, and makes no others: at once those that change nothing, the others when `grace` has
    /// passed without a response.
    ///
    /// Nothing is undone, so another run can continue.
    package func stop(within grace: Interval) { end.with { $0 = $0 ?? SystemClock().now + grace } }

    package var isStopped: Bool { end.read { $0 != nil } }

    private func mustEnd(_ method: String) -> Bool {
        guard let deadline = end.read({ $0 }) else { return false }
        return method == "GET" || method == "HEAD" || SystemClock().now >= deadline
    }

    private func interrupted(_ what: String, _ address: WebAddress) -> Failure {
        Failure(
            .unfinished, what, at: address.redacted,
            because: LocalizableMessage("s3-interrupted", "it was interrupted before the store responded"),
            remedy: "\(.resume)")
    }

    /// The store's time, as far as it is known.
    var time: UnixTime { UnixTime(seconds: SystemClock().wallTime.seconds &+ learnt.withLock(\.skew)) }

    // MARK: requests

    func notS3(_ what: String, _ address: WebAddress, _ why: String) -> Failure {
        Failure(
            .badResponse, what, at: address.redacted,
            because: "\(access.place) did not respond as an object store does: \(why)",
            remedy: "check \(.option(.endpoint))")
    }

    func send(
        _ method: String, _ address: WebAddress, _ parameters: [(name: String, value: String)] = [],
        fields: [(name: String, value: String)] = [], body: [UInt8] = [], limit: Int = 16 << 20, to what: String,
        mayBeMissing: Bool = false
    ) throws(Failure) -> (head: ResponseHead, body: [UInt8]) {
        var attempt = 0
        var mayCorrect = true
        while true {
            if mustEnd(method) { throw interrupted(what, address) }
            var failure: Failure
            var disposition: RetryPolicy.Disposition
            var retryAfter: Interval?
            do throws(TransferFault) {
                let response = try request(method, address, parameters, fields, body, limit)
                let head = response.head
                let code = S3Refusal.code(in: Array(response.body.prefix(S3Refusal.longest)))
                if head.status < 300, code == nil { return response }
                if head.status == 412 { return response }
                if head.status == 404, mayBeMissing, code != "NoSuchBucket" { return response }
                if mayCorrect, correct(by: head, address) {
                    mayCorrect = false
                    continue
                }
                let body = method == "HEAD" ? explanation(of: head, address) : response.body
                let refusal = S3Refusal(head, body: body, access: access).stated(bucket: address.bucket)
                failure = refusal.failure(what, address)
                disposition = refusal.disposition
                retryAfter = head.retryAfter.flatMap { RetryAfter.parse($0, now: head.date ?? SystemClock().wallTime) }
                // Two conditional requests met: the other one may win, or fail.
                if head.status == 409 { disposition.isRetried = true }
            } catch {
                if mustEnd(method) { throw interrupted(what, address) }
                disposition = RetryPolicy.disposition(of: .transfer(error))
                failure = Failure(disposition.code, what, at: address.redacted, because: error.text)
                failure.fault = error.kind
            }
            guard disposition.isRetried, attempt < policy.retries else { throw failure }
            attempt += 1
            let wait = learnt.withLock {
                policy.wait(attempt: attempt, retryAfter: policy.allowed(retryAfter), dice: &$0.dice)
            }
            let isOver = end.wait(until: SystemClock().now + wait) { $0 != nil ? true : nil }
            if isOver ?? false { throw interrupted(what, address) }
        }
    }

    /// The error document for a refused HEAD, whose response has no body: that of GET.
    private func explanation(of head: ResponseHead, _ address: WebAddress) -> [UInt8] {
        guard head.status < 500 else { return [] }
        let isBucket = address.key.isEmpty
        let parameters = isBucket ? [(name: "list-type", value: "2"), (name: "max-keys", value: "1")] : []
        let fields = isBucket ? [] : [(name: "Range", value: "bytes=0-0")]
        let response = try? request("GET", address, parameters, fields, [], S3Refusal.longest)
        return response?.body ?? []
    }

    private func request(
        _ method: String, _ address: WebAddress, _ parameters: [(name: String, value: String)],
        _ fields: [(name: String, value: String)], _ body: [UInt8], _ limit: Int
    ) throws(TransferFault) -> (head: ResponseHead, body: [UInt8]) {
        let region = learnt.withLock(\.region)
        var access = access
        access.region = region ?? access.region
        let location = access.location(of: address, parameters: parameters)
        var fields = fields
        // Of a completion it would be that of the object.
        if method == "PUT" { fields.append(("x-amz-checksum-crc32c", Self.checksum(of: body))) }
        let digest: RequestSigner.BodyDigest =
            body.isEmpty ? .empty : location.scheme == .https ? .unsigned : .digest(ObjectSigner.hash(body))
        let lines = ObjectSigner.lines(method, location, fields: fields, body: digest, access, at: time)
        return try client.perform(
            HTTPClient.Request(method, location, lines: lines, body: body, limit: limit),
            abandonedIf: { self.mustEnd(method) })
    }

    /// With it the store refuses what was damaged on the way.
    private static func checksum(of body: [UInt8]) -> String { Base64.encode(ContentDigest.digest(.crc32c, of: body)) }

    /// Whether the next attempt is made with another region or time.
    private func correct(by head: ResponseHead, _ address: WebAddress) -> Bool {
        var present = access
        present.region = learnt.withLock(\.region) ?? access.region
        if let corrected = present.corrected(by: head) {
            learnt.withLock { $0.region = corrected.region }
            return true
        }
        guard let skew = present.skew(in: head, at: SystemClock().wallTime) else { return false }
        learnt.withLock { $0.skew = skew }
        return true
    }
}
