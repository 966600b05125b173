package import PawlCore
import PawlCurl
import PawlDisk
import PawlEngine
import PawlSystem
import Synchronization

/// A bucket's objects: requests that block the calling thread.
///
/// Any thread may use it, several at once too. A request is repeated as `DownloadOptions/retries` says while the store
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

    private let access: S3Access
    private let client: CurlClient
    private let policy: RetryPolicy
    private let learnt = Mutex(Learnt())
    /// When the last request ends, once it was stopped.
    private let end = Monitor<Instant?>(nil)

    /// The store that these options mean; throws code 28 for invalid ones.
    package init(_ options: DownloadOptions, deniesPrivateAddresses: Bool = false) throws(Failure) {
        let cache = TransferSettingsCache(deniesPrivateAddresses: deniesPrivateAddresses)
        access = try S3Configuration(options).access()
        let settings = cache.settings(try cache.settings(of: options), for: nil, access: access)
        client = CurlClient(settings, patience: options.timeout)
        policy = RetryPolicy(
            retries: options.retries,
            delay: .seconds(options.retryDelay),
            longestRetryAfter: .seconds(options.maximumRetryAfter)
        )
    }

    /// Ends the requests of all threads, and makes no others: at once those that change nothing, the others when `grace` has
    /// passed without a response.
    ///
    /// Nothing is undone, so another run can continue.
    package func stop(within grace: Interval) {
        end.with { $0 = $0 ?? SystemClock().now + grace }
    }

    package var isStopped: Bool { end.read { $0 != nil } }

    private func mustEnd(_ method: String) -> Bool {
        guard let deadline = end.read({ $0 }) else { return false }
        return method == "GET" || method == "HEAD" || SystemClock().now >= deadline
    }

    private func interrupted(_ what: String, _ address: WebAddress) -> Failure {
        Failure(
            .unfinished,
            what,
            at: address.redacted,
            because: LocalizableMessage("s3-interrupted", "it was interrupted before the store responded"),
            remedy: "\(.resume)"
        )
    }

    // MARK: objects

    /// Stores an object in one request.
    ///
    /// `isFirst`: only if there is none of this key. Some stores ignore this condition, so the object is looked for before.
    package func put(
        _ payload: Payload,
        at address: WebAddress,
        isFirst: Bool = false
    ) throws(Failure) -> Stored {
        if isFirst, try head(address) != nil { return .exists }
        var fields = Self.fields(of: payload)
        if isFirst { fields.append(("If-None-Match", "*")) }
        let response = try send("PUT", address, fields: fields, body: payload.bytes, to: "cannot store")
        if response.head.status == 412 { return .exists }
        return .stored(entityTag: try entityTag(in: response.head, "cannot store", address))
    }

    /// What the store has under this key; `nil` for nothing.
    package func head(_ address: WebAddress) throws(Failure) -> Facts? {
        let response = try send("HEAD", address, to: "cannot look at", mayBeMissing: true)
        guard response.head.status != 404 else { return nil }
        return Facts(
            size: response.head.contentLength ?? 0,
            entityTag: try entityTag(in: response.head, "cannot look at", address),
            content: response.head.field(Self.contentField)
        )
    }

    /// The bytes of a small object; `nil` if there is none.
    package func get(_ address: WebAddress, limit: Int = 1 << 20) throws(Failure) -> [UInt8]? {
        let response = try send("GET", address, limit: limit, to: "cannot read", mayBeMissing: true)
        return response.head.status == 404 ? nil : response.body
    }

    /// A part of an object with this entity tag.
    package func get(
        _ address: WebAddress,
        from start: Int64,
        length: Int,
        of entityTag: String
    ) throws(Failure) -> [UInt8] {
        guard length > 0 else { return [] }
        let fields = [
            ("Range", "bytes=\(start)-\(start + Int64(length) - 1)"), ("If-Match", "\"\(entityTag)\""),
        ]
        let response = try send("GET", address, fields: fields, limit: length, to: "cannot read")
        // Some respond to a range with status 200.
        let range = response.head.field("content-range") ?? ""
        guard range.hasPrefix("bytes \(start)-\(start + Int64(length) - 1)/"), response.body.count == length
        else {
            throw Failure(
                .inputOutput,
                "cannot read",
                at: address.redacted,
                because: LocalizableMessage(
                    "s3-object-replaced",
                    "it was replaced meanwhile, or the store ignores ranges"
                ),
                remedy: "run it again"
            )
        }
        return response.body
    }

    /// Throws if the bucket does not exist or must not be used.
    package func requireBucket(of address: WebAddress) throws(Failure) {
        let root = try WebAddress.s3(bucket: address.bucket, key: "")
        let response = try send("HEAD", root, to: "cannot use", mayBeMissing: true)
        guard response.head.status != 404 else {
            throw Failure(
                .notFound,
                "cannot use",
                at: root.redacted,
                because: S3Refusal.noBucket(address.bucket, in: access.place),
                remedy: "check the bucket's name and \(.option(.endpoint))"
            )
        }
        // A web server may respond to everything with the same page.
        guard response.head.contentType?.lowercased().hasPrefix("text/html") != true else {
            throw notS3("cannot use", root, "it sent a web page")
        }
    }

    /// Deletes an object; a missing one is no failure.
    package func delete(_ address: WebAddress) throws(Failure) {
        _ = try send("DELETE", address, to: "cannot delete", mayBeMissing: true)
    }

    /// A page of the objects whose keys begin with the address's key, in the order of their keys.
    ///
    /// `delimiter`: keys that have it after that are put together as prefixes.
    package func list(
        _ prefix: WebAddress,
        delimiter: String? = nil,
        after token: String? = nil
    ) throws(Failure) -> S3Listing {
        var parameters = [("list-type", "2"), ("encoding-type", "url")]
        if !prefix.objectKey.isEmpty { parameters.append(("prefix", prefix.objectKey)) }
        if let delimiter { parameters.append(("delimiter", delimiter)) }
        if let token { parameters.append(("continuation-token", token)) }
        let root = try WebAddress.s3(bucket: prefix.bucket, key: "")
        let response = try send("GET", root, parameters, to: "cannot list")
        do throws(XMLElement.Fault) { return try S3Listing(response.body) } catch {
            throw notS3("cannot list", prefix, error.words)
        }
    }

    // MARK: uploads in parts

    func begin(_ payload: Payload, at address: WebAddress) throws(Failure) -> String {
        let response = try send(
            "POST",
            address,
            [("uploads", "")],
            fields: Self.fields(of: payload) + [("x-amz-checksum-algorithm", "CRC32C")],
            to: "cannot begin to store"
        )
        do throws(XMLElement.Fault) { return try S3Document.uploadID(response.body) } catch {
            throw notS3("cannot begin to store", address, error.words)
        }
    }

    /// Stores a part; `nil` if there is no such upload any more.
    func put(
        part number: Int,
        _ bytes: [UInt8],
        of upload: String,
        at address: WebAddress
    ) throws(Failure) -> S3Part? {
        let response = try send(
            "PUT",
            address,
            [("partNumber", "\(number)"), ("uploadId", upload)],
            body: bytes,
            to: "cannot store a part of",
            mayBeMissing: true
        )
        guard response.head.status != 404 else { return nil }
        return S3Part(
            number: number,
            size: Int64(bytes.count),
            entityTag: try entityTag(in: response.head, "cannot store a part of", address),
            checksum: response.head.field("x-amz-checksum-crc32c")
        )
    }

    /// The parts of an upload; `nil` if there is no such upload.
    func parts(of upload: String, at address: WebAddress) throws(Failure) -> [S3Part]? {
        var parts: [S3Part] = []
        var marker: Int?
        while true {
            var parameters = [("uploadId", upload), ("max-parts", "1000")]
            if let marker { parameters.append(("part-number-marker", "\(marker)")) }
            let response = try send("GET", address, parameters, to: "cannot look at", mayBeMissing: true)
            guard response.head.status != 404 else { return nil }
            do throws(XMLElement.Fault) {
                let page = try S3PartList(response.body)
                parts += page.parts
                guard let next = page.next, next > marker ?? 0 else { return parts }
                marker = next
            } catch {
                throw notS3("cannot look at", address, error.words)
            }
        }
    }

    /// Makes the parts an object; `nil` if there is no such upload any more.
    func complete(
        _ parts: [S3Part],
        of upload: String,
        at address: WebAddress,
        isFirst: Bool
    ) throws(Failure) -> Stored? {
        if isFirst, try head(address) != nil { return .exists }
        let response = try send(
            "POST",
            address,
            [("uploadId", upload)],
            fields: isFirst ? [("If-None-Match", "*")] : [],
            body: S3Document.completion(parts),
            to: "cannot complete",
            mayBeMissing: true
        )
        switch response.head.status {
        case 412: return .exists
        case 404: return nil
        case _: break
        }
        do throws(XMLElement.Fault) {
            return .stored(entityTag: try S3Document.completedTag(response.body))
        } catch {
            throw notS3("cannot complete", address, error.words)
        }
    }

    /// Aborts the listed uploads of exactly this key, because its object exists.
    ///
    /// `onlyEmpty`: those without a part, such as one of which only the response was lost.
    package func abortUploads(at address: WebAddress, onlyEmpty: Bool = false) {
        for upload in (try? uploads(at: address)) ?? [] {
            if onlyEmpty, (try? parts(of: upload.id, at: address))?.isEmpty != true { continue }
            try? abort(upload.id, at: address)
        }
    }

    func abort(_ upload: String, at address: WebAddress) throws(Failure) {
        _ = try send("DELETE", address, [("uploadId", upload)], to: "cannot abort", mayBeMissing: true)
    }

    /// The uploads of exactly this key that were begun and not completed.
    func uploads(at address: WebAddress) throws(Failure) -> [S3Upload] {
        let root = try WebAddress.s3(bucket: address.bucket, key: "")
        let response = try send(
            "GET",
            root,
            [("uploads", ""), ("prefix", address.objectKey)],
            to: "cannot look at the uploads of"
        )
        do throws(XMLElement.Fault) {
            return try S3Upload.all(in: response.body).filter {
                $0.key.utf8.elementsEqual(address.objectKey.utf8)
            }
        } catch {
            throw notS3("cannot look at the uploads of", address, error.words)
        }
    }

    /// The store's time, as far as it is known.
    var time: UnixTime { UnixTime(seconds: SystemClock().wallTime.seconds &+ learnt.withLock(\.skew)) }

    // MARK: requests

    private static let contentField = "x-amz-meta-pawl-content"

    private static func fields(of payload: Payload) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let type = payload.type { fields.append(("Content-Type", type)) }
        if let content = payload.content { fields.append((contentField, content)) }
        return fields
    }

    /// What every object and every part has.
    private func entityTag(
        in head: ResponseHead,
        _ what: String,
        _ address: WebAddress
    ) throws(Failure) -> String {
        guard let tag = head.entityTag else { throw notS3(what, address, "it sent no entity tag") }
        return tag.opaque
    }

    private func notS3(_ what: String, _ address: WebAddress, _ why: String) -> Failure {
        Failure(
            .badResponse,
            what,
            at: address.redacted,
            because: "\(access.place) did not respond as an object store does: \(why)",
            remedy: "check \(.option(.endpoint))"
        )
    }

    private func send(
        _ method: String,
        _ address: WebAddress,
        _ parameters: [(name: String, value: String)] = [],
        fields: [(name: String, value: String)] = [],
        body: [UInt8] = [],
        limit: Int = 16 << 20,
        to what: String,
        mayBeMissing: Bool = false
    ) throws(Failure) -> (head: ResponseHead, body: [UInt8]) {
        var attempt = 0
        var mayCorrect = true
        while true {
            if mustEnd(method) { throw interrupted(what, address) }
            let failure: Failure
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
                let refusal = S3Refusal(head, body: body, access: access)
                failure = refusal.failure(what, address)
                disposition = refusal.disposition
                retryAfter = head.retryAfter.flatMap {
                    RetryAfter.parse($0, now: head.date ?? SystemClock().wallTime)
                }
                // Two conditional requests met: the other one may win, or fail.
                if head.status == 409 { disposition.isRetried = true }
            } catch {
                if mustEnd(method) { throw interrupted(what, address) }
                disposition = RetryPolicy.disposition(of: .transfer(error))
                failure = Failure(disposition.code, what, at: address.redacted, because: error.text)
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
        let isBucket = address.objectKey.isEmpty
        let parameters = isBucket ? [(name: "list-type", value: "2"), (name: "max-keys", value: "1")] : []
        let fields = isBucket ? [] : [(name: "Range", value: "bytes=0-0")]
        let response = try? request("GET", address, parameters, fields, [], S3Refusal.longest)
        return response?.body ?? []
    }

    private func request(
        _ method: String,
        _ address: WebAddress,
        _ parameters: [(name: String, value: String)],
        _ fields: [(name: String, value: String)],
        _ body: [UInt8],
        _ limit: Int
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
        let lines = ObjectSigner.lines(
            method,
            location,
            fields: fields,
            body: digest,
            access,
            at: time
        )
        return try client.perform(
            CurlClient.Request(method, location, lines: lines, body: body, limit: limit),
            abandonedIf: { self.mustEnd(method) }
        )
    }

    /// With it the store refuses what was damaged on the way.
    private static func checksum(of body: [UInt8]) -> String {
        Base64.encode(ContentDigest.digest(.crc32c, of: body))
    }

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
