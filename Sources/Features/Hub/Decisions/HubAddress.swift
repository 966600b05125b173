package import PawlBase

/// What an `hf:` address or a page of the hub names: a repository at a revision, and what of it.
///
/// `hf://[models/|datasets/|spaces/]ORG/NAME[@REVISION][/PATH]`; the path is literal, of the revision `%2F` and other
/// percent-coding is decoded, and `refs/pr/N` and `refs/convert/NAME` are taken whole.
/// <https://huggingface.co/docs/huggingface_hub/guides/hf_file_system>
package struct HubAddress: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable { case models, datasets, spaces }

    package var kind = Kind.models
    /// `ORG/NAME`, or only a name for a few old repositories.
    package var repository: String
    /// A branch, a tag or a commit; `nil` for the default branch.
    package var revision: String?
    /// A file or a folder of the repository; empty for all of it.
    package var path: String = ""

    package static let defaultRevision = "main"

    package init(_ kind: Kind = .models, _ repository: String, revision: String? = nil, path: String = "") {
        self.kind = kind
        self.repository = repository
        self.revision = revision
        self.path = path
    }

    /// Whether the text begins as its addresses do.
    package static func isHub(_ text: String) -> Bool { text.utf8.prefix(5).isCaseInsensitively("hf://") }

    /// Parses an `hf:` address.
    ///
    /// Throws code 28.
    package init(_ text: String) throws(Failure) {
        guard Self.isHub(text) else { throw Self.flaw(text, "it does not begin with hf://") }
        var parts = Substring(text.utf8.dropFirst(5)).pathParts(keepsEmpty: true).map(String.init)
        if parts.count > 1, parts.last == "" { parts.removeLast() }
        kind = .models
        if let named = parts.first.flatMap({ Kind(rawValue: $0) }), parts.count > 1 {
            kind = named
            parts.removeFirst()
        } else if parts.count > 1, ["buckets", "kernels"].contains(parts[0]) {
            throw Self.flaw(text, "\(parts[0]) of the hub are not supported")
        }
        // A few old models have no organization: `hf://gpt2`, `hf://models/gpt2@main/config.json`.
        let isAlone = parts.count == 1 || parts[0].utf8.contains(.at)
        let organization = isAlone ? nil : parts.removeFirst()
        let named = parts.removeFirst()
        let name = named.utf8.prefix { $0 != .at }
        repository = (organization.map { $0 + "/" } ?? "") + String(Substring(name))
        if name.endIndex != named.utf8.endIndex {
            let coded = named.utf8[name.endIndex...].dropFirst()
            guard var given = String(validating: PercentCoding.decoded(coded), as: UTF8.self) else {
                throw Self.flaw(text, "its revision is not UTF-8")
            }
            if given == "refs", parts.count > 1, ["pr", "convert"].contains(parts[0]) {
                given += "/\(parts[0])/\(parts[1])"
                parts.removeFirst(2)
            }
            revision = given
        }
        path = parts.joined(separator: "/")
        try check(text)
    }

    /// The repository, folder or file that a page of the hub shows: `/ORG/NAME/tree/REVISION/PATH` or `blob` in its place.
    ///
    /// `nil` for every other URL; one with `resolve` is that of the file itself.
    package init?(page text: String, of endpoint: WebAddress) {
        guard let address = try? WebAddress.parse(text).address, address.origin == endpoint.origin else { return nil }
        let base = endpoint.path.utf8.last == .slash ? endpoint.path : endpoint.path + "/"
        guard address.path.utf8.starts(with: base.utf8) else { return nil }
        var parts = Substring(address.path.utf8.dropFirst(base.utf8.count)).pathParts().map(String.init)
        if let named = parts.first.flatMap({ Kind(rawValue: $0) }), named != .models {
            kind = named
            parts.removeFirst()
        }
        guard let mark = parts.firstIndex(where: { ["tree", "blob"].contains($0) }), 1...2 ~= mark,
            parts.count > mark + 1
        else { return nil }
        func decoded(_ part: String) -> String? { String(validating: PercentCoding.decoded(part.utf8), as: UTF8.self) }
        repository = parts[..<mark].joined(separator: "/")
        revision = decoded(parts[mark + 1])
        let rest = parts[(mark + 2)...].map(decoded)
        guard revision != nil, !rest.contains(nil) else { return nil }
        path = rest.compactMap(\.self).joined(separator: "/")
        guard (try? check(text)) != nil else { return nil }
    }

    private func check(_ text: String) throws(Failure) {
        guard Self.isRepository(repository) else {
            throw Self.flaw(text, "it names no repository", remedy: "write hf://ORG/NAME[@REVISION][/PATH]")
        }
        if let revision, !Self.isRevision(revision) { throw Self.flaw(text, "its revision is not possible") }
        guard path.isEmpty || Self.isPath(path) else {
            throw Self.flaw(text, "its path has an empty part, . or .., or a control character")
        }
    }

    private static func flaw(_ text: String, _ why: String, remedy: Remedy = "") -> Failure {
        Failure(.badOption, "cannot use the URL", at: Redaction.address(text), because: why, remedy: remedy)
    }

    /// The names that the hub allows: letters, digits, `-`, `_` and `.`, and no other ones that could lead elsewhere.
    static func isRepository(_ text: String) -> Bool {
        let parts = text.pathParts(keepsEmpty: true)
        return 1...2 ~= parts.count
            && parts.allSatisfy { part in
                1...96 ~= part.utf8.count && part.utf8.first != .dot && part.utf8.first != .dash
                    && part.utf8.allSatisfy { $0.isLetter || $0.isDigit || [.dash, .underscore, .dot].contains($0) }
                    && part.utf8.firstRange(of: "--".utf8) == nil && part.utf8.firstRange(of: "..".utf8) == nil
            }
    }

    /// Whether it can be a revision, and also the name of a file below `refs` of a cache.
    static func isRevision(_ text: String) -> Bool {
        text.utf8.count <= 255 && isPath(text) && !text.utf8.contains(.backslash)
    }

    /// Whether it is a commit, so that nothing has to be looked up.
    package static func isCommit(_ text: String) -> Bool {
        text.utf8.count == 40 && text.utf8.allSatisfy { $0.isDigit || 0x61...0x66 ~= $0 }
    }

    /// Whether it is a relative path that leads nowhere else.
    static func isPath(_ text: String) -> Bool {
        !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
            && text.pathParts(keepsEmpty: true).allSatisfy { FileName.isPossible(String($0)) }
    }
}

