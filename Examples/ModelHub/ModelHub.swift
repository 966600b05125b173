import Foundation
import Pawl

// The files of a model hub's repository in a folder: fetched once, continued after a kill, each checked against its digest.
//
// usage: ExampleModelHub FOLDER hf://ORG/NAME[@REVISION] [GLOB...]
//
// Without a folder, as "-", they go into the cache that the hub's own libraries share. HF_ENDPOINT and HF_TOKEN name another hub and a token.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main struct ModelHub {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 2 else { return say("usage: ExampleModelHub FOLDER hf://ORG/NAME[@REVISION] [GLOB...]") }
        var options = FileCollection.Options()
        options.rules = words.dropFirst(3).map { FileCollection.Rule(isIncluded: true, pattern: $0) }
        do {
            let model = try FileCollection(words[2], options: options)
            let report = try await model.download(to: words[1] == "-" ? nil : words[1])
            for failure in report.failures { say("\(failure)") }
            say("\(report.finished) fetched, \(report.unchanged) there already, \(ByteText.size(report.received))")
            exit(report.failures.isEmpty ? 0 : 1)
        } catch let error as PawlError {
            say("\(error)")
            exit(Int32(error.code.rawValue))
        }
    }
}
