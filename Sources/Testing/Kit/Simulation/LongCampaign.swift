import PawlBase
import PawlSystem

/// A campaign over so many worlds that it is interrupted: what was done and seen is in a file, and the next run goes on from there.
package struct LongCampaign {
    /// The worlds between two writes of the file: about half a minute.
    private static let block: UInt64 = 10_000

    private var next: [Campaign.Kind: UInt64] = [:]
    private var tally = Tally()
    private var failures: [String] = []
    private let path: String

    /// Runs until `worlds` worlds of downloads were run in all, and a tenth as many of each other kind; returns whether every law was
    /// kept and every mechanism ran.
    package static func run(worlds: UInt64, at path: String) -> Bool {
        do throws(PawlBase.Failure) {
            var campaign = try LongCampaign(at: path)
            return try campaign.run(worlds: worlds)
        } catch {
            print(error)
            return false
        }
    }

    /// Continues what is recorded in the file, if there is one.
    private init(at path: String) throws(PawlBase.Failure) {
        self.path = path
        guard let bytes = try AtomicFile.read(path, atMost: 1 << 20) else { return }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") { take(line) }
    }

    private mutating func take(_ line: Substring) {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3 else { return }
        switch words[0] {
        case "next": if let kind = Campaign.Kind(rawValue: words[1]) { next[kind] = UInt64(words[2]) }
        case "count": if let count = Int(words[1]) { tally.note(words[2], count) }
        case "failed": failures.append("\(words[1]) \(words[2])")
        default: break
        }
    }

    private var text: String {
        var lines = Campaign.Kind.allCases.map { "next \($0.rawValue) \(next[$0] ?? 0)" }
        lines += tally.counts.sorted { $0.key < $1.key }.map { "count \($0.value) \($0.key)" }
        lines += failures.map { "failed \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private mutating func run(worlds: UInt64) throws(PawlBase.Failure) -> Bool {
        var done = next[.downloads] ?? 0
        if done > 0 { print("\(path): \(done) worlds were run before") }
        while done < worlds {
            let end = min(worlds, done + Self.block)
            for kind in Campaign.Kind.allCases {
                let isTenth = kind != .downloads
                let seeds = (next[kind] ?? 0)..<(isTenth ? max(1, end / 10) : end)
                guard !seeds.isEmpty else { continue }
                let campaign = Campaign(kind, seeds: seeds)
                campaign.runAll(mark: ".build/simulation/running-")
                tally.add(campaign.tally)
                for failure in campaign.failures {
                    print("seed \(failure.seed): \(failure.violations[0])")
                    failures.append("\(failure.seed) \(kind.rawValue): \(failure.violations[0])")
                }
                guard campaign.isComplete else { return false }
                next[kind] = seeds.upperBound
            }
            done = end
            try AtomicFile.replace(path, with: Array(text.utf8), permissions: 0o644)
            print("\(done) worlds, \(failures.count) laws broken")
        }
        print(coverage)
        for failure in failures { print("broken in seed \(failure)") }
        let missing = Campaign.Kind.allCases.flatMap { kind in
            next[kind] ?? 0 < UInt64(kind.many) ? [] : tally.missing(of: kind.expected)
        }
        for mechanism in missing { print("never happened: \(mechanism)") }
        return failures.isEmpty && missing.isEmpty
    }

    /// A table of Markdown: each mechanism that worlds must have run, how often it did, and the sabotages that show that it counts.
    private var coverage: String {
        (["| mechanism | times | sabotages |", "|---|---|---|"] + Self.rows(tally)).joined(separator: "\n")
    }

    package static func rows(_ tally: Tally) -> [String] {
        var shown: [String: [String]] = [:]
        for sabotage in Sabotage.allCases { shown[sabotage.mechanism, default: []].append("`\(sabotage)`") }
        for sabotage in QueueSabotage.allCases { shown[sabotage.mechanism, default: []].append("`\(sabotage)`") }
        for sabotage in StreamSabotage.allCases { shown[sabotage.mechanism, default: []].append("`\(sabotage)`") }
        for sabotage in MirrorSabotage.allCases { shown[sabotage.mechanism, default: []].append("`\(sabotage)`") }
        return Campaign.Kind.allCases.flatMap(\.expected).map { mechanism in
            "| \(mechanism) | \(tally[mechanism]) | \(shown[mechanism]?.joined(separator: ", ") ?? "–") |"
        }
    }
}
