package import PawlBase
import PawlXML

// Whole objects, their parts and their listings.
extension ObjectStore {
    /// Stores an object in one request.
    ///
    /// `isFirst`: only if there is none of this key. Some stores ignore this condition, so the object is looked for before.
    package func put(_ payload: Payload, at address: WebAddress, isFirst: Bool = false) throws(Failure) -> Stored {
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
            content: response.head.field(Self.contentField))
    }

    /// The bytes of a small object; `nil` if there is none.
    package func get(_ address: WebAddress, limit: Int = 1 << 20) throws(Failure) -> [UInt8]? {
        let response = try send("GET", address, limit: limit, to: "cannot read", mayBeMissing: true)
        return response.head.status == 404 ? nil : response.body
    }

    /// A part of an object with this entity tag.
    package func get(
        _ address: WebAddress, from start: Int64, length: Int, of entityTag: String
    ) throws(Failure) -> [UInt8] {
        guard length > 0 else { return [] }
        let fields = [("Range", "bytes=\(start)-\(start + Int64(length) - 1)"), ("If-Match", "\"\(entityTag)\"")]
        let response = try send("GET", address, fields: fields, limit: length, to: "cannot read")
        // Some respond to a range with status 200.
        let range = response.head.field("content-range") ?? ""
        guard range.hasPrefix("bytes \(start)-\(start + Int64(length) - 1)/"), response.body.count == length else {
            throw Failure(
                .inputOutput, "cannot read", at: address.redacted,
                because: LocalizableMessage(
                    "s3-object-replaced", "it was replaced meanwhile, or the store ignores ranges"),
                remedy: "run it again")
        }
        return response.body
    }

    /// Throws if the bucket does not exist or must not be used.
    package func requireBucket(of address: WebAddress) throws(Failure) {
        let root = try WebAddress.s3(bucket: address.bucket, key: "")
        let response = try send("HEAD", root, to: "cannot use", mayBeMissing: true)
        guard response.head.status != 404 else {
            throw Failure(
                .notFound, "cannot use", at: root.redacted,
                because: S3Refusal.noBucket(address.bucket, in: access.place),
                remedy: "check the bucket's name and \(.option(.endpoint))")
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
        _ prefix: WebAddress, delimiter: String? = nil, after token: String? = nil
    ) throws(Failure) -> S3Listing {
        var parameters = [("list-type", "2"), ("encoding-type", "url")]
        if !prefix.key.isEmpty { parameters.append(("prefix", prefix.key)) }
        if let delimiter { parameters.append(("delimiter", delimiter)) }
        if let token { parameters.append(("continuation-token", token)) }
        let root = try WebAddress.s3(bucket: prefix.bucket, key: "")
        let response = try send("GET", root, parameters, to: "cannot list")
        do throws(XMLElement.Fault) { return try S3Listing(response.body) } catch {
            throw notS3("cannot list", prefix, error.words)
        }
    }

    private static let contentField = "x-amz-meta-pawl-content"

    static func fields(of payload: Payload) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let type = payload.type { fields.append(("Content-Type", type)) }
        if let content = payload.content { fields.append((contentField, content)) }
        return fields
    }

    /// What every object and every part has.
    func entityTag(in head: ResponseHead, _ what: String, _ address: WebAddress) throws(Failure) -> String {
        guard let tag = head.entityTag else { throw notS3(what, address, "it sent no entity tag") }
        return tag.opaque
    }
}
