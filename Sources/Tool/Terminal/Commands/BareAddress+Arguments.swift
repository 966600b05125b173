import PawlIntake

// Arguments without a command before them.
extension BareAddress {
    /// Whether arguments without a command can only mean `pawl get`: they have a URL or a list of URLs.
    package static func begins(_ arguments: ArraySlice<String>) -> Bool {
        guard let first = arguments.first else { return false }
        guard first.hasPrefix("-") else { return isAddress(first) }
        return arguments.contains { word in
            guard !word.hasPrefix("-") else { return isList(word) }
            return hasScheme(word) || hasNoScheme(word) && word.contains("/")
        }
    }

    private static func isAddress(_ word: String) -> Bool {
        hasScheme(word) || hasNoScheme(word) || word.hasPrefix("magnet:")
    }

    /// `-i FILE` and `--input-file`, which `get` shares with wget and aria2.
    private static func isList(_ word: String) -> Bool { word.hasPrefix("--input-file") || word.hasPrefix("-i") }
}
