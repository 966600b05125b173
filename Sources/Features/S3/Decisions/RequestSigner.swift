package import PawlBase

/// Signs requests with AWS Signature Version 4, in header fields.
///
/// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>
package struct RequestSigner: Sendable {
    /// SHA-256, which this module does not implement.
    package typealias Hash = @Sendable ([UInt8]) -> [UInt8]

    /// What the signature says of the body.
    package enum BodyDigest: Hashable, Sendable {
        case empty
        /// Its SHA-256 digest.
        case digest([UInt8])
        /// Nothing: TLS protects it.
        case unsigned
    }

    private let credentials: S3Credentials
    private let region: String
    private let hash: Hash

    package init(_ credentials: S3Credentials, region: String, hash: @escaping Hash) {
        self.credentials = credentials
        self.region = region
        self.hash = hash
    }

    /// The fields to add to a request, Authorization among them; `fields` are those of the request that are signed too.
    package func signed(
        _ method: String, _ address: WebAddress, fields: [(name: String, value: String)] = [],
        body: BodyDigest = .empty, at time: UnixTime
    ) -> [(name: String, value: String)] {
        let timestamp = S3Text.timestamp(time)
        let digest =
            switch body {
            case .empty: Hexadecimal.text(hash([]))
            case .digest(let digest): Hexadecimal.text(digest)
            case .unsigned: "UNSIGNED-PAYLOAD"
            }
        var own = [(name: "x-amz-content-sha256", value: digest), (name: "x-amz-date", value: timestamp)]
        if let token = credentials.sessionToken { own.append((name: "x-amz-security-token", value: token)) }
        let all = (fields + own + [(name: "host", value: address.authority)]).map {
            (name: $0.name.lowercased(), value: Self.trimmed($0.value))
        }.sorted { $0.name < $1.name }
        let names = all.map(\.name).joined(separator: ";")
        let request = [
            method, address.path, address.query ?? "", all.map { "\($0.name):\($0.value)\n" }.joined(), names, digest,
        ].joined(separator: "\n")
        let day = String(timestamp.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let toSign = ["AWS4-HMAC-SHA256", timestamp, scope, Hexadecimal.text(hash(Array(request.utf8)))].joined(
            separator: "\n")
        var key = Array("AWS4\(credentials.secretKey)".utf8)
        for part in [day, region, "s3", "aws4_request", toSign] { key = authenticated(Array(part.utf8), with: key) }
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope), SignedHeaders=\(names),"
            + " Signature=\(Hexadecimal.text(key))"
        return own + [(name: "Authorization", value: authorization)]
    }

    /// White space around a value does not count, and inside it is one space.
    private static func trimmed(_ value: String) -> String {
        value.utf8.split(whereSeparator: \.isBlank).map { String(decoding: Array($0), as: UTF8.self) }.joined(
            separator: " ")
    }

    /// HMAC-SHA-256 (RFC 2104).
    private func authenticated(_ text: [UInt8], with key: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? hash(key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        return hash(block.map { $0 ^ 0x5C } + hash(block.map { $0 ^ 0x36 } + text))
    }
}

/// An access key with its secret.
package struct S3Credentials: Hashable, Sendable {
    package var accessKey: String
    package var secretKey: String
    package var sessionToken: String?

    package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "S3Credentials(\(Redaction.mark))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
