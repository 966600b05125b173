package import PawlBase

/// Where the objects of `s3:` addresses are, and with which credentials they are requested.
package struct S3Access: Hashable, Sendable {
    /// Another store than AWS's; its buckets are folders of it.
    package var endpoint: WebAddress?
    package var region: String
    /// `nil` for requests without a signature.
    package var credentials: S3Credentials?
    /// The file with the certificate authorities of the store, unless the options name one.
    package var authorityFile: String?
    /// Whether the absence of credentials is a choice.
    package var isAnonymous = false

    package init(endpoint: WebAddress? = nil, region: String = Self.defaultRegion, credentials: S3Credentials? = nil) {
        self.endpoint = endpoint
        self.region = region
        self.credentials = credentials
    }

    package static let defaultRegion = "us-east-1"

    /// Whether the user named the store, which may then be private.
    package var hasChosenHost: Bool { endpoint != nil }

    package func location(of address: WebAddress) -> WebAddress { location(of: address, parameters: []) }

    /// The URL of the object, or of the bucket for an empty key, with these parameters.
    package func location(of address: WebAddress, parameters: [(name: String, value: String)]) -> WebAddress {
        precondition(address.isLocated, "only s3: addresses have a location")
        let query = S3Text.query(parameters)
        if let endpoint {
            var path = endpoint.path
            if path.utf8.last == .slash { path.removeLast() }
            return WebAddress(
                scheme: endpoint.scheme, host: endpoint.host, port: endpoint.port,
                path: "\(path)/\(address.bucket)\(address.path == "/" ? "" : address.path)", query: query)
        }
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        let host = "s3.\(region).\(domain)"
        // The certificate is for one label only, and host names have no capitals.
        guard Self.isLabel(address.bucket) else {
            return WebAddress(
                scheme: .https, host: host, port: 443, path: "/\(address.bucket)\(address.path)", query: query)
        }
        return WebAddress(
            scheme: .https, host: "\(address.bucket).\(host)", port: 443, path: address.path, query: query)
    }

    private static func isLabel(_ bucket: String) -> Bool {
        3...63 ~= bucket.utf8.count && bucket.first != "-" && bucket.last != "-"
            && bucket.utf8.allSatisfy { 0x61...0x7A ~= $0 || $0.isDigit || $0 == .dash }
    }

    /// The name of the store in messages.
    package var place: String { endpoint.map(\.authority) ?? "AWS" }

    /// The access with the region that a response names; `nil` if that is no news.
    ///
    /// Of a store with an endpoint only the signature depends on it.
    package func corrected(by head: ResponseHead) -> S3Access? {
        let isMoved = endpoint == nil && [301, 307].contains(head.status)
        guard isMoved || [400, 403].contains(head.status), let named = head.field("x-amz-bucket-region"),
            named != region, Self.isRegion(named)
        else { return nil }
        var access = self
        access.region = named
        return access
    }

    /// The difference between the server's clock and this one, where it explains a refused signature.
    package func skew(in head: ResponseHead, at time: UnixTime) -> Int64? {
        guard credentials != nil, [400, 403].contains(head.status), let date = head.date else { return nil }
        let skew = date.seconds.subtractingReportingOverflow(time.seconds)
        return skew.overflow || skew.partialValue.magnitude < 240 ? nil : skew.partialValue
    }

    /// Only what a host name may have, as it becomes part of one.
    package static func isRegion(_ text: String) -> Bool {
        1...64 ~= text.utf8.count && text.first != "-"
            && text.utf8.allSatisfy { 0x61...0x7A ~= $0 || $0.isDigit || $0 == .dash }
    }
}
