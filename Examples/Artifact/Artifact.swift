import Foundation
import Pawl

// A package tool's fetch: an index names an artifact, its size, its digest and its mirrors; the file is in its place only if
// it is right.
//
// usage: ExampleArtifact FOLDER INDEX-URL NAME
//
// The index is JSON: {"artifacts":[{"name":"…","urls":["…"],"size":1,"sha256":"…"}]}

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

struct Index: Decodable {
    struct Artifact: Decodable {
        var name: String
        var urls: [String]
        var size: Int64
        var sha256: String
    }

    var artifacts: [Artifact]
}

@main struct ArtifactFetch {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 4 else { return say("usage: ExampleArtifact FOLDER INDEX-URL NAME") }
        let downloader = Downloader()
        do {
            let text = try await downloader.data(from: words[2], maximumSize: 4 << 20)
            let index = try JSONDecoder().decode(Index.self, from: Data(text))
            guard let artifact = index.artifacts.first(where: { $0.name == words[3] }), !artifact.urls.isEmpty else {
                say("\(words[3]) is not in the index")
                exit(3)
            }
            var options = DownloadOptions()
            options.folder = words[1]
            options.fileName = artifact.name
            options.mirrors = Array(artifact.urls.dropFirst())
            options.expectedLength = artifact.size
            options.checksum = "sha-256=\(artifact.sha256)"
            // What is there is verified too, and replaced only by a complete file.
            options.existingFile = .overwrite
            var hooks = DownloadHooks()
            hooks.validateResponse = { received in
                // A portal's page is no artifact.
                received.response.contentType?.hasPrefix("text/html") == true
                    ? .cancel(reason: "it is a web page") : .allow
            }
            let file = try await downloader.download(artifact.urls[0], options: options, hooks: hooks)
            say("complete: \(file.path), \(ByteText.size(file.length))")
        } catch let error as PawlError {
            say("\(error)")
            await downloader.shutDown()
            exit(Int32(error.code.rawValue))
        } catch is DecodingError {
            say("\(words[2]) is not an index")
            exit(22)
        }
        await downloader.shutDown()
    }
}
