package import PawlBase
import PawlXML

/// An object store's refusal, from the XML body of its response.
///
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>
package struct S3Refusal: Hashable, Sendable {
    package var status: Int
    /// `NoSuchKey` and others; empty if the response is none of S3's.
    package var code: String
    /// Whether the request had a signature.
    package var isSigned: Bool
    /// The store's name in messages.
    package var store: String

    /// The most bytes of a body that are read.
    package static let longest = 64 << 10

    package init(status: Int, code: String, isSigned: Bool, store: String) {
        self.status = status
        self.code = code
        self.isSigned = isSigned
        self.store = store
    }

    package init(_ head: ResponseHead, body: [UInt8], access: S3Access) {
        self.init(
            status: head.status, code: Self.code(in: body) ?? "", isSigned: access.credentials != nil,
            store: access.place)
    }

    /// The code of an error document.
    package static func code(in body: [UInt8]) -> String? {
        let limits = XMLElement.Limits(length: longest, depth: 16, elements: 256)
        guard let root = try? XMLElement.parse(body, within: limits) else { return nil }
        let error = root.name == "Error" ? root : root.child("Error")
        guard let code = error?.child("Code")?.trimmedText, 1...64 ~= code.utf8.count,
            // `KMS.DisabledException` has a dot.
            code.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == .dot })
        else { return nil }
        return code
    }

    /// How the attempt is repeated, and which code its failure has.
    package var disposition: RetryPolicy.Disposition {
        switch code {
        // Too much at once: later, and with fewer connections.
        case "SlowDown", "ServiceUnavailable", "Throttling", "ThrottlingException", "RequestLimitExceeded",
            "TooManyRequests", "Busy":
            RetryPolicy.Disposition(code: .overloaded, isRetried: true, isComplaint: true)
        // The store asks for the same request again.
        case "InternalError", "RequestTimeout", "OperationAborted":
            RetryPolicy.Disposition(code: .overloaded, isRetried: true)
        // There is no such thing; another attempt finds none either.
        case "NoSuchBucket", "NoSuchKey", "NoSuchVersion", "NoSuchUpload":
            RetryPolicy.Disposition(code: .notFound, isRetried: false)
        // The keys stay as they are.
        case "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
            "RequestTimeTooSkewed", "AuthorizationHeaderMalformed", "InvalidTokenId", "TokenRefreshRequired",
            "AllAccessDisabled", "AccountProblem", "RequestExpired":
            RetryPolicy.Disposition(code: .authorization, isRetried: false)
        // No login changes it: the object has to be restored.
        case "InvalidObjectState": RetryPolicy.Disposition(code: .badResponse, isRetried: false)
        // By the status, as of any other server.
        case _: RetryPolicy.disposition(of: .status(status, retryAfter: nil))
        }
    }

    private static let noCredentials = LocalizableMessage(
        "s3-no-credentials", "it is not public, and there are no credentials")

    package static func noBucket(_ bucket: String, in store: String) -> LocalizableMessage {
        LocalizableMessage("s3-no-bucket", "\(store) has no bucket \(bucket)")
    }

    /// Why, in words.
    package func reason(bucket: String) -> LocalizableMessage {
        switch code {
        case "NoSuchBucket": Self.noBucket(bucket, in: store)
        case "NoSuchKey": .init("s3-no-object", "the bucket has no object with this key")
        case "InvalidAccessKeyId": .init("s3-unknown-key", "\(store) does not know the access key")
        case "SignatureDoesNotMatch":
            .init("s3-wrong-secret", "the secret access key does not belong to the access key")
        case "ExpiredToken", "RequestExpired", "TokenRefreshRequired":
            .init("s3-expired", "the session token has expired")
        case "InvalidToken", "InvalidTokenId": .init("s3-bad-token", "the session token is not valid")
        case "RequestTimeTooSkewed": .init("s3-clock", "this machine's clock is wrong")
        case "AuthorizationHeaderMalformed", "PermanentRedirect":
            .init("s3-region", "\(store) has the bucket in another region, or under another endpoint")
        case "AccessDenied", "AllAccessDisabled":
            isSigned ? .init("s3-denied", "the access key has no permission for it") : Self.noCredentials
        case "InvalidObjectState":
            .init("s3-archived", "the object is archived, and has to be restored before it can be read")
        case "": plainReason
        case _: .init("s3-error", "\(store) responded with \(code) (status \(status))")
        }
    }

    private var plainReason: LocalizableMessage {
        switch status {
        case 403 where !isSigned, 401 where !isSigned: Self.noCredentials
        case 401, 403: .init("s3-refused", "\(store) refused the access key (status \(status))")
        case _: .init("s3-not-s3", "\(store) did not respond as an object store does (status \(status))")
        }
    }

    package var remedy: Remedy {
        switch code {
        case "NoSuchBucket": "check the bucket's name and \(.option(.endpoint))"
        case "NoSuchKey": "check the key; to list a prefix, end it with /"
        case "RequestTimeTooSkewed": "set the clock"
        case "InvalidObjectState":
            "restore it, as with 'aws s3api restore-object', and try again when that has been done"
        case "AuthorizationHeaderMalformed", "PermanentRedirect": "check \(.option(.region)) and \(.option(.endpoint))"
        case "SlowDown", "ServiceUnavailable": "try again later, or with fewer connections"
        case "":
            [401, 403].contains(status) ? Self.credentialsRemedy : status >= 500 ? "" : "check \(.option(.endpoint))"
        case _: disposition.code == .authorization ? Self.credentialsRemedy : ""
        }
    }

    private static let credentialsRemedy: Remedy =
        "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or \(.option(.profile))"

    /// What it means for a request to this bucket.
    package func stated(bucket: String) -> StatedRefusal {
        StatedRefusal(disposition, because: reason(bucket: bucket), remedy: remedy, status: status)
    }
}
