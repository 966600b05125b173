/// The schemes of addresses `NAME://ROOT/KEY`, which name no host: a feature knows by which URL each is requested.
///
/// One row for each, the only place of the kernel that names them.
package enum LocatedScheme: String, Hashable, Sendable, CaseIterable {
    case s3
    /// Repositories of a model hub: `hf://ORG/NAME@REVISION/PATH`.
    case hf
    /// Manifests and blobs of an OCI registry: `oci://HOST/NAME@DIGEST`.
    case oci
    /// Bytes of a file on a server of a torrent's pieces: `httpseed://PLACE/URL`.
    case httpseed

    /// The beginning of its addresses.
    private var prefix: StaticString {
        switch self {
        case .s3: "s3://"
        case .hf: "hf://"
        case .oci: "oci://"
        case .httpseed: "httpseed://"
        }
    }

    /// Whether its root is a host's name, which may have a port.
    var hasPort: Bool { self == .oci }

    /// Whether its keys are URLs themselves: programs write its addresses, and users none.
    package var holdsURL: Bool { self == .httpseed }

    static let ofPieces = AddressFlaw("address-of-pieces", "it is not the address of a server of pieces")

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
        case .hf:
            AddressFlaw("address-without-repository", "it names no repository", remedy: "write hf://ORG/NAME")
        case .oci: AddressFlaw("address-without-registry", "it names no registry", remedy: "write oci://HOST/NAME:TAG")
        case .httpseed: Self.ofPieces
        }
    }

    var withLogin: AddressFlaw {
        switch self {
        case .s3:
            AddressFlaw(
                "address-login-before-bucket", "it has a login before its bucket",
                remedy: "put the access key into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or into a profile")
        case .hf:
            AddressFlaw(
                "address-revision-before-name", "it has an @ before the name of the repository",
                remedy: "write hf://ORG/NAME@REVISION; a token belongs into HF_TOKEN")
        case .oci:
            AddressFlaw(
                "address-login-before-registry", "it has a login before its registry",
                remedy: "log in with 'docker login' or 'podman login'")
        case .httpseed: Self.ofPieces
        }
    }

    /// `root` is fit to be shown.
    func invalid(root: String) -> AddressFlaw {
        switch self {
        case .s3: AddressFlaw("address-bucket", "\(root) is not a valid bucket name")
        case .hf: AddressFlaw("address-organization", "\(root) is not the name of a user or organization")
        case .oci: AddressFlaw("address-registry", "\(root) is not the name of a registry")
        case .httpseed: Self.ofPieces
        }
    }
}
