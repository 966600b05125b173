import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlCommands

@Suite struct CodesTests {
    @Test func `the library's codes are the core's, and help names each`() throws {
        let help = try help(on: "get", whole: true)
        let codes: [(PawlError.Code, Failure.Code)] = [
            (.unknown, .unknown), (.timeout, .timeout), (.notFound, .notFound), (.tooSlow, .tooSlow),
            (.network, .network), (.unfinished, .unfinished), (.cannotResume, .cannotResume), (.diskFull, .diskFull),
            (.alreadyDownloading, .alreadyDownloading), (.fileExists, .fileExists), (.renameFailed, .renameFailed),
            (.cannotOpen, .cannotOpen), (.cannotCreate, .cannotCreate), (.inputOutput, .inputOutput),
            (.cannotMakeFolder, .cannotMakeFolder), (.nameResolution, .nameResolution), (.badResponse, .badResponse),
            (.tooManyRedirects, .tooManyRedirects), (.authorization, .authorization), (.badOption, .badOption),
            (.overloaded, .overloaded), (.checksumMismatch, .checksumMismatch), (.insecure, .insecure),
            (.newerJournal, .newerJournal), (.tooLarge, .tooLarge), (.rejected, .rejected),
        ]
        for (code, core) in codes {
            #expect(code.rawValue == core.rawValue)
            #expect(help.contains(" \(code.rawValue) "), "\(code.rawValue)")
            #expect("\(code)" != "\(code.rawValue)", "a code has a name")
        }
        #expect([0] + codes.map { Int($0.0.rawValue) } == HelpText.codes.map(\.code))
    }

    @Test func `the documentation has the codes of the help`() throws {
        let text = String(
            decoding: try #require(FileSystem.contents(Checkout.root + "/Documentation/Command-line.md")), as: UTF8.self
        )
        let section = try #require(text.split(separator: "## Exit codes").last?.split(separator: "\n## ").first)
        let rows = section.split(separator: "\n").compactMap { line in
            Int(line.drop { $0 == "|" || $0 == " " }.prefix { $0.isNumber })
        }
        #expect(rows == HelpText.codes.map(\.code))
    }
}
