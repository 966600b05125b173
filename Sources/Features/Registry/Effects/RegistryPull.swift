package import PawlBase
import PawlDisk

/// What belongs to an image or artifact: its manifests, and the blobs that they name.
package struct RegistryPull: Sendable {
    /// What the layout names.
    package private(set) var root: Descriptor
    package private(set) var manifests: [RegistryClient.Manifest] = []
    /// Each digest once.
    package private(set) var blobs: [Descriptor] = []
    package private(set) var refused: [Failure] = []
    package private(set) var isArtifact = false

    /// Which images of an index.
    package enum Choice: Hashable, Sendable {
        case all
        case one(Platform)
    }

    private static let deepest = 4

    /// The blob of an empty configuration, which need not be fetched.
    package static let empty = (
        digest: RegistryDigest("sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        bytes: Array("{}".utf8)
    )

    /// Blocks while the manifests are fetched.
    package init(_ client: RegistryClient, _ reference: RegistryReference, _ choice: Choice) throws(Failure) {
        let first = try client.manifest(reference)
        root = first.descriptor
        var seen: Set<RegistryDigest> = []
        try take(first, client, reference, choice, depth: 0, &seen)
    }

    private mutating func take(
        _ manifest: RegistryClient.Manifest, _ client: RegistryClient, _ reference: RegistryReference, _ choice: Choice,
        depth: Int, _ seen: inout Set<RegistryDigest>
    ) throws(Failure) {
        switch manifest.document {
        case .manifest(let found, let isArtifact):
            manifests.append(manifest)
            self.isArtifact = isArtifact
            for blob in found where seen.insert(blob.digest).inserted {
                guard !blob.isForeign else {
                    refused.append(
                        Failure(
                            .badResponse, "cannot fetch", at: "\(reference.text): \(blob.digest.text)",
                            because:
                                "the layer may not be distributed by registries, and names other servers, which are not asked"
                        ))
                    continue
                }
                blobs.append(blob)
            }
        case .index(let images):
            guard depth < Self.deepest else {
                throw Failure(
                    .badResponse, "cannot use the manifest of", at: reference.text,
                    because: "it is an index of indexes, too many levels deep")
            }
            switch choice {
            case .all:
                manifests.append(manifest)
                for image in images where seen.insert(image.digest).inserted {
                    guard seen.count <= RegistryDocument.mostManifests * 4 else { break }
                    try take(try fetch(image, client, reference), client, reference, choice, depth: depth + 1, &seen)
                }
            case .one(let platform):
                guard let image = images.manifest(for: platform) else {
                    throw Failure(
                        .notFound, "cannot fetch", at: reference.text,
                        because: "it has no image for \(platform.text), but for: \(images.platforms)",
                        remedy: "choose one with --platform, or 'all'")
                }
                let chosen = try fetch(image, client, reference)
                root = chosen.descriptor
                try take(chosen, client, reference, choice, depth: depth + 1, &seen)
            }
        }
    }

    private func fetch(
        _ image: Descriptor, _ client: RegistryClient, _ reference: RegistryReference
    ) throws(Failure) -> RegistryClient.Manifest {
        var inner = reference
        inner.digest = image.digest
        let manifest = try client.manifest(inner)
        guard manifest.descriptor.size == image.size else {
            throw Failure(
                .badResponse, "cannot use the manifest of", at: inner.text,
                because: "it does not have the size that its index states")
        }
        return manifest
    }
}

extension RegistryPull {
    /// What a layout has of the manifests: those of Docker in OCI's form, with the digests that follow from it.
    func layoutForm() -> (root: Descriptor, manifests: [(digest: RegistryDigest, bytes: [UInt8])]) {
        var replaced: [String: Descriptor] = [:]
        var written: [(digest: RegistryDigest, bytes: [UInt8])] = []
        // An index comes before its manifests.
        for manifest in manifests.reversed() {
            let old = manifest.descriptor
            guard let bytes = OCIForm.document(manifest.bytes, replacing: replaced) else {
                written.append((old.digest, manifest.bytes))
                continue
            }
            let hash = ContentDigest.digest(.sha256, of: bytes)
            let digest = RegistryDigest(Checksum(algorithm: .sha256, digest: hash))
            replaced[old.digest.text] = Descriptor(
                type: OCIForm.type(old.type), digest: digest, size: Int64(bytes.count))
            written.append((digest, bytes))
        }
        var root = replaced[self.root.digest.text] ?? self.root
        root.type = OCIForm.type(root.type)
        return (root, written)
    }
}
