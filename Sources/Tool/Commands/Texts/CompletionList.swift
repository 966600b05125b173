import PawlBase
import PawlJournal
import PawlServiceCommands
import PawlTerminal

/// What completion scripts ask for: `pawl completions ids`, `pawl completions groups`.
enum CompletionList: String {
    case ids
    case groups

    /// A line for each candidate: the word, a tab, and its description.
    func text() throws(Failure) -> String {
        let client = try VerbOptions().client()
        switch self {
        case .ids:
            let downloads = try client.list(VerbOptions()).compactMap(RemoteDownload.init)
            let digits = ShortIDs.digits(downloads.map(\.id))
            return downloads.map { "\($0.id.prefix(digits))\t\($0.title) (\($0.stateText.word))\n" }.joined()
        case .groups:
            return try client.groups().map { group in "\(TerminalText.harmless(group.name))\t\(group.content)\n" }
                .joined()
        }
    }
}
