import Testing

@testable import PawlBase
@testable import PawlCurl
@testable import PawlS3
@testable import PawlSystem
@testable import PawlXML

@Suite struct `Documents of object stores` {
    @Test func `a listing has keys, sizes, tags and a way to continue`() throws {
        let text = """
            <?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>
            <EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>a+b/=</NextContinuationToken>
            <Contents><Key>a%20b%2B+%C3%BC</Key><LastModified>2024-02-29T12:00:01.999Z</LastModified>
            <ETag>&quot;abc-2&quot;</ETag><Size>5368709120</Size></Contents>
            <Contents><Key>x</Key><Size>-1</Size></Contents>
            <CommonPrefixes><Prefix>dir%2F</Prefix></CommonPrefixes></ListBucketResult>
            """
        let listing = try S3Listing(Array(text.utf8))
        let object = try #require(listing.objects.first)
        #expect(listing.objects.count == 1)
        #expect(object.key == "a b+ ü" && object.size == 5_368_709_120 && object.entityTag == "abc-2")
        #expect(object.modified?.httpDate == "Thu, 29 Feb 2024 12:00:01 GMT")
        #expect(listing.prefixes == ["dir/"] && listing.next == "a+b/=")
    }

    @Test(arguments: [
        "", "<html><body/></html>", "<Error><Code>NoSuchBucket</Code></Error>",
        "<ListBucketResult><Name>b</Name><IsTruncated>true</IsTruncated></ListBucketResult>",
    ]) func `what is no listing is refused`(text: String) {
        #expect(throws: XMLElement.Fault.self) { try S3Listing(Array(text.utf8)) }
    }

    @Test func `parts, uploads and completions are read`() throws {
        let parts = try S3PartList(
            Array(
                "<R><UploadId>u</UploadId><IsTruncated>true</IsTruncated><NextPartNumberMarker>2</NextPartNumberMarker><Part><PartNumber>2</PartNumber><ETag>\"t\"</ETag><Size>8</Size><ChecksumCRC32C>aa==</ChecksumCRC32C></Part></R>"
                    .utf8))
        #expect(parts.parts == [S3Part(number: 2, size: 8, entityTag: "t", checksum: "aa==")] && parts.next == 2)
        #expect(try S3Document.uploadID(Array("<R><UploadId> u-1 </UploadId></R>".utf8)) == "u-1")
        #expect(try S3Document.completedTag(Array("<R><ETag>\"t-2\"</ETag></R>".utf8)) == "t-2")
        #expect(throws: XMLElement.Fault.self) {
            try S3Document.completedTag(Array("<Error><Code>InternalError</Code></Error>".utf8))
        }
        let request = String(decoding: S3Document.completion(parts.parts), as: UTF8.self)
        #expect(
            request.contains(
                "<PartNumber>2</PartNumber><ETag>&quot;t&quot;</ETag><ChecksumCRC32C>aa==</ChecksumCRC32C>"))
    }

    @Test(arguments: [
        ("NoSuchBucket", 404, 3), ("NoSuchKey", 404, 3), ("InvalidAccessKeyId", 403, 24),
        ("SignatureDoesNotMatch", 403, 24), ("AccessDenied", 403, 24), ("ExpiredToken", 400, 24), ("SlowDown", 503, 29),
        ("InternalError", 500, 29), ("", 403, 24), ("", 404, 3), ("", 200, 22), ("Strange", 400, 22),
        ("InvalidObjectState", 403, 22), ("KMS.DisabledException", 400, 22),
    ]) func `each refusal has a code and a sentence`(code: String, status: Int, exit: UInt8) throws {
        for isSigned in [true, false] {
            let refusal = S3Refusal(status: status, code: code, isSigned: isSigned, store: "store")
            let failure = refusal.stated(bucket: "b").failure("cannot fetch", try .s3(bucket: "b", key: "k"))
            #expect(failure.code.rawValue == exit, "\(failure)")
            #expect(failure.place == "s3://b/k" && !failure.why.isEmpty)
        }
        let body = Array("<Error><Code>\(code)</Code></Error>".utf8)
        #expect(S3Refusal.code(in: body) == (code.isEmpty ? nil : code))
    }

    @Test func `an archived object has to be restored, and no login changes that`() throws {
        let body = Array("<Error><Code>InvalidObjectState</Code><StorageClass>GLACIER</StorageClass></Error>".utf8)
        let code = try #require(S3Refusal.code(in: body))
        let refusal = S3Refusal(status: 403, code: code, isSigned: true, store: "s")
        let failure = refusal.stated(bucket: "b").failure("cannot fetch", try .s3(bucket: "b", key: "k"))
        #expect(failure.why == "the object is archived, and has to be restored before it can be read")
        #expect(failure.remedy.text.contains("restore-object") && !refusal.disposition.isRetried)
    }

    @Test func `only overload reduces the connections to a store`() {
        func disposition(_ code: String, _ status: Int) -> RetryPolicy.Disposition {
            S3Refusal(status: status, code: code, isSigned: true, store: "s").disposition
        }
        #expect(disposition("SlowDown", 503).isComplaint && disposition("SlowDown", 503).isRetried)
        #expect(!disposition("InternalError", 500).isComplaint && disposition("InternalError", 500).isRetried)
        #expect(!disposition("AccessDenied", 403).isRetried)
    }

    @Test func `the file of an object stays in its folder`() throws {
        let address = try WebAddress.s3(bucket: "b", key: "k")
        #expect(try ObjectPath.path(of: "a/b c.bin", address) == "a/b c.bin")
        let long = String(repeating: "n", count: 255)
        for rest in [".hidden/-x", "back\\slash", "...", " a ", "a\tb", "cafe\u{301}", ".git/\(long)"] {
            #expect(try ObjectPath.path(of: rest, address).hasSameBytes(as: rest))
            #expect(try WebAddress.s3(bucket: "b", key: rest).key.hasSameBytes(as: rest))
        }
        for rest in ["../x", "a/../b", "a//b", "/a", "a/.", "..", ".", "", "a/", long + "n"] {
            let failure = #expect(throws: Failure.self) { try ObjectPath.path(of: rest, address) }
            #expect(failure?.code == .badOption)
        }
        let control = #expect(throws: Failure.self) { try WebAddress.s3(bucket: "b", key: "a\nb") }
        #expect(control?.remedy == "copy it to another key")
    }
}
