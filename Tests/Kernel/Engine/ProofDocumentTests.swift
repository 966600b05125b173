import PawlTestKit
import Testing

/// What the documents say of the proofs is what there is.
@Suite struct `Documents of the proofs` {
    private func lines(of path: String) throws -> [Substring] {
        let bytes = try #require(FileSystem.contents(Checkout.root + "/" + path))
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The cells of a line of a table.
    private func cells(_ line: some StringProtocol) -> [String] {
        line.split(separator: "|").map { cell in
            String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// What stands in backticks.
    private func names(in text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }

    /// The rows of the table that begins with this line.
    private func table(_ head: String, in path: String) throws -> [[String]] {
        let rest = try lines(of: path).drop { $0 != head }
        #expect(!rest.isEmpty, "\(path) has no table \(head)")
        return rest.dropFirst(2).prefix { $0.hasPrefix("|") }.map { cells($0) }
    }

    @Test func `Worlds has a row for each mechanism, with its sabotages, and each has happened`() throws {
        let rows = try table("| mechanism | times | sabotages |", in: "Documentation/Worlds.md")
        let expected = LongCampaign.rows(Tally()).map { cells($0) }
        #expect(rows.map { [$0[0], $0[2]] } == expected.map { [$0[0], $0[2]] })
        for row in rows { #expect(Int(row[1]) ?? 0 > 0, "\(row[0]) has never happened") }
    }

    @Test func `each promise names laws, sabotages, suites and kinds of power cuts that there are`() throws {
        let rows = try table(
            "| promise | model: law; sabotages | real kills | real power cuts |", in: "Documentation/Reliability.md")
        #expect(rows.count > 10)
        let known = sabotages.union(Law.allCases.map { "\($0)" })
        let kinds = try kindsOfPowerCuts()
        let cutSyncs: Set = ["data", "journal", "folder", "queue", "small"]
        for row in rows {
            for name in names(in: row[1]) { #expect(known.contains(name), "no law or sabotage: \(name)") }
            for name in names(in: row[3]) where !name.contains(" ") {
                #expect(kinds.contains(name) || cutSyncs.contains(name), "no kind of power cuts: \(name)")
            }
        }
    }

    private var sabotages: Set<String> {
        Set(
            Sabotage.allCases.map(\.rawValue) + QueueSabotage.allCases.map(\.rawValue)
                + StreamSabotage.allCases.map(\.rawValue) + MirrorSabotage.allCases.map(\.rawValue))
    }

    /// What stands behind these words up to the end of the cell or the next thing that is no name.
    private func names(behind words: [String], in row: [String]) -> [String] {
        guard row.count > 2 else { return [] }
        let parts = row[2].split(separator: ", ").map(String.init)
        var found: [String] = []
        var isNamed = false
        for part in parts {
            if words.contains(where: { part.hasPrefix($0) }) {
                isNamed = true
            } else if !part.hasPrefix("`") {
                isNamed = false
            }
            if isNamed { found += names(in: part) }
        }
        return found
    }

    @Test func `each situation names sabotages and fuzz targets that there are`() throws {
        let head = "| situation | behaviour | shown by |"
        let rows = try lines(of: "Documentation/Reliability.md").split { $0 == head }.dropFirst().flatMap { part in
            part.dropFirst().prefix { $0.hasPrefix("|") }.map { cells($0) }
        }
        #expect(rows.count > 80)
        let broken = rows.flatMap { names(behind: ["sabotage ", "sabotages "], in: $0) }
        #expect(broken.count > 20 && sabotages.isSuperset(of: broken), "\(Set(broken).subtracting(sabotages))")
        let targets = rows.flatMap { names(behind: ["fuzz target ", "fuzz targets "], in: $0) }
        let corpora = Set(FileSystem.names(in: Checkout.root + "/Tests/Fuzz/Corpus"))
        #expect(targets.count > 2 && corpora.isSuperset(of: targets), "\(Set(targets).subtracting(corpora))")
    }

    @Test func `Reliability describes each fuzz target`() throws {
        let rows = try table("| target | laws besides no trap and no hang |", in: "Documentation/Reliability.md")
        let corpora = Set(FileSystem.names(in: Checkout.root + "/Tests/Fuzz/Corpus"))
        #expect(Set(rows.flatMap { names(in: $0[0]) }) == corpora)
    }

    @Test func `Reliability describes each kind of power cuts`() throws {
        let rows = try table("| kind | runs |", in: "Documentation/Reliability.md")
        #expect(Set(rows.flatMap { names(in: $0[0]) }) == (try kindsOfPowerCuts()))
    }

    private func kindsOfPowerCuts() throws -> Set<String> {
        var kinds: Set<String> = []
        for name in FileSystem.names(in: Checkout.root + "/Tests/PowerCut") where name.hasSuffix(".py") {
            for line in try lines(of: "Tests/PowerCut/" + name) where line.hasPrefix("    name") {
                // name = "large", or name, program = "background", "SessionProgram"
                let words = line.split(separator: "\"")
                if words.count > 1, words[0].hasSuffix(" = ") { kinds.insert(String(words[1])) }
            }
        }
        #expect(kinds.count > 8)
        return kinds
    }

    private func sources(in folder: String) -> [String] {
        FileSystem.names(in: Checkout.root + "/" + folder).map { folder + "/" + $0 }.flatMap { path in
            path.hasSuffix(".swift") ? [path] : sources(in: path)
        }
    }

    /// Suites that are named as what shows a behaviour.
    @Test func `the suites that Reliability names are there`() throws {
        let named = Set(
            try lines(of: "Documentation/Reliability.md").flatMap { names(in: $0) }.filter {
                $0.hasSuffix("Tests") && $0.allSatisfy(\.isLetter)
            })
        #expect(named.count > 50)
        // A suite is named by its type, or by its file where its own name is a sentence.
        var there: Set<String> = []
        for path in sources(in: "Tests") {
            there.insert(String(path.split(separator: "/").last?.dropLast(6) ?? ""))
            let words = try lines(of: path).joined(separator: " ").split { " {:".contains($0) }
            for (word, next) in zip(words, words.dropFirst())
            where word == "struct" || word == "enum" || word == "class" {
                there.insert(String(next))
            }
        }
        #expect(named.subtracting(there).isEmpty, "\(named.subtracting(there).sorted())")
    }
}
