/// The description of one option in help, the manual page and completions.
package struct OptionEntry: Sendable, Hashable {
    /// Whether a value follows the option's name.
    package enum Value: Sendable, Hashable {
        case none
        case required(String)
        /// Only as `--name=value`, so that a following URL is never taken for the value.
        case optional(String)
    }

    package var long: String
    package var short: Character?
    /// Names of the same option in other tools.
    package var aliases: [String]
    package var value: Value
    package var group: OptionGroup
    package var help: String
    /// The default, as help shows it.
    package var standard: String?

    /// Every long name, the primary one first.
    package var names: [String] { [long] + aliases }
}

/// Headings of options in help.
package enum OptionGroup: String, Sendable, Hashable, CaseIterable {
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
