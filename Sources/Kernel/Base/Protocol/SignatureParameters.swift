extension WebAddress {
    /// The path, and the parameters of the query except those of the signatures of object stores and content networks.
    package var unsignedTarget: String {
        guard let query else { return path }
        let parameters = query.split(separator: "&").filter { parameter in
            let name = parameter.prefix { $0 != "=" }.lowercased()
            return !Self.signing.contains(name) && !name.hasPrefix("x-amz-") && !name.hasPrefix("x-goog-")
        }
        return parameters.isEmpty ? path : path + "?" + parameters.joined(separator: "&")
    }

    /// Of S3, Google and CloudFront, then of Azure.
    private static let signing: Set<String> = [
        "awsaccesskeyid", "googleaccessid", "key-pair-id", "policy", "signature", "expires", "se", "sig", "ske",
        "skoid", "sks", "skt", "sktid", "skv", "sp", "spr", "sr", "st", "sv", "jwt",
    ]
}
