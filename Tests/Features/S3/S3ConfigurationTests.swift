import Testing

@testable import PawlBase
@testable import PawlS3

@Suite struct `Access to object stores` {
    private func access(
        _ environment: [String: String] = [:], _ files: [String: String] = [:],
        _ change: (inout S3Configuration) -> Void = { _ in }
    ) throws -> S3Access {
        var configuration = S3Configuration(
            environment: { environment[$0] }, file: { files[$0].map { Array($0.utf8) } }, home: "/home/u")
        change(&configuration)
        return try configuration.access()
    }

    private let files = [
        "/home/u/.aws/config": """
        # comment
        [default]
        region = eu-central-1
        [profile lab]  ; comment
        region=us-west-2 # comment
        services = local
        s3 =
            endpoint_url = http://nested:1
        [services local]
        s3 =
          endpoint_url = http://127.0.0.1:9000
        dynamodb =
          endpoint_url = http://127.0.0.1:1
        [profile sso]
        sso_session = x
        [profile half]
        """,
        "/home/u/.aws/credentials": """
        [default]
        aws_access_key_id = D
        aws_secret_access_key = d=d#1
        [lab]
        aws_access_key_id=L
        aws_secret_access_key=l
        aws_session_token=t
        [half]
        aws_access_key_id=H
        """,
    ]

    @Test func `without anything requests are not signed`() throws {
        let found = try access()
        #expect(found == S3Access() && found.credentials == nil && found.region == "us-east-1")
    }

    @Test func `the default profile is read`() throws {
        let found = try access([:], files)
        #expect(found.credentials == S3Credentials(accessKey: "D", secretKey: "d=d#1"))
        #expect(found.region == "eu-central-1" && found.endpoint == nil)
    }

    @Test func `a profile of the environment has its own endpoint`() throws {
        let found = try access(["AWS_PROFILE": "lab"], files)
        #expect(found.credentials == S3Credentials(accessKey: "L", secretKey: "l", sessionToken: "t"))
        #expect(found.region == "us-west-2" && found.endpoint?.text == "http://127.0.0.1:9000/")
        let ignoring = try access(["AWS_PROFILE": "lab", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"], files)
        #expect(ignoring.endpoint == nil)
    }

    @Test func `keys of the environment come before a profile, unless that was chosen`() throws {
        let keys = ["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "e", "AWS_SESSION_TOKEN": ""]
        #expect(try access(keys, files).credentials == S3Credentials(accessKey: "E", secretKey: "e"))
        #expect(try access(keys, files) { $0.profile = "lab" }.credentials?.accessKey == "L")
    }

    @Test func `the endpoint of S3 comes before that of all services, and the option before both`() throws {
        let both = ["AWS_ENDPOINT_URL": "http://a", "AWS_ENDPOINT_URL_S3": "http://b:81", "AWS_REGION": "r-1"]
        #expect(try access(both).endpoint?.text == "http://b:81/")
        #expect(try access(both) { $0.endpoint = "c.example" }.endpoint?.text == "https://c.example/")
        #expect(try access(both) { $0.region = "r-2" }.region == "r-2")
    }

    @Test func `unsigned requests need no credentials`() throws {
        #expect(try access(["AWS_PROFILE": "sso"], files) { $0.isAnonymous = true }.credentials == nil)
    }

    @Test func `the store's authorities are those of the environment, then the profile's, unless an option names them`()
        throws
    {
        var files = files
        files["/env.pem"] = "pem"
        files["/profile.pem"] = "pem"
        files["/home/u/.aws/config"]? += "\n[profile ca]\nca_bundle = /profile.pem\n"
        let environment = ["AWS_CA_BUNDLE": "/env.pem", "AWS_PROFILE": "ca"]
        #expect(try access(environment, files).authorityFile == "/env.pem")
        #expect(try access(["AWS_PROFILE": "ca"], files).authorityFile == "/profile.pem")
        #expect(try access(["AWS_CA_BUNDLE": ""], files).authorityFile == nil)
        #expect(try access(environment, files) { $0.hasAuthorityFile = true }.authorityFile == nil)
        #expect(try access(["AWS_CA_BUNDLE": "/none"]) { $0.hasAuthorityFile = true }.authorityFile == nil)
    }

    @Test(arguments: [
        (["AWS_CA_BUNDLE": "/none.pem"], Failure.Code.cannotOpen), (["AWS_PROFILE": "none"], .badOption),
        (["AWS_PROFILE": "sso"], .authorization), (["AWS_PROFILE": "half"], .authorization),
        (["AWS_ACCESS_KEY_ID": "A"], .authorization),
        (["AWS_ACCESS_KEY_ID": "A\r\nX: y", "AWS_SECRET_ACCESS_KEY": "s"], .authorization),
        (["AWS_REGION": "EU WEST"], .badOption), (["AWS_ENDPOINT_URL": "ftp://x"], .badOption),
        (["AWS_ENDPOINT_URL": "http://u:p@x"], .badOption), (["AWS_ENDPOINT_URL": "http://x?y"], .badOption),
        (["AWS_ENDPOINT_URL": "::"], .badOption), (["AWS_ENDPOINT_URL": "s3://b/k"], .badOption),
    ]) func `what cannot work is said`(environment: [String: String], code: Failure.Code) {
        do {
            _ = try access(environment, files)
            Issue.record("accepted")
        } catch { #expect((error as? Failure)?.code == code) }
    }
}
