import Testing

@testable import PawlBase
@testable import PawlS3

@Suite struct `Addresses of objects` {
    @Test(arguments: [
        "a", "dir/file.bin", "a b/c+d", "100%25", "what?#this", "ü/文件", "a//b", "x&y=z", "tilde~", "(1) [2]", "a\\b",
        "…",
    ]) func `keys are literal`(key: String) throws {
        let address = try WebAddress.parse("s3://my-bucket/\(key)").address
        #expect(address.scheme == .located(.s3) && address.bucket == "my-bucket")
        #expect(address.key == key)
        #expect(address.text == "s3://my-bucket/\(key)")
        #expect(address.redacted == address.text)
        #expect(try WebAddress.parse(address.text).address == address)
    }

    @Test func `a key is sent with all but unreserved characters encoded`() throws {
        let address = try WebAddress.s3(bucket: "b", key: "a b/ü?%41+~")
        #expect(address.path == "/a%20b/%C3%BC%3F%2541%2B~")
    }

    @Test(arguments: [
        "s3://", "s3:///key", "s3:bucket/key", "s3://b/../c", "s3://b/a/..", "s3://b/./c", "s3://key:secret@bucket/x",
        "s3://buck et/x", "s3://bucket:9000/x", "s3://%62/x", "s3://b/a\0b", "s3://b/a\nb", "s3://.b/x",
        "s3://b\u{e9}/x",
    ]) func `what names no object is refused`(text: String) {
        do throws(Failure) {
            let address = try WebAddress.parse(text).address
            Issue.record("accepted as \(address.text)")
        } catch {
            #expect(error.code == .badOption)
            #expect(!error.description.contains("secret"))
        }
    }

    @Test func `buckets of AWS are hosts where their names are labels`() throws {
        var access = S3Access(region: "eu-west-1")
        func url(_ bucket: String) throws -> String { access.location(of: try .s3(bucket: bucket, key: "k/1")).text }
        #expect(try url("data-1") == "https://data-1.s3.eu-west-1.amazonaws.com/k/1")
        #expect(try url("data.example.org") == "https://s3.eu-west-1.amazonaws.com/data.example.org/k/1")
        #expect(try url("Data") == "https://s3.eu-west-1.amazonaws.com/Data/k/1")
        access.region = "cn-north-1"
        #expect(try url("data") == "https://data.s3.cn-north-1.amazonaws.com.cn/k/1")
        access.endpoint = try WebAddress.parse("http://127.0.0.1:9000/base/").address
        #expect(try url("data") == "http://127.0.0.1:9000/base/data/k/1")
        let root = access.location(of: try .s3(bucket: "data", key: ""), parameters: [("b", "2"), ("a", "x y")])
        #expect(root.text == "http://127.0.0.1:9000/base/data?a=x%20y&b=2")
    }

    @Test func `redirects never lead to objects, and relative ones of a store are not followed`() throws {
        let object = try WebAddress.s3(bucket: "b", key: "k")
        #expect(throws: Failure.self) { try object.resolving("/other") }
        #expect(try object.resolving("https://example.org/x").text == "https://example.org/x")
    }

    @Test func `spaces at the end of a key are its own, and line breaks are never dropped`() throws {
        #expect(try WebAddress.parse(" S3://b/k  ").address.key == "k  ")
        #expect(try WebAddress.parse("s3://b/k\n").address.key == "k")
        let address = try WebAddress.s3(bucket: "b", key: "k ")
        #expect(try WebAddress.parse(address.text).address == address)
        #expect(throws: Failure.self) { try WebAddress.s3(bucket: "b", key: "k\n") }
    }

    @Test func `AWS names the region of a bucket, and a date the skew of a clock`() throws {
        let credentials = S3Credentials(accessKey: "a", secretKey: "b")
        let access = S3Access(credentials: credentials)
        func head(_ text: String) throws -> ResponseHead {
            var head = try #require(ResponseHead(parsing: Array(text.utf8)))
            head.lines = Array(text.utf8)
            return head
        }
        let moved = try head("HTTP/1.1 301 Moved\r\nX-Amz-Bucket-Region: eu-west-1\r\n\r\n")
        #expect(access.corrected(by: moved)?.region == "eu-west-1")
        let evil = try head("HTTP/1.1 301 Moved\r\nx-amz-bucket-region: evil.example/\r\n\r\n")
        #expect(access.corrected(by: evil) == nil)
        var other = access
        other.endpoint = try WebAddress.parse("https://example.org").address
        #expect(other.corrected(by: moved) == nil)
        let scoped = try head("HTTP/1.1 400 Bad Request\r\nx-amz-bucket-region: eu-west-1\r\n\r\n")
        #expect(other.corrected(by: scoped)?.region == "eu-west-1")
        let late = try head("HTTP/1.1 403 Forbidden\r\nDate: Thu, 01 Jan 1970 02:00:00 GMT\r\n\r\n")
        #expect(access.skew(in: late, at: UnixTime(seconds: 0)) == 7200)
        #expect(access.skew(in: late, at: UnixTime(seconds: 7190)) == nil)
        #expect(S3Access().skew(in: late, at: UnixTime(seconds: 0)) == nil)
    }

    @Test func `credentials are never shown`() {
        let access = S3Access(credentials: S3Credentials(accessKey: "AKIA", secretKey: "hidden", sessionToken: "token"))
        for text in ["\(access)", String(reflecting: access), String(describing: access.credentials)] {
            #expect(!text.contains("hidden") && !text.contains("token"))
        }
    }
}
