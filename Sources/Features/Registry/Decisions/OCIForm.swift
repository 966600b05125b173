import PawlBase

/// Docker's manifests with the media types of OCI, which are the only ones that readers of a layout expect.
///
/// <https://github.com/opencontainers/image-spec/blob/v1.1.0/media-types.md#compatibility-matrix>
enum OCIForm {
    private static let types = [
        RegistryDocument.dockerIndex: RegistryDocument.ociIndex,
        RegistryDocument.dockerManifest: RegistryDocument.ociManifest,
        "application/vnd.docker.container.image.v1+json": "application/vnd.oci.image.config.v1+json",
        "application/vnd.docker.image.rootfs.diff.tar": "application/vnd.oci.image.layer.v1.tar",
        "application/vnd.docker.image.rootfs.diff.tar.gzip": "application/vnd.oci.image.layer.v1.tar+gzip",
    ]

    /// The media type in its place.
    static func type(_ type: String) -> String { types[type] ?? type }

    /// A manifest or index in OCI's form; `replaced`: those of its manifests that have another form now, by their digests.
    ///
    /// `nil` if it is in that form.
    static func document(_ bytes: [UInt8], replacing replaced: [String: Descriptor]) -> [UInt8]? {
        guard let root = try? JSON.parse(bytes) else { return nil }
        let converted = convert(root, replaced)
        return converted == root ? nil : converted.utf8
    }

    private static func convert(_ value: JSON, _ replaced: [String: Descriptor]) -> JSON {
        switch value {
        case .array(let values): return .array(values.map { convert($0, replaced) })
        case .object(let members):
            let other = value["digest"]?.string.flatMap { replaced[$0] }
            return .object(
                members.map { member in
                    let new: JSON =
                        switch (member.name, other) {
                        case ("mediaType", _): member.value.string.map { .string(type($0)) } ?? member.value
                        case ("digest", let other?): .string(other.digest.text)
                        case ("size", let other?): .number(other.size)
                        // Keys and values of the user's own.
                        case ("annotations", _), ("data", _): member.value
                        case _: convert(member.value, replaced)
                        }
                    return JSON.Member(member.name, new)
                })
        case .null, .bool, .number, .string: return value
        }
    }
}
