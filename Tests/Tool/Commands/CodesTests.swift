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
            (.newerJournal, .newerJournal),
        ]
        for (code, core) in codes {
            #expect(code.rawValue == core.rawValue)
            #expect(help.contains(" \(code.rawValue) "), "\(code.rawValue)")
        }
    }
}