// The forms of the same thing.
extension HubAddress {
    /// As an address, which ``init(_:)`` reads.
    package var text: String {
        let hasOrganization = repository.utf8.contains(.slash)
        let first = kind == .models && hasOrganization ? "" : "\(kind.rawValue)/"
        let revision = revision.map { "@" + PercentCoding.reversible($0.utf8, keepingSlash: false) } ?? ""
        return "hf://\(first)\(repository)\(revision)\(path.isEmpty ? "" : "/" + path)"
    }

    /// The repository with its kind, for people.
    package var name: String { kind == .models ? repository : "\(kind.rawValue)/\(repository)" }

    /// The same repository at another revision.
    package func at(_ revision: String, path: String) -> HubAddress {
        HubAddress(kind, repository, revision: revision, path: path)
    }

    private var codedRevision: String {
        PercentCoding.reversible((revision ?? Self.defaultRevision).utf8, keepingSlash: false)
    }

    private static func coded(_ path: String) -> String { PercentCoding.reversible(path.utf8, keepingSlash: true) }

    /// The URL path of what says which commit the revision is.
    var revisionPath: String { "/api/\(kind.rawValue)/\(repository)/revision/\(codedRevision)" }

    /// The URL path of the first page of all files below the path.
    var treePath: String {
        "/api/\(kind.rawValue)/\(repository)/tree/\(codedRevision)\(path.isEmpty ? "" : "/" + Self.coded(path))"
    }

    /// The URL path of the file.
    var filePath: String {
        let first = kind == .models ? "" : "/\(kind.rawValue)"
        return "\(first)/\(repository)/resolve/\(codedRevision)/\(Self.coded(path))"
    }
}
