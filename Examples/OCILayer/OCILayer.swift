import Foundation
import Pawl

// An image of a registry as a folder that other tools read (OCI image layout), with layers that other images have already.
//
// usage: ExampleOCILayer FOLDER oci://HOST/NAME:TAG [PLATFORM]

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main struct OCILayer {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 2 else { return say("usage: ExampleOCILayer FOLDER oci://HOST/NAME:TAG [PLATFORM]") }
        var options = FileCollection.Options()
        options.platform = words.count > 3 ? words[3] : nil
        do {
            let image = try FileCollection(words[2], options: options)
            for try await blob in image.entries { say("\(blob.mediaType ?? "blob"): \(ByteText.size(blob.size ?? 0))") }
            let report = try await image.download(to: words[1])
            for failure in report.failures { say("\(failure)") }
            say("\(report.finished) fetched, \(report.unchanged) there already")
            exit(Int32(report.failures.first?.code.rawValue ?? 0))
        } catch let error as PawlError {
            say("\(error)")
            exit(Int32(error.code.rawValue))
        }
    }
}
