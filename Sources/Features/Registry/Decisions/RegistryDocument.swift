import PawlBase

/// What a manifest refers to.
package struct Descriptor: Hashable, Sendable {
    package var type: String
    package var digest: RegistryDigest
    package var size: Int64
    package var platform: Platform?
    /// `org.opencontainers.image.title`: the name of an artifact's file.
    package var title: String?
    /// Whether the bytes are elsewhere, as those of layers that may not be distributed.
    package var isForeign = false

    package init(type: String, digest: RegistryDigest, size: Int64, platform: Platform? = nil, title: String? = nil) {
        self.type = type
        self.digest = digest
        self.size = size
        self.platform = platform
        self.title = title
    }

    /// `nil` for what has no digest or size that can be checked.
    init?(_ value: JSON) {
        guard let digest = value["digest"]?.string.flatMap({ RegistryDigest($0) }), let size = value["size"]?.integer,
            size >= 0
        else { return nil }
        let type = value["mediaType"]?.string ?? ""
        self.init(
            type: type, digest: digest, size: size,
            title: value["annotations"]?["org.opencontainers.image.title"]?.string)
        platform = value["platform"].flatMap(Platform.init)
        if value["annotations"]?["vnd.docker.reference.type"]?.string == "attestation-manifest" { platform = .unknown }
        isForeign =
            type.contains("foreign") || type.contains("nondistributable")
            || value["urls"]?.array?.isEmpty == false
    }

    /// As `index.json` has it.
    var json: [JSON.Member] {
        [
            JSON.Member("mediaType", .string(type)), JSON.Member("digest", .string(digest.text)),
            JSON.Member("size", .number(size)),
        ]
    }
}

/// A manifest or an index of manifests, by the bytes that a registry sent.
///
/// <https://github.com/opencontainers/image-spec/blob/v1.1.0/manifest.md>
package enum RegistryDocument: Hashable, Sendable {
    case index([Descriptor])
    /// `isArtifact`: whether the first of the blobs, its configuration, is not that of an image.
    case manifest(blobs: [Descriptor], isArtifact: Bool)

    package static let longest = 4 << 20
    package static let mostLayers = 1000
    package static let mostManifests = 1000

    static let ociIndex = "application/vnd.oci.image.index.v1+json"
    static let ociManifest = "application/vnd.oci.image.manifest.v1+json"
    static let dockerIndex = "application/vnd.docker.distribution.manifest.list.v2+json"
    static let dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
    /// Without it some registries respond to an OCI index with 404.
    package static let accept =
        "Accept: \([ociIndex, ociManifest, dockerIndex, dockerManifest].joined(separator: ", "))"

    /// Why a document cannot be used, in words.
    package struct Flaw: Error, Hashable, Sendable { package var why: String }

    /// `type`: the response's media type; returns the document's own with it.
    package static func parse(
        _ bytes: [UInt8], type: String?
    ) throws(Flaw) -> (document: RegistryDocument, type: String) {
        guard bytes.count <= longest, let root = try? JSON.parse(bytes), root.members != nil else {
            throw Flaw(why: "it is not a manifest")
        }
        if root["schemaVersion"]?.integer == 1 || type?.contains("manifest.v1+prettyjws") == true {
            throw Flaw(why: "it is of schema 1, which was deprecated in 2017; the image has to be pushed again")
        }
        let sent = type.map { String(Substring($0.utf8.prefix { $0 != .semicolon && $0 != .space })) }
        let stated = root["mediaType"]?.string
        let isKnown = sent.map { [ociIndex, ociManifest, dockerIndex, dockerManifest].contains($0) } ?? false
        if let stated, let sent, isKnown, stated != sent {
            throw Flaw(
                why:
                    "the response calls it \(Redaction.printable(sent)), and it calls itself \(Redaction.printable(stated))"
            )
        }
        let own = stated ?? (isKnown ? sent : nil)
        if root["manifests"] != nil, root["layers"] != nil { throw Flaw(why: "it is both an index and a manifest") }
        if let rows = root["manifests"]?.array {
            guard rows.count <= mostManifests else { throw Flaw(why: "it has more than \(mostManifests) manifests") }
            return (.index(try descriptors(rows)), own ?? ociIndex)
        }
        guard let layers = root["layers"]?.array, let config = root["config"] else {
            throw Flaw(why: "it is neither a manifest nor an index")
        }
        guard layers.count <= mostLayers else { throw Flaw(why: "it has more than \(mostLayers) layers") }
        let blobs = try descriptors([config] + layers)
        let images = ["application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"]
        return (
            .manifest(blobs: blobs, isArtifact: root["artifactType"] != nil || !images.contains(blobs[0].type)),
            own ?? ociManifest
        )
    }

    private static func descriptors(_ rows: [JSON]) throws(Flaw) -> [Descriptor] {
        var found: [Descriptor] = []
        for row in rows {
            guard let descriptor = Descriptor(row) else {
                throw Flaw(why: "a blob of it has no digest of sha256 or sha512, or no size")
            }
            found.append(descriptor)
        }
        return found
    }
}

/// The machine that an image is for: `linux/amd64`, `linux/arm/v7`.
package struct Platform: Hashable, Sendable {
    package var system: String
    package var architecture: String
    package var variant: String?

    package static let unknown = Platform(system: "unknown", architecture: "unknown")

    package init(system: String, architecture: String, variant: String? = nil) {
        self.system = system
        self.architecture = architecture
        self.variant = variant
    }

    /// `nil` unless it is `OS/ARCHITECTURE[/VARIANT]`.
    package init?(_ text: String) {
        let parts = text.pathParts(keepsEmpty: true).map(String.init)
        guard 2...3 ~= parts.count, !parts.contains("") else { return nil }
        self.init(system: parts[0], architecture: parts[1], variant: parts.count > 2 ? parts[2] : nil)
    }

    init?(_ value: JSON) {
        guard let system = value["os"]?.string, let architecture = value["architecture"]?.string else { return nil }
        self.init(system: system, architecture: architecture, variant: value["variant"]?.string)
    }

    /// That of this program.
    package static var own: Platform {
        #if arch(arm64)
        Platform(system: "linux", architecture: "arm64")
        #elseif arch(x86_64)
        Platform(system: "linux", architecture: "amd64")
        #else
        Platform(system: "linux", architecture: "unknown")
        #endif
    }

    /// Whether an image for it is one for `wanted`: a variant that is not wanted may be any, and arm64's is v8.
    func fits(_ wanted: Platform) -> Bool {
        guard system == wanted.system, architecture == wanted.architecture else { return false }
        let usual = architecture == "arm64" ? "v8" : nil
        return wanted.variant == nil || (variant ?? usual) == wanted.variant
    }

    package var text: String { "\(system)/\(architecture)\(variant.map { "/" + $0 } ?? "")" }
}

extension [Descriptor] {
    /// The manifest of an index for a machine: the first that fits; one without a platform if it is the only one.
    package func manifest(for wanted: Platform) -> Descriptor? {
        first { $0.platform?.fits(wanted) == true } ?? (count == 1 && self[0].platform == nil ? self[0] : nil)
    }

    /// The machines of an index, for a message.
    package var platforms: String {
        let known = Set(compactMap(\.platform).filter { $0 != .unknown }.map(\.text)).sorted()
        return Redaction.printable(known.prefix(20).joined(separator: ", "))
    }
}
