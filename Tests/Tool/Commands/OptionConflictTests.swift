import Testing

@testable import PawlBase
@testable import PawlCommands
@testable import PawlServiceCommands
@testable import PawlTerminal

/// Options that contradict each other.
@Suite struct OptionConflictTests {
    private func refusal(_ command: String, _ words: [String]) throws -> String {
        let command = try #require(Command.table.first { $0.name == command })
        do throws(Failure) { _ = try command.run(words[...]) } catch {
            return error.code == .badOption ? error.commandLineSentence : ""
        }
        return ""
    }

    @Test(arguments: [
        ("pause", ["-a", "--group", "g"]), ("resume", ["--group=g", "--all"]),
        ("add", ["--now", "--paused", "http://h/"]), ("remove", ["--delete-file", "--keep-file", "ab"]),
        ("serve", ["--install", "--uninstall"]), ("serve", ["--secret=a", "--secret-file", "b"]),
        ("get", ["-q", "-v", "http://h/"]), ("get", ["--stdout", "-o", "f", "http://h/"]),
        ("list", ["--watch", "--limit", "3"]), ("repair", ["--zsync=a", "--metalink=b", "f"]),
        ("get", ["--json", "--progress", "bar", "http://h/"]), ("pause", ["-a", "3f2a"]), ("wait", ["3f2a", "--all"]),
    ]) func `what contradicts itself is refused before anything is done`(command: String, words: [String]) throws {
        let text = try refusal(command, words)
        #expect(text.hasPrefix("cannot use --") && text.contains(" with ") && text.contains("give "), "\(text)")
    }

    @Test func `every contradiction is between options of its command`() throws {
        for name in OptionConflict.commands {
            let command = try #require(Command.table.first { $0.name == name })
            let known = Set(command.options.map(\.long))
            for option in OptionConflict.names(of: name) { #expect(known.contains(option), "\(name) --\(option)") }
        }
    }

    @Test(arguments: [
        (["--print"], "--install"), (["--run-as", "u"], "--install"), (["--system"], "--install"),
        (["--private-key", "k"], "--certificate"), (["--certificate", "c"], "--private-key"),
    ]) func `serve refuses what would have no effect`(words: [String], other: String) throws {
        let text = try refusal("serve", words)
        #expect(text.contains("it requires \(other)"), "\(text)")
    }

    @Test func `help is shown whatever else is given`() throws {
        var options = VerbOptions()
        let parser = OptionParser([VerbOptions.all("all"), VerbOptions.group] + VerbOptions.common, command: "pause")
        _ = try parser.parse(["-a", "--group", "g", "--help"], into: &options)
        #expect(options.help == .short)
    }

    @Test(arguments: [
        ("auto", true), ("none", true), ("0", true), ("65535", true), ("65536", false), ("abc", false), ("", false),
        ("-1", false),
    ]) func `a port is a number, auto or none`(text: String, isValid: Bool) {
        #expect(((try? OptionValues.port(text)) != nil) == isValid)
    }
}
