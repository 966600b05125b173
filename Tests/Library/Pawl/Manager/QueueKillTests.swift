import Glibc
import Pawl
import PawlTestKit
import Testing

/// A program that is killed at any moment while its queue is busy loses nothing of it.
@Suite struct QueueKillTests {
    private static let count = 40

    private func payload(_ number: Int) -> Payload {
        Payload(seed: UInt64(2000 + number), length: Int64(3_001 + number * number * 1_237))
    }

    /// The output of the killed programs.
    private struct Word {
        /// Reported as added and not removed since.
        var there: Set<Int> = []
        /// Reported as removed and not added since.
        var gone: Set<Int> = []

        mutating func hear(_ lines: [String]) {
            for line in lines {
                let words = line.split(separator: " ")
                guard words.count == 2, let number = Int(words[1]) else { continue }
                switch words[0] {
                case "adding": gone.remove(number)
                case "added": there.insert(number)
                case "removing": there.remove(number)
                default: gone.insert(number)
                }
            }
        }
    }

    private func run(_ root: String, _ origin: OriginServer, seed: Int) throws -> PawlProcess {
        try PawlProcess(PawlBinary.beside("QueueProgram"), [root, origin.root, "\(Self.count)", "\(seed)"])
    }

    @Test(arguments: 1...4)
    func `A4 C5 D18 killed repeatedly, no download is lost or doubled and every file is correct`(seed: Int) async throws
    {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        for number in 0..<Self.count { _ = origin.serve("/f\(number)", payload(number)) }
        var word = Word()
        var dice = SystemRandomNumberGenerator()
        for round in 0..<8 {
            let process = try run(folder.path, origin, seed: seed * 100 + round)
            let opened = process.line { $0 == "open" }
            #expect(opened != nil, "\(process.errors)")
            // The time is random: so many lines later, or so many bytes.
            let lines = Int.random(in: 1...60, using: &dice)
            var seen = 0
            process.line(atMost: .milliseconds(400)) { _ in
                seen += 1
                return seen > lines
            }
            #expect(process.exit == nil, "\(process.errors)")
            process.send(SIGKILL)
            process.wait()
            word.hear(process.lines)
        }
        #expect(!word.there.isEmpty)
        try await check(folder, word)
    }

    private func check(_ folder: TemporaryFolder, _ word: Word) async throws {
        let manager = try await DownloadManager(root: folder.path)
        let found = try await manager.downloads(limit: 1000)
        let numbers = found.map { Int($0.source.split(separator: "/").last?.dropFirst() ?? "") ?? -1 }
        #expect(Set(numbers).count == numbers.count, "twice there: \(numbers.sorted())")
        #expect(word.there.subtracting(numbers).isEmpty, "lost")
        #expect(word.gone.intersection(numbers).isEmpty, "not gone")
        #expect(found.contains { $0.state == .finished }, "some had finished")
        try await manager.resume(group: "some")
        for snapshot in found {
            try await manager.resume(snapshot.id)
            let download = try #require(try await manager.download(withID: snapshot.id))
            _ = try await download.file
        }
        let expected = numbers.map { "f\($0)" }
        #expect(folder.names.filter { $0 != ".pawl" } == expected.sorted())
        for number in numbers { #expect(folder.difference("f\(number)", from: payload(number)) == nil) }
        await manager.shutDown()
    }
}
