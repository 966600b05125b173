extension StringProtocol {
    /// The components of a path, as the kernel separates them.
    ///
    /// Characters are no measure: a combining mark after a slash makes one character of both, so that `split` finds neither
    /// the slash nor the `..` before it.
    package func pathParts(keepsEmpty: Bool = false) -> [Substring] {
        Substring(self).unicodeScalars.split(separator: "/", omittingEmptySubsequences: !keepsEmpty).map {
            Substring($0)
        }
    }

    /// Whether it is a path from the root, as the kernel sees it.
    package var isAbsolutePath: Bool { utf8.first == .slash }

    /// Whether it has a slash, as the kernel sees it.
    package var hasSlash: Bool { utf8.contains(.slash) }
}
