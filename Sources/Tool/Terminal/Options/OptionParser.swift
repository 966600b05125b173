package import PawlBase

/// Parses arguments by a table of options, in the usual GNU forms.
///
/// `--name value`, `--name=value`, `-x 4`, `-x4`, `-qk` (combined flags, the last may take a value), and `--` after
/// which everything is an operand; so is a number. Options and operands may be mixed.
package struct OptionParser<Target> {
    private let options: [CommandOption<Target>]
    private let command: String
    /// Whether a long name may be abbreviated where that is unambiguous (getopt_long(3)).
    private let acceptsPrefixes: Bool

    package init(_ options: [CommandOption<Target>], command: String, acceptsPrefixes: Bool = false) {
        self.options = options
        self.command = command
        self.acceptsPrefixes = acceptsPrefixes
    }

    /// Applies every option in `arguments` to `target` and gives the operands in order.
    package func parse(_ arguments: some Sequence<String>, into target: inout Target) throws(Failure) -> [String] {
        var operands: [String] = []
        var given: Set<String> = []
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            if argument == "--" {
                while let operand = rest.next() { operands.append(operand) }
            } else if argument.hasPrefix("--") {
                given.insert(try parseLong(argument.dropFirst(2), &rest, &target))
            } else if argument.hasPrefix("-"), argument != "-", Int(argument) == nil || isHabit(argument) {
                given.formUnion(try parseShort(argument.dropFirst(), &rest, &target))
            } else {
                operands.append(argument)
            }
        }
        if !asksForHelp(given) { try OptionConflict.check(given, of: command) }
        return operands
    }

    private func asksForHelp(_ given: Set<String>) -> Bool { !given.isDisjoint(with: ["help", "help-all"]) }

    /// Whether a number is an option, such as -4, or one of another tool, where no operand is a number.
    private func isHabit(_ word: String) -> Bool {
        options.contains { $0.entry.short.map { "-\($0)" } == word }
            || takesDownloads && Habit.hint(for: word, in: command) != nil
    }

    /// Whether it has the options of downloads.
    private var takesDownloads: Bool { options.contains { $0.entry.long == "connections" } }

    /// Applies one `name=value` line of an input file.
    package func apply(name: String, value: String, to target: inout Target) throws(Failure) {
        guard let option = option(named: name) else { throw unknown("option", name) }
        guard option.setsOneDownload else {
            throw usage("option", name, because: "it applies to all downloads, not to a single URL")
        }
        guard case .none = option.entry.value else { return try option.apply(&target, value) }
        // A flag: "true" sets it, "false" keeps the current value.
        switch value {
        case "true", "": try option.apply(&target, "")
        case "false": break
        default: throw usage("option", name, because: "must be true or false, not \(quoted(value))")
        }
    }

    /// Returns the name of the option.
    private func parseLong(
        _ text: Substring, _ rest: inout some IteratorProtocol<String>, _ target: inout Target
    ) throws(Failure) -> String {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        // Every command has a full help text; for some it is also the short one.
        let known =
            option(named: name) ?? (name == "help-all" ? option(named: "help") : nil)
            ?? (acceptsPrefixes ? option(beginningWith: name) : nil)
        guard let option = known else { throw unknown("option", "--" + name) }
        let attached = parts.count > 1 ? String(parts[1]) : nil
        switch option.entry.value {
        case .none:
            guard attached == nil else { throw usage("option", "--" + name, because: "it takes no value") }
            try option.apply(&target, "")
        case .optional(let metavar):
            var ahead = rest
            if attached == nil, metavar == "FILE", let word = ahead.next(), Self.isFile(word) {
                rest = ahead
                try option.apply(&target, word)
                return option.entry.long
            }
            try option.apply(&target, attached ?? "")
        case .required(let metavar):
            guard let value = attached ?? rest.next() else {
                throw usage("option", "--" + name, because: "missing value: --\(name) \(metavar)")
            }
            try apply(option, value, to: &target, spelling: "--" + name)
        }
        return option.entry.long
    }

    /// An error names the option by `spelling`, which may be an alias.
    private func apply(
        _ option: CommandOption<Target>, _ value: String, to target: inout Target, spelling: String
    ) throws(Failure) {
        do throws(Failure) { try option.apply(&target, value) } catch {
            let name = "--" + option.entry.long
            let known = [name, error.refused?.title].compactMap { $0 }.first { error.place.hasPrefix($0) }
            guard spelling != name, let known else { throw error }
            let rest = error.place.dropFirst(known.count)
            guard rest.isEmpty || rest.hasPrefix(" ") else { throw error }
            var named = error
            named.place = spelling + rest
            throw named
        }
    }

    /// Whether a word after an option with an optional file is plainly a file, and neither a URL nor a list of URLs.
    private static func isFile(_ word: String) -> Bool {
        let name = word.lowercased()
        guard !name.hasPrefix("-"), !name.contains("://") else { return false }
        guard !name.hasSuffix(".meta4"), !name.hasSuffix(".metalink") else { return false }
        return name.contains("/") || name.contains(".") || name.contains("netrc")
    }

    /// Returns the names of the options.
    private func parseShort(
        _ text: Substring, _ rest: inout some IteratorProtocol<String>, _ target: inout Target
    ) throws(Failure) -> [String] {
        var left = text
        var given: [String] = []
        while let letter = left.popFirst() {
            guard let option = options.first(where: { $0.entry.short == letter }) else {
                throw unknown("option", "-\(letter)", like: String(text))
            }
            given.append(option.entry.long)
            // An optional value, such as a topic of help, may follow the short option without a space.
            if case .optional(let metavar) = option.entry.value, metavar != "FILE", !left.isEmpty {
                try apply(option, String(left), to: &target, spelling: "-\(letter)")
                return given
            }
            if let dash = option.dash {
                var ahead = rest
                if left == "-" || left.isEmpty && ahead.next() == "-" {
                    if left.isEmpty { rest = ahead }
                    dash(&target)
                    return given
                }
            }
            if let flag = option.flag {
                var ahead = rest
                let next = left.isEmpty ? ahead.next() : String(left)
                if next?.utf8.allSatisfy({ (0x30...0x39).contains($0) }) != true {
                    flag(&target)
                    continue
                }
            }
            guard case .required(let metavar) = option.entry.value else {
                try option.apply(&target, "")
                continue
            }
            guard let value = left.isEmpty ? rest.next() : String(left) else {
                throw usage("option", "-\(letter)", because: "missing value: -\(letter) \(metavar)")
            }
            try apply(option, value, to: &target, spelling: "-\(letter)")
            return given
        }
        return given
    }

    private func option(named name: String) -> CommandOption<Target>? {
        options.first { $0.entry.names.contains(name) }
    }

    private func option(beginningWith text: String) -> CommandOption<Target>? {
        let found = options.filter { $0.entry.names.contains { $0.hasPrefix(text) } }
        return found.count == 1 ? found[0] : nil
    }

    /// A failure for an unknown option, with a suggestion; `like` is the whole word, as `-user` is close to `--user`.
    private func unknown(_ kind: String, _ name: String, like: String? = nil) -> Failure {
        let near = spellingSuggestion(for: like ?? name, among: options.map(\.entry.long))
        let hint = Habit.hint(for: "-" + (like ?? ""), in: command) ?? Habit.hint(for: name, in: command)
        if takesDownloads, let hint {
            return Failure(.badOption, "unknown \(kind)", at: name, because: "", remedy: Remedy(hint))
        }
        let remedy = near.map { "did you mean --\($0)?" } ?? "see 'pawl help \(command)'"
        return Failure(.badOption, "unknown \(kind)", at: name, because: "", remedy: Remedy(remedy))
    }

    private func usage(_ kind: String, _ name: String, because why: String) -> Failure {
        Failure(.badOption, "cannot use \(kind)", at: name, because: why)
    }
}

/// The text in quotation marks, for messages.
package func quoted(_ text: some StringProtocol) -> String { "'\(text)'" }

extension CommandOption {
    /// Takes the option's value.
    package typealias Apply = @Sendable (inout Target, String) throws(Failure) -> Void
}
