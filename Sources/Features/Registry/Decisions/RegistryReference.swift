package import PawlBase

/// A digest as registries write it: `sha256:HEX` or `sha512:HEX`.
package struct RegistryDigest: Hashable, Sendable {
    package let checksum: Checksum

    package init(_ checksum: Checksum) { self.checksum = checksum }

    /// `nil` for another algorithm, length or form; the digits must be in lower case, as they name a file.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: .colon, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].allSatisfy({ $0.isDigit || 0x61...0x66 ~= $0 }) else { return nil }
        let algorithm: HashAlgorithm
        switch String(Substring(parts[0])) {
        case "sha256": algorithm = .sha256
        case "sha512": algorithm = .sha512
        case _: return nil
        }
        guard let checksum = Checksum(algorithm, hex: Array(parts[1])[...]) else { return nil }
        self.checksum = checksum
    }

    package var algorithm: String { checksum.algorithm == .sha512 ? "sha512" : "sha256" }
    package var hex: String { Hexadecimal.text(checksum.digest) }
    package var text: String { "\(algorithm):\(hex)" }
}

/// What an `oci:`, `docker:` or `ollama:` address names: a manifest of a registry, by tag or digest.
///
/// <https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md#pulling-manifests>
package struct RegistryReference: Hashable, Sendable {
    package enum Scheme: String, Hashable, Sendable, CaseIterable {
        case oci, docker, ollama

        package var prefix: String { "\(rawValue)://" }
    }

    package var scheme: Scheme
    /// `HOST` or `HOST:PORT`, in lower case.
    package var registry: String
    package var name: String
    package var tag: String?
    /// Counts before the tag.
    package var digest: RegistryDigest?

    package static let defaultTag = "latest"
    /// The name under which Docker Hub answers.
    static let dockerHub = "registry-1.docker.io"
    private static let dockerNames: Set = ["docker.io", "index.docker.io", "registry-1.docker.io"]

    /// The scheme that a text begins with.
    package static func scheme(of text: String) -> Scheme? {
        Scheme.allCases.first { scheme in
            let start = Array(text.utf8.prefix(scheme.prefix.utf8.count)).map(\.lowercased)
            return start.elementsEqual(scheme.prefix.utf8)
        }
    }

    /// Throws code 28.
    package init(_ text: String) throws(Failure) {
        guard let scheme = Self.scheme(of: text) else { throw Self.flaw(text, "it begins with none of its schemes") }
        self.scheme = scheme
        var rest = Substring(text.utf8.dropFirst(scheme.prefix.utf8.count))
        if let at = rest.utf8.lastIndex(of: .at) {
            guard let digest = RegistryDigest(String(rest[at...].dropFirst())) else {
                throw Self.flaw(
                    text,
                    rest[..<at].utf8.contains(.slash) ? "its digest is not sha256:HEX or sha512:HEX" : "it has a login",
                    remedy: "log in with 'docker login' or 'podman login'")
            }
            self.digest = digest
            rest = rest[..<at]
        }
        var parts = rest.pathParts(keepsEmpty: true).map(String.init)
        if let last = parts.last, let colon = last.utf8.firstIndex(of: .colon), parts.count > 1 || scheme != .oci {
            tag = String(last[colon...].dropFirst())
            parts[parts.count - 1] = String(last[..<colon])
        }
        let first = parts.first ?? ""
        let isHost =
            parts.count > 1 && (first.utf8.contains(.dot) || first.utf8.contains(.colon) || first == "localhost")
        if scheme == .oci || isHost {
            registry = String(decoding: first.utf8.map(\.lowercased), as: UTF8.self)
            parts.removeFirst()
        } else {
            registry = scheme == .docker ? Self.dockerHub : "registry.ollama.ai"
        }
        if Self.dockerNames.contains(registry) { registry = Self.dockerHub }
        if parts.count == 1, scheme == .ollama || registry == Self.dockerHub { parts.insert("library", at: 0) }
        name = parts.joined(separator: "/")
        try check(text)
    }

    private func check(_ text: String) throws(Failure) {
        guard Self.isRegistry(registry) else {
            throw Self.flaw(text, "it names no registry", remedy: "write oci://HOST/NAME:TAG")
        }
        guard Self.isName(name) else {
            throw Self.flaw(
                text, "it has no valid name of a repository: lower-case letters, digits, and between them . _ - and /")
        }
        if let tag, !Self.isTag(tag) { throw Self.flaw(text, "its tag is not possible") }
    }

    private static func flaw(_ text: String, _ why: String, remedy: Remedy = "") -> Failure {
        Failure(.badOption, "cannot use the URL", at: Redaction.address(text), because: why, remedy: remedy)
    }

    static func isRegistry(_ text: String) -> Bool {
        guard let address = try? WebAddress.parse("https://\(text)/").address else { return false }
        return address.authority == text || "\(address.host):443" == text
    }

    /// `[a-z0-9]+([._-]…[a-z0-9]+)*`, and such parts between slashes.
    static func isName(_ text: String) -> Bool {
        func isInner(_ byte: UInt8) -> Bool { byte.isDigit || 0x61...0x7A ~= byte }
        return 1...255 ~= text.utf8.count
            && text.pathParts(keepsEmpty: true).allSatisfy { part in
                guard let first = part.utf8.first, let last = part.utf8.last, isInner(first), isInner(last) else {
                    return false
                }
                return part.utf8.allSatisfy { isInner($0) || [.dot, .dash, .underscore].contains($0) }
                    && part.utf8.firstRange(of: "..".utf8) == nil
            }
    }

    static func isTag(_ text: String) -> Bool {
        1...128 ~= text.utf8.count && text.utf8.first != .dot && text.utf8.first != .dash
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || [.dot, .dash, .underscore].contains($0) }
    }
}

extension RegistryReference {
    /// What follows `manifests/` in the URL.
    var identifier: String { digest?.text ?? tag ?? Self.defaultTag }

    /// As it is shown.
    package var text: String {
        "\(scheme.prefix)\(registry)/\(name)\(digest.map { "@" + $0.text } ?? ":" + (tag ?? Self.defaultTag))"
    }

    /// The address of the blob with this digest, by which the kernel fetches it.
    package func blob(_ digest: RegistryDigest) -> String { "oci://\(registry)/\(name)@\(digest.text)" }
}
