import PawlBase

/// Where the hub's own libraries keep the files of a repository.
///
/// <https://huggingface.co/docs/hub/local-cache>; all paths are relative to the cache.
package struct HubCacheLayout: Hashable, Sendable {
    /// `models--ORG--NAME`.
    package let folder: String

    package init(_ address: HubAddress) {
        folder = "\(address.kind.rawValue)--" + address.repository.pathParts().joined(separator: "--")
    }

    package var blobs: String { "\(folder)/blobs" }

    package func blob(_ entry: HubEntry) -> String { "\(blobs)/\(entry.tag)" }

    package func lock(_ entry: HubEntry) -> String { ".locks/\(folder)/\(entry.tag).lock" }

    package func tree(of commit: String) -> String { "\(folder)/trees/\(commit).json" }

    /// `nil` for a commit, which needs no name.
    package func reference(_ revision: String) -> String? {
        HubAddress.isCommit(revision) ? nil : "\(folder)/refs/\(revision)"
    }

    package func snapshot(of commit: String) -> String { "\(folder)/snapshots/\(commit)" }

    /// The link of a file in a snapshot, and what it leads to.
    package func link(to entry: HubEntry, at commit: String) -> (path: String, target: String) {
        let depth = entry.path.pathParts().count + 1
        let up = String(repeating: "../", count: depth)
        return ("\(snapshot(of: commit))/\(entry.path)", "\(up)blobs/\(entry.tag)")
    }

    /// The marks that make the folder one of caches.
    package static let tagFile = "CACHEDIR.TAG"
    package static let tag = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This file is a cache directory tag created by pawl, for huggingface_hub.
        # For information about cache directory tags, see https://bford.info/cachedir/

        """

    /// The list of all files at a commit, from which a snapshot is known to be incomplete.
    package static func tree(_ entries: [HubEntry]) -> [UInt8] {
        var text = "{\n \"files\": {"
        let sorted = entries.sorted { $0.path.unicodeScalars.lexicographicallyPrecedes($1.path.unicodeScalars) }
        for (index, entry) in sorted.enumerated() {
            var fields = [("blob_id", JSON.string(entry.blob))]
            if let sha256 = entry.sha256 {
                fields += [("lfs_sha256", .string(sha256)), ("lfs_size", .number(entry.size))]
            }
            fields.append(("size", .number(entry.size)))
            if let xetHash = entry.xetHash { fields.append(("xet_hash", .string(xetHash))) }
            text += index == 0 ? "\n" : ",\n"
            text += "  \(JSON.string(entry.path).text): {\n"
            text += fields.map { "   \"\($0.0)\": \($0.1.text)" }.joined(separator: ",\n")
            text += "\n  }"
        }
        text += sorted.isEmpty ? "}" : "\n }"
        return Array((text + ",\n \"format_version\": 1\n}").utf8)
    }
}
