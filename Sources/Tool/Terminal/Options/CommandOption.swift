package import Pawl
import PawlBase

/// One option of a command, for both parsing and help.
package struct CommandOption<Target>: Sendable {
    package var entry: OptionEntry
    /// Whether a line below a URL in an input file may set it.
    package var setsOneDownload: Bool
    package var apply: Apply
    /// The meaning of the short form without a number, as in curl's `-s`.
    package var flag: (@Sendable (inout Target) -> Void)?
    /// The meaning of the short form followed by `-`, as in wget's `-O-`.
    package var dash: (@Sendable (inout Target) -> Void)?

    package init(
        _ long: String, short: Character? = nil, aliases: [String] = [], takes value: OptionEntry.Value,
        in group: OptionGroup, _ help: String, standard: String? = nil, setsOneDownload: Bool = true,
        apply: @escaping Apply
    ) {
        entry = OptionEntry(
            long: long, short: short, aliases: aliases, value: value, group: group, help: help, standard: standard)
        self.setsOneDownload = setsOneDownload
        self.apply = apply
    }

    private init(
        _ entry: OptionEntry, setsOneDownload: Bool,
        apply: @escaping Apply
    ) {
        self.entry = entry
        self.setsOneDownload = setsOneDownload
        self.apply = apply
    }

    /// The same option, which also records its arguments as given, with paths made absolute.
    package func keeping(_ kept: any WritableKeyPath<Target, [String]> & Sendable) -> CommandOption<Target> {
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
    package func within<Whole>(_ part: any WritableKeyPath<Whole, Target> & Sendable) -> CommandOption<Whole> {
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
    package init(_ option: DownloadOption, in group: OptionGroup) {
        let value = option.placeholder.map { option.hasOptionalValue ? OptionEntry.Value.optional($0) : .required($0) }
        self.init(
            option.name, short: option.short, aliases: option.aliases, takes: value ?? .none, in: group, option.help,
            standard: option.standard
        ) { (options, value) throws(Failure) in try option.take(value, into: &options) }
    }
}
