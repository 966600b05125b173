/// The description of one option in help, the manual page and completions.
struct OptionEntry: Sendable, Hashable {
    /// Whether a value follows the option's name.
    enum Value: Sendable, Hashable {
        case none
        case required(String)
        /// Only as `--name=value`, so that a following URL is never taken for the value.
        case optional(String)
    }

    var long: String
    var short: Character?
    /// Names of the same option in other tools.
    var aliases: [String]
    var value: Value
    var group: OptionGroup
    var help: String
    /// The default, as help shows it.
    var standard: String?

    /// Every long name, the primary one first.
    var names: [String] { [long] + aliases }
}

/// Headings of options in help.
enum OptionGroup: String, Sendable, Hashable, CaseIterable {
    case selection = "Selection"
    case queue = "Scheduling"
    case files = "Files"
    case sources = "Sources"
    case transfer = "Transfer"
    case request = "Request"
    case security = "Proxies and TLS"
    case access = "Access"
    case watching = "Hooks and logging"
    case setup = "Setup"
    case service = "Service"
    case output = "Output"
    /// Listed in the whole help only.
    case habits = "As in curl, wget and aria2"
    case torrents = "BitTorrent"
    case ignored = "Without effect"
}
