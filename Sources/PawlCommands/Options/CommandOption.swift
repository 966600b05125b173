import PawlCore

/// One option of a command: everything that parsing and help texts say about it, in one place.
struct CommandOption<Target>: Sendable {
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
    /// Whether a line below a URL in an input file may set it.
    var setsOneDownload: Bool
    var apply: @Sendable (inout Target, String) throws(Failure) -> Void

    init(
        _ long: String,
        short: Character? = nil,
        aliases: [String] = [],
        takes value: Value,
        in group: OptionGroup,
        _ help: String,
        standard: String? = nil,
        setsOneDownload: Bool = true,
        apply: @escaping @Sendable (inout Target, String) throws(Failure) -> Void
    ) {
        self.long = long
        self.short = short
        self.aliases = aliases
        self.value = value
        self.group = group
        self.help = help
        self.standard = standard
        self.setsOneDownload = setsOneDownload
        self.apply = apply
    }

    /// Every long name, the proper one first.
    var names: [String] { [long] + aliases }
}

/// Headings under which help texts list options.
enum OptionGroup: String, Sendable, Hashable, CaseIterable {
    case files = "Where files go"
    case sources = "What is fetched"
    case transfer = "How it is fetched"
    case request = "What servers are told"
    case security = "Proxies and TLS"
    case output = "What is shown"
}
