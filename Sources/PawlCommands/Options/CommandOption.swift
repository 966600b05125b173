import Pawl
import PawlCore

/// One option of a command, for both parsing and help.
struct CommandOption<Target>: Sendable {
    var entry: OptionEntry
    /// Whether a line below a URL in an input file may set it.
    var setsOneDownload: Bool
    var apply: @Sendable (inout Target, String) throws(Failure) -> Void
    /// The meaning of the short form without a number, as in curl's `-s`.
    var flag: (@Sendable (inout Target) -> Void)?
    /// The meaning of the short form followed by `-`, as in wget's `-O-`.
    var dash: (@Sendable (inout Target) -> Void)?

    init(
        _ long: String, short: Character? = nil, aliases: [String] = [], takes value: OptionEntry.Value,
        in group: OptionGroup, _ help: String, standard: String? = nil, setsOneDownload: Bool = true,
        apply: @escaping @Sendable (inout Target, String) throws(Failure) -> Void
    ) {
        entry = OptionEntry(
            long: long, short: short, aliases: aliases, value: value, group: group, help: help, standard: standard)
        self.setsOneDownload = setsOneDownload
        self.apply = apply
    }

    private init(
        _ entry: OptionEntry, setsOneDownload: Bool,
        apply: @escaping @Sendable (inout Target, String) throws(Failure) -> Void
    ) {
        self.entry = entry
        self.setsOneDownload = setsOneDownload
        self.apply = apply
    }

    /// The same option, which also records its arguments as given, with paths made absolute.
    func keeping(_ kept: any WritableKeyPath<Target, [String]> & Sendable) -> CommandOption<Target> {
        let apply = apply
        let name = "--" + entry.long
        let takesValue = entry.value != .none
        let isPath = entry.value == .required("FILE")
        let isProgram = entry.value == .required("CMD")
        @Sendable func stored(_ value: String) -> String {
            isPath ? ServicePlace.absolute(value) : isProgram ? ServicePlace.program(value) : value
        }
        return CommandOption(entry, setsOneDownload: setsOneDownload) { (target, value) throws(Failure) in
            try apply(&target, value)
            target[keyPath: kept] += takesValue ? [name, stored(value)] : [name]
        }
    }

    /// The same option for a command whose options contain these.
    func within<Whole>(_ part: any WritableKeyPath<Whole, Target> & Sendable) -> CommandOption<Whole> {
        let apply = apply
        var option = CommandOption<Whole>(entry, setsOneDownload: setsOneDownload) { (whole, value) throws(Failure) in
            try apply(&whole[keyPath: part], value)
        }
        if let flag { option.flag = { flag(&$0[keyPath: part]) } }
        if let dash { option.dash = { dash(&$0[keyPath: part]) } }
        return option
    }
}

extension CommandOption<DownloadOptions> {
    /// An option of a download.
    init(_ option: DownloadOption, in group: OptionGroup) {
        let value = option.placeholder.map { option.hasOptionalValue ? OptionEntry.Value.optional($0) : .required($0) }
        self.init(
            option.name, short: option.short, aliases: option.aliases, takes: value ?? .none, in: group, option.help,
            standard: option.standard
        ) { (options, value) throws(Failure) in try option.take(value, into: &options) }
    }
}
