import Glibc
import Pawl
import PawlBase
import PawlGet
package import PawlTerminal

extension Command {
    package static let set = Command(
        "set", "[options] ID...", summary: "change the options of downloads, e.g. user, header, checksum",
        details: """
            Change downloads in the queue; a running one continues with the new options, and a failed one is retried by \
            'pawl resume'. A repeatable option such as --header replaces all its former values; an empty value removes an \
            option. Finished downloads accept --group and --priority only.
            """, operand: .downloads, taking: SetOptions.table
    ) { (options, ids) throws(Failure) in
        try requireIDs(ids, in: "set")
        guard !options.changes.isEmpty || options.priority != nil || options.startAt != nil || options.verb.group != nil
        else {
            throw Failure(
                .badOption, "cannot change", at: ids.joined(separator: " "), because: "no option is given",
                remedy: "see 'pawl help set'")
        }
        var changes = options.changes
        if let user = changes.first(where: { $0.name == "user" })?.values.last, !user.isEmpty {
            let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let password = parts.count > 1 ? parts[1] : try PasswordPrompt.ask(parts[0])
            changes.removeAll { $0.name == "user" }
            changes.append(SetOptions.Change(name: "user", values: [parts[0]]))
            changes.append(SetOptions.Change(name: "password", values: [password ?? ""]))
        }
        let mirrors = changes.first { $0.name == "mirror" }?.values
        var members = [
            JSON.Member(
                "options",
                .object(changes.filter { $0.name != "mirror" }.map { JSON.Member($0.name, .strings($0.values)) }))
        ]
        if let mirrors { members.append(JSON.Member("mirrors", .strings(mirrors.filter { !$0.isEmpty }))) }
        if let group = options.verb.group { members.append(JSON.Member("group", .string(group))) }
        if let priority = options.priority { members.append(JSON.Member("priority", .number(priority))) }
        if let time = options.startAt { members.append(JSON.Member("startAt", .number(time))) }
        let result = try options.verb.client().call(
            "pawl.set", [.strings(ids), .object(members)], to: "change the options of", ids.joined(separator: " "))
        for member in result.members ?? [] {
            let words = member.value.bool == true ? "changed" : "nothing to do"
            CommandOutput(options.verb).show(
                ["id": .string(member.name), "changed": member.value], "\(ShortIDs.text(member.name)) \(words)")
        }
        return 0
    }
}

/// The options of `pawl set`.
struct SetOptions: CommandOptions {
    /// An option with its new values.
    struct Change: Sendable, Hashable {
        var name: String
        var values: [String]
    }

    var verb = VerbOptions()
    var changes: [Change] = []
    var priority: Int?
    /// In seconds since 1970.
    var startAt: Int64?
    var help: HelpLength? {
        get { verb.help }
        set { verb.help = newValue }
    }

    /// What decides which file it is cannot be changed: that would be another download.
    private static let fixed: Set = ["output", "naming", "range", "password"]

    static let table: [CommandOption<SetOptions>] =
        rows(DownloadOption.files, in: .files) + rows(DownloadOption.sources, in: .sources)
        + rows(DownloadOption.transfer, in: .transfer) + rows(DownloadOption.request, in: .request)
        + rows(DownloadOption.security, in: .security) + queue + VerbOptions.common.map { $0.within(\.verb) } + [
            wholeHelpOption
        ]

    private static func rows(_ options: [DownloadOption], in group: OptionGroup) -> [CommandOption<SetOptions>] {
        options.filter { !fixed.contains($0.name) }.map { option in
            // Parsed as in 'pawl get', for its names and its errors.
            var probe = CommandOption<DownloadOptions>(option, in: group).within(\SetOptions.scratch)
            let check = probe.apply
            probe.apply = { (options, value) throws(Failure) in
                if !value.isEmpty || option.placeholder == nil, option.name != "user" { try check(&options, value) }
                let text = option.isFile(value) ? ServicePlace.absolute(value) : value
                options.add(text, to: option.name, isFlag: option.placeholder == nil)
            }
            return probe
        }
    }

    private var scratch = DownloadOptions()

    private mutating func add(_ value: String, to name: String, isFlag: Bool) {
        let value = isFlag ? "true" : value
        if let index = changes.firstIndex(where: { $0.name == name }) {
            changes[index].values.append(value)
        } else {
            changes.append(Change(name: name, values: [value]))
        }
    }

    private static let queue: [CommandOption<SetOptions>] = [
        CommandOption(
            "start-at", takes: .required("TIME"), in: .queue, "pause until TIME: 23:00, '2026-12-01 06:00', +2h"
        ) {
            (options, value) throws(Failure) in
            options.startAt = try StartTime.parse(value).seconds(now: Int64(time(nil)))
        },
        CommandOption("priority", takes: .required("N"), in: .queue, "higher starts first") {
            (options, value) throws(Failure) in options.priority = try OptionValues.priority(value)
        },
        CommandOption("group", takes: .required("NAME"), in: .queue, "move to this group; '' for none") {
            (options, value) in options.verb.group = value
        },
    ]
}

extension Failure {
    /// The same with a remedy in the terms of the commands for the queue.
    var inQueue: Failure {
        var failure = self
        failure.remedy = Remedy(remedy.queueText)
        return failure
    }
}

extension Remedy {
    private static let changeable = Set(SetOptions.table.flatMap(\.entry.names))

    /// For a download of the service: `pawl set` changes its options.
    fileprivate var queueText: String {
        // The service refuses them, or what has added the download.
        if concernsPrivateAddresses {
            return "add it with 'pawl add' to a service without --deny-private-addresses if this is intended"
        }
        var changes = false
        let text = worded {
            guard Remedy.changeable.contains(String($0.option.dropFirst(2))) else { return $0.title }
            changes = true
            return $0.option
        } resume: {
            "run 'pawl resume ID'"
        }
        return changes ? "\(text) ('pawl set ID' changes options)" : text
    }
}
