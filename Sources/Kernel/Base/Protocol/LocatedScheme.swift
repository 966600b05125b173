/// The schemes of addresses `NAME://ROOT/KEY`, which name no host: a feature knows by which URL each is requested.
///
/// One row for each, the only place of the kernel that names them.
package enum LocatedScheme: String, Hashable, Sendable, CaseIterable {
    case s3

    /// The beginning of its addresses.
    private var prefix: StaticString {
        switch self {
        case .s3: "s3://"
        }
    }

    /// That of a text that begins as its addresses do, in any case.
    init?(beginning text: some Collection<UInt8>) {
        let found = Self.allCases.first { text.prefix($0.prefix.utf8CodeUnitCount).isCaseInsensitively($0.prefix) }
        guard let found else { return nil }
        self = found
    }

    // What is wrong with an address, in the words of its scheme.

    var withoutRoot: AddressFlaw {
        switch self {
        case .s3: AddressFlaw("address-without-bucket", "it names no bucket", remedy: "write s3://BUCKET/KEY")
        }
    }

    var withLogin: AddressFlaw {
        switch self {
        case .s3:
            AddressFlaw(
                "address-login-before-bucket", "it has a login before its bucket",
                remedy: "put the access key into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or into a profile")
        }
    }

    /// `root` is fit to be shown.
    func invalid(root: String) -> AddressFlaw {
        switch self {
        case .s3: AddressFlaw("address-bucket", "\(root) is not a valid bucket name")
        }
    }
}
