import PawlTestKit
import Testing

@testable import PawlCommands
@testable import PawlTerminal

/// Options that the sources name in what a user can do.
@Suite struct RemedyOptionTests {
    /// Which commands print the messages of a folder or file; the first that fits counts.
    ///
    /// The kernel and the libraries name no option by its name on the command line: other surfaces show their messages, too.
    private static let places: [(path: String, commands: [String])] = [
        ("Kernel/", []), ("Library/Pawl/", []), ("Library/Queue/", []), ("Library/Session/", []),
        ("Service/Server/", ["serve"]), ("Service/Web/", ["serve"]), ("Tool/Get/", ["get"]),
        ("Tool/Service/Serve/", ["serve"]), ("Tool/Service/Add", ["add"]), ("Tool/Service/ServiceStarter", ["add"]),
        ("Features/Registry/", ["get", "list-remote", "add"]), ("Features/Hub/", ["get", "list-remote", "add"]),
        ("Features/Collections/Command/", ["list-remote"]), ("Features/Collections/", ["get", "list-remote", "add"]),
        ("Features/Torrent/", ["get", "list-remote", "add"]), ("Features/S3/", ["get", "list-remote", "pipe"]),
        ("Features/Integrity/Commands/Verify", ["verify"]), ("Features/Integrity/Commands/Repair", ["repair"]),
        ("Features/Integrity/Commands/Zsync", ["get", "repair"]), ("Features/Pipe/", ["pipe"]),
    ]

    private static let names = Dictionary(
        uniqueKeysWithValues: Command.table.map { ($0.name, Set($0.options.flatMap(\.names))) })

    /// The texts between quotes in what follows `remedy` up to the end of its value, with the number of the line.
    private func remedies(in text: String) -> [(line: Int, text: Substring)] {
        var found: [(Int, Substring)] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            guard let start = line.firstRange(of: "emedy") else { continue }
            var value = line[start.upperBound...]
            if value.allSatisfy({ " :=?{".contains($0) }), index + 1 < lines.count { value = lines[index + 1] }
            found += value.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }.map { (index + 1, $0.element) }
        }
        return found
    }

    /// The names behind two dashes.
    private func options(in text: some StringProtocol) -> [String] {
        text.split { $0 == " " || "'\"(),;:=|\\".contains($0) }.filter { $0.hasPrefix("--") && $0.count > 2 }.map {
            String($0.dropFirst(2))
        }
    }

    private static let root = Checkout.root + "/Sources/"

    private static func paths(below folder: String) -> [String] {
        FileSystem.names(in: root + folder).flatMap { name in
            if name.hasSuffix(".swift") { return [folder + name] }
            return name.contains(".") || name == "Testing" ? [] : paths(below: folder + name + "/")
        }
    }

    private static func sources() -> [(path: String, text: String)] {
        paths(below: "").map { ($0, String(decoding: FileSystem.contents(root + $0) ?? [], as: UTF8.self)) }
    }

    @Test func `a remedy names options of the commands that print it`() {
        var count = 0
        for (path, text) in Self.sources() {
            guard let commands = Self.places.first(where: { path.hasPrefix($0.path) })?.commands else { continue }
            for (line, remedy) in remedies(in: text) where !remedy.contains("'pawl ") && !remedy.contains("'aws ") {
                for option in options(in: remedy) {
                    count += 1
                    #expect(!commands.isEmpty, "\(path):\(line) names --\(option)")
                    for command in commands {
                        #expect(
                            Self.names[command]?.contains(option) == true, "\(path):\(line): \(command) --\(option)")
                    }
                }
            }
        }
        #expect(count > 10, "remedies are found")
    }

    @Test func `a command that a message shows exists, with its options`() throws {
        var count = 0
        for (path, text) in Self.sources() {
            for quoted in text.split(separator: "'pawl ").dropFirst() {
                let words = quoted.prefix { $0 != "'" && $0 != "\n" }.split(separator: " ")
                guard let name = words.first, name.allSatisfy({ $0.isLowercase || $0 == "-" }), !name.hasPrefix("-")
                else {
                    continue
                }
                let command = try #require(Self.names[String(name)], "\(path): pawl \(name)")
                count += 1
                for option in options(in: words.dropFirst().joined(separator: " ")) {
                    #expect(
                        command.contains(option) || ["all", "man", "help", "help-all"].contains(option),
                        "\(path): pawl \(name) --\(option)")
                }
            }
        }
        #expect(count > 20, "commands are found")
    }
}
