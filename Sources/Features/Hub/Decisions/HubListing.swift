package import PawlBase

/// One file of a repository at a commit.
package struct HubEntry: Hashable, Sendable {
    package var path: String
    package var size: Int64
    /// The Git object: that of the content, or of the pointer to it (``sha256``).
    package var blob: String
    /// The digest of a file in Git LFS; `nil` for one that Git has itself.
    package var sha256: String?
    package var xetHash: String?

    package init(path: String, size: Int64, blob: String, sha256: String? = nil, xetHash: String? = nil) {
        self.path = path
        self.size = size
        self.blob = blob
        self.sha256 = sha256
        self.xetHash = xetHash
    }

    /// What names the content in a cache.
    package var tag: String { sha256 ?? blob }

    /// The digest that the content has.
    package var checksum: Checksum? {
        guard let sha256 else { return Checksum(.gitBlob, hex: Array(blob.utf8)[...]) }
        return Checksum(.sha256, hex: Array(sha256.utf8)[...])
    }
}

/// One page of a listing.
///
/// `GET /api/models/ID/tree/COMMIT?recursive=true`; <https://huggingface.co/docs/hub/api>
package struct HubPage: Hashable, Sendable {
    package var entries: [HubEntry] = []
    /// The files that cannot be stored or checked.
    package var refused: [Refused] = []

    package struct Refused: Hashable, Sendable {
        package var path: String
        package var why: String
    }

    package static let longest = 64 << 20

    /// Throws code 22 for what is no page; rows of folders are left out.
    package init(_ bytes: [UInt8], at place: String) throws(Failure) {
        guard let rows = (try? JSON.parse(bytes))?.array else {
            throw Failure(
                .badResponse, "cannot list", at: place, because: "the hub did not respond with a list of files")
        }
        for row in rows where row["type"]?.string == "file" {
            guard let path = row["path"]?.string else { continue }
            guard let entry = HubEntry(row, path: path) else {
                refused.append(
                    Refused(path: path, why: "the hub states no size and digest of it that could be checked"))
                continue
            }
            guard HubAddress.isPath(path) else {
                refused.append(
                    Refused(
                        path: path,
                        why: "its path has an empty part, . or .., a control character or a name that is too long"))
                continue
            }
            entries.append(entry)
        }
    }

    /// The next page, which must be the endpoint's: requests for it have the token.
    ///
    /// Throws code 22 for another origin.
    package static func next(after url: WebAddress, _ head: ResponseHead) throws(Failure) -> WebAddress? {
        let links = head.link.map(WebLink.parse) ?? []
        guard let link = links.first(where: { $0.relations.contains("next") }) else { return nil }
        let next = try url.resolving(link.target)
        guard next.origin == url.origin else {
            throw Failure(
                .badResponse, "cannot list", at: url.redacted,
                because:
                    "the next page is at another host, \(next.origin.text), which is not asked: it would get the token")
        }
        return next
    }
}

extension HubEntry {
    fileprivate init?(_ row: JSON, path: String) {
        let large = row["lfs"]
        let stated = (large?["size"] ?? row["size"])?.integer
        guard let size = stated, size >= 0, let blob = row["oid"]?.string, Self.isHex(blob, 40) else { return nil }
        var sha256: String?
        if let large, large != .null {
            guard var digest = (large["oid"] ?? large["sha256"])?.string else { return nil }
            if digest.hasPrefix("sha256:") { digest.removeFirst(7) }
            guard Self.isHex(digest, 64) else { return nil }
            sha256 = digest
        } else if size > Self.longestBlob {
            return nil
        }
        let xet = row["xetHash"]?.string
        self.init(
            path: path, size: size, blob: blob, sha256: sha256, xetHash: xet.flatMap { Self.isHex($0, 64) ? $0 : nil })
    }

    /// Git's own files are smaller: the hub accepts larger ones in LFS only.
    private static let longestBlob: Int64 = 64 << 20

    /// In lower case, as the digest names a file.
    static func isHex(_ text: String, _ count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { $0.isDigit || 0x61...0x66 ~= $0 }
    }
}

/// The commit of a revision: `GET /api/models/ID/revision/REVISION`.
package enum HubRevision {
    package static let longest = 16 << 20

    /// `nil` for what states none.
    package static func commit(_ bytes: [UInt8]) -> String? {
        guard let commit = (try? JSON.parse(bytes))?["sha"]?.string, HubAddress.isCommit(commit) else { return nil }
        return commit
    }
}
