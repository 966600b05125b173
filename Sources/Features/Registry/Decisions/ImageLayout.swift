import PawlBase

/// A folder with images that other tools read.
///
/// <https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md>
package enum ImageLayout {
    package static let mark = Array(#"{"imageLayoutVersion":"1.0.0"}"#.utf8)
    package static let markFile = "oci-layout"
    package static let indexFile = "index.json"
    package static let longestIndex = 16 << 20

    private static let tagKey = "org.opencontainers.image.ref.name"

    /// The folder of blobs, and the name of one in it.
    package static func blob(_ digest: RegistryDigest) -> (folder: String, name: String) {
        ("blobs/\(digest.algorithm)", digest.hex)
    }

    /// `index.json` with an image, which replaces the one of the same tag; `old` is the present one.
    ///
    /// Entries and members of other programs stay. `nil` for an `old` that is no index.
    package static func index(_ old: [UInt8]?, adding image: Descriptor, tag: String?) -> [UInt8]? {
        var members = [
            JSON.Member("schemaVersion", .number(2)), JSON.Member("mediaType", .string(RegistryDocument.ociIndex)),
        ]
        var manifests: [JSON] = []
        if let old {
            guard let root = try? JSON.parse(old), let present = root["manifests"]?.array, let known = root.members
            else {
                return nil
            }
            manifests = present
            members = known.filter { $0.name != "manifests" }
        }
        manifests.removeAll { row in
            let name = row["annotations"]?[tagKey]?.string
            let isSame = row["digest"]?.string == image.digest.text
            return tag.map { $0 == name || name == nil && isSame } ?? (isSame && name == nil)
        }
        var row = image.json
        if let tag { row.append(JSON.Member("annotations", .object([JSON.Member(tagKey, .string(tag))]))) }
        manifests.append(.object(row))
        return JSON.object(members + [JSON.Member("manifests", .array(manifests))]).utf8
    }
}

/// Where Ollama keeps a model: blobs, and the manifest under its name.
package enum OllamaLayout {
    package static func blob(_ digest: RegistryDigest) -> String { "\(digest.algorithm)-\(digest.hex)" }

    package static func manifest(_ reference: RegistryReference) -> String {
        "manifests/\(reference.registry)/\(reference.name)/\(reference.tag ?? RegistryReference.defaultTag)"
    }
}
