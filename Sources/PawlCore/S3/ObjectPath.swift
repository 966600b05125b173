/// The file of an object: the parts of its key are folders.
package enum ObjectPath {
    /// The path for what follows the prefix in the key of `address`, each part a safe name.
    ///
    /// Throws for keys that would lead elsewhere.
    package static func path(of rest: String, _ address: WebAddress) throws(Failure) -> String {
        let parts = rest.pathParts(keepsEmpty: true).map(String.init)
        guard !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
            throw Failure(
                .badOption,
                "cannot store",
                at: address.redacted,
                because: "its key has an empty part, . or .., which is not a file name",
                remedy: "download it alone under another name"
            )
        }
        return parts.map { FileName.safe($0) }.joined(separator: "/")
    }
}
