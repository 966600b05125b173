/// What a person is told about one option, in help texts, the manual page and completions.
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
    /// Names that other tools use for the same thing.
    var aliases: [String]
    var value: Value
    var group: OptionGroup
    var help: String
    /// What holds when the option is not given, as help texts say it.
    var standard: String?

    /// Every long name, the proper one first.
    var names: [String] { [long] + aliases }
}

/// Headings under which help texts list options.
enum OptionGroup: String, Sendable, Hashable, CaseIterable {
    case selection = "Which downloads"
    case queue = "When they run"
    case files = "Where files go"
    case sources = "What is fetched"
    case transfer = "How it is fetched"
    case request = "What servers are told"
    case security = "Proxies and TLS"
    case doors = "Who may call the service"
    case watching = "What happens beside"
    case setup = "How it is set up"
    case service = "The service"
    case output = "What is shown"
}
