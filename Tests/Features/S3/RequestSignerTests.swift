import Testing

@testable import PawlBase
@testable import PawlS3

/// The examples of AWS's documentation:
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>.
@Suite struct `Signatures of requests` {
    private let signer = RequestSigner(
        S3Credentials(accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1", hash: ObjectSigner.hash)
    /// 2013-05-24T00:00:00Z.
    private let time = UnixTime(seconds: 1_369_353_600)

    private func signature(
        _ method: String, _ path: String, _ query: String? = nil, fields: [(name: String, value: String)] = [],
        body: RequestSigner.BodyDigest = .empty
    ) throws -> String {
        let address = WebAddress(
            scheme: .https, host: "examplebucket.s3.amazonaws.com", port: 443, path: path, query: query)
        let signed = signer.signed(method, address, fields: fields, body: body, at: time)
        let field = try #require(signed.first { $0.name == "Authorization" }?.value)
        return String(field.suffix(64))
    }

    @Test func `get an object`() throws {
        let found = try signature("GET", "/test.txt", fields: [("Range", "bytes=0-9")])
        #expect(found == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func `put an object`() throws {
        let found = try signature(
            "PUT", "/test%24file.text",
            fields: [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
            body: .digest(ObjectSigner.hash(Array("Welcome to Amazon S3.".utf8))))
        #expect(found == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func `get a bucket's lifecycle`() throws {
        let found = try signature("GET", "/", S3Text.query([("lifecycle", "")]))
        #expect(found == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    }

    @Test func `list objects`() throws {
        let found = try signature("GET", "/", S3Text.query([("prefix", "J"), ("max-keys", "2")]))
        #expect(found == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test func `a session's token is signed, and a long key is hashed`() throws {
        let long = RequestSigner(
            S3Credentials(accessKey: "A", secretKey: String(repeating: "s", count: 100), sessionToken: "token"),
            region: "eu-west-1", hash: ObjectSigner.hash)
        let address = try WebAddress.parse("https://example.org/x").address
        let fields = long.signed("GET", address, body: .unsigned, at: time)
        let names = "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
        #expect(fields.contains { $0.name == "x-amz-security-token" && $0.value == "token" })
        #expect(fields.contains { $0.name == "x-amz-content-sha256" && $0.value == "UNSIGNED-PAYLOAD" })
        #expect(fields.last?.value.contains("SignedHeaders=\(names)") == true)
        #expect(fields.last?.value.contains("20130524/eu-west-1/s3/aws4_request") == true)
    }
}
